//! Whether another try is worth it, and when.

use crate::error::{Class, Error};
use crate::target::Target;
use std::time::Duration;

/// How long to wait before the next try; `None` where there is to be none.
pub(crate) fn pause(error: &Error, tried: u32, target: &Target) -> Option<Duration> {
    let tries_max = match error.class {
        Class::RateLimited | Class::Overloaded | Class::Network => target.tries_max,
        // Somebody has waited long already: once more, and no oftener.
        Class::Timeout => target.tries_max.min(2),
        _ => return None,
    };
    let asked = error.retry_after.unwrap_or_default();
    if tried >= tries_max || asked > target.pause_max {
        return None;
    }
    let own = target.first_pause * 2_u32.pow((tried - 1).min(10));
    // A fifth more or less, so that not all come back at once; but never sooner than was asked for.
    let chance = f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX);
    let own = own.min(target.pause_max).mul_f64(0.8 + 0.4 * chance);
    Some(own.max(asked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Api;

    #[test]
    fn pauses_grow_and_end() {
        let target = Target::new(Api::Chat, None, None);
        let error = |class| Error::new(class, "");
        let busy = error(Class::Overloaded);
        let first = pause(&busy, 1, &target).unwrap();
        assert!((0.8..=1.2).contains(&first.as_secs_f64()), "{first:?}");
        let second = pause(&busy, 2, &target).unwrap();
        assert!((1.6..=2.4).contains(&second.as_secs_f64()), "{second:?}");
        assert_eq!(pause(&busy, 3, &target), None);
        for class in [Class::RateLimited, Class::Overloaded] {
            let asks = |seconds| Error {
                retry_after: Some(Duration::from_secs(seconds)),
                ..error(class)
            };
            assert_eq!(pause(&asks(7), 1, &target), Some(Duration::from_secs(7)));
            assert_eq!(pause(&asks(61), 1, &target), None);
        }
        let slow = error(Class::Timeout);
        assert!(pause(&slow, 1, &target).is_some());
        assert_eq!(pause(&slow, 2, &target), None);
        for class in [
            Class::Quota,
            Class::TooLong,
            Class::Auth,
            Class::BadRequest,
            Class::Filtered,
            Class::Protocol,
        ] {
            assert_eq!(pause(&error(class), 1, &target), None, "{class:?}");
        }
    }
}
