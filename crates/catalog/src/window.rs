//! A sliding window: how many calls started within the last minute or hour, to the millisecond.

use crate::tool::Millis;
use std::collections::VecDeque;

/// Calls are judged by when they started, and two that started close together may be judged in either order. That far
/// back a window knows more than it needs.
const SLACK_MS: Millis = 5_000;

/// The calls of a span of time that ends with the newest one. Holds at most one item for each millisecond.
#[derive(Debug)]
pub struct Window {
    span: Millis,
    /// Every call from this moment on is known.
    since: Millis,
    /// When calls started, and how many did; oldest first.
    calls: VecDeque<(Millis, u32)>,
    total: u64,
}

impl Window {
    /// A window that knows nothing yet; see `learn`.
    pub fn new(span: Millis) -> Self {
        Window {
            span,
            since: Millis::MAX,
            calls: VecDeque::new(),
            total: 0,
        }
    }

    /// From when on calls have to be known to judge one that starts at `at`.
    pub fn needs(span: Millis, at: Millis) -> Millis {
        at - span - SLACK_MS
    }

    /// Whether everything is known that a call starting at `at` depends on.
    pub fn knows(&mut self, at: Millis) -> bool {
        let newest = self.calls.back().map_or(at, |(time, _)| *time);
        if newest > at + self.span {
            // The clock was set back: what it called the future would shut the tool until it comes again.
            *self = Window::new(self.span);
        }
        self.since <= at - self.span + 1
    }

    /// Takes over calls from `since` on, oldest first. Those that are known already are left out.
    pub fn learn(&mut self, since: Millis, at: Millis, calls: &[(Millis, u32)]) {
        let known = self.since;
        let end = known.min(at + self.span + 1);
        let new = calls
            .iter()
            .filter(|(time, _)| (since..end).contains(time))
            .rev();
        for call in new {
            self.total += u64::from(call.1);
            self.calls.push_front(*call);
        }
        self.since = known.min(since);
    }

    /// Calls within the span that ends at `at`; later ones count too, as no span may hold more than is allowed.
    pub fn count(&self, at: Millis) -> u64 {
        let over = self
            .calls
            .iter()
            .take_while(|(time, _)| *time <= at - self.span);
        self.total - over.map(|(_, count)| u64::from(*count)).sum::<u64>()
    }

    /// How long after `at` there is room for one more call among at most `max`; none where there is room now.
    pub fn wait(&self, at: Millis, max: u64) -> Option<Millis> {
        let mut left = self.total;
        let mut free_at = at;
        for (time, count) in &self.calls {
            if left < max {
                break;
            }
            left -= u64::from(*count);
            free_at = time + self.span;
        }
        Some(free_at - at).filter(|wait| *wait > 0)
    }

    pub fn add(&mut self, at: Millis) {
        self.total += 1;
        match self.calls.iter().rposition(|(time, _)| *time <= at) {
            Some(i) if self.calls[i].0 == at => self.calls[i].1 += 1,
            Some(i) => self.calls.insert(i + 1, (at, 1)),
            None => self.calls.push_front((at, 1)),
        }
        let keep = Self::needs(self.span, at);
        while let Some((_, count)) = self.calls.pop_front_if(|(time, _)| *time < keep) {
            self.total -= u64::from(count);
        }
        self.since = self.since.max(keep);
    }

    /// The call that started then does not count after all.
    pub fn take_back(&mut self, at: Millis) {
        let Some(i) = self.calls.iter().rposition(|(time, _)| *time == at) else {
            return;
        };
        self.total -= 1;
        self.calls[i].1 -= 1;
        if self.calls[i].1 == 0 {
            self.calls.remove(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_800_000_000_000;

    fn window() -> Window {
        let mut window = Window::new(60_000);
        window.learn(Window::needs(60_000, NOW), NOW, &[]);
        window
    }

    #[test]
    fn a_place_is_free_exactly_when_its_call_is_a_span_old() {
        let mut window = window();
        for at in [NOW, NOW, NOW + 10] {
            assert_eq!(window.wait(at, 3), None);
            window.add(at);
        }
        assert_eq!(window.wait(NOW + 10, 3), Some(59_990));
        assert_eq!(window.wait(NOW + 59_999, 3), Some(1));
        assert_eq!(window.wait(NOW + 60_000, 3), None);
        assert_eq!(
            [59_999, 60_000, 60_009, 60_010].map(|later| window.count(NOW + later)),
            [3, 1, 1, 0]
        );
        // Fewer are allowed from now on: all three must be over.
        assert_eq!(window.wait(NOW + 10, 1), Some(60_000));
    }

    /// The calls of no span of a minute may be more than allowed, in whatever order they were judged.
    #[test]
    fn no_span_holds_too_many_whatever_the_order() {
        let mut window = window();
        let mut admitted = Vec::new();
        for i in 0..40_000_i64 {
            let jitter = (i * 7_919) % 3_000;
            let at = NOW + i * 37 - jitter;
            assert!(window.knows(at), "the slack is longer than the disorder");
            if window.wait(at, 50).is_none() {
                window.add(at);
                admitted.push(at);
            }
        }
        admitted.sort_unstable();
        let tight = admitted.windows(51).filter(|w| w[50] - w[0] < 60_000);
        assert_eq!(tight.count(), 0);
        assert!(admitted.len() > 1_000, "{}", admitted.len());
        assert!(window.calls.len() <= 100, "old calls are forgotten");
    }

    #[test]
    fn what_is_taken_back_never_was() {
        let mut window = window();
        window.add(NOW);
        window.add(NOW);
        window.take_back(NOW);
        assert_eq!(window.count(NOW), 1);
        window.take_back(NOW);
        window.take_back(NOW);
        assert_eq!((window.count(NOW), window.calls.len()), (0, 0));
    }

    #[test]
    fn learning_adds_only_what_is_not_known() {
        let mut window = Window::new(60_000);
        assert!(!window.knows(NOW));
        let logged = [(NOW - 70_000, 9), (NOW - 50_000, 2), (NOW + 5, 1)];
        window.learn(NOW - 65_000, NOW, &logged[..2]);
        assert!(window.knows(NOW) && window.knows(NOW - 4_000) && !window.knows(NOW - 9_000));
        window.add(NOW + 5);
        window.learn(NOW - 80_000, NOW, &logged);
        assert_eq!(window.count(NOW - 15_000), 12);
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_shut_a_tool() {
        let mut window = window();
        window.add(NOW + 7_200_000);
        assert!(!window.knows(NOW));
        window.learn(NOW - 65_000, NOW, &[(NOW - 1, 1), (NOW + 7_200_000, 1)]);
        assert!(window.knows(NOW));
        assert_eq!(window.count(NOW), 1);
    }
}
