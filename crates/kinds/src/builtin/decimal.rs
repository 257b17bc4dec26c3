//! Decimal numbers as text, of any length: taking them apart, and rounding them half away from zero.

/// How much of a number is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    /// Counted from the first digit that is not 0.
    Figures(usize),
    /// Counted from the point.
    Places(usize),
}

/// The number at the beginning and what follows it: `-12.5 m` is `-12.5` and ` m`.
pub(super) fn split(text: &str) -> (&str, &str) {
    let of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    text.split_at(text.find(|c| !of_number(c)).unwrap_or(text.len()))
}

/// Whether `split` finds nothing else in it.
pub(super) fn is_decimal(text: &str) -> bool {
    split(text).1.is_empty()
}

/// The digits before the point; none of a number below 1.
pub(super) fn integer_figures(number: &str) -> usize {
    let integer = number.split('.').next().unwrap_or_default();
    integer.trim_start_matches(['-', '0']).len()
}

/// The digits from the first that is not 0.
pub(super) fn figures(number: &str) -> usize {
    let digits = number.trim_start_matches(['-', '0', '.']);
    digits.bytes().filter(u8::is_ascii_digit).count()
}

/// The number rounded, without zeros at its end.
pub(super) fn round(number: &str, rounding: Rounding) -> String {
    let (sign, unsigned) = match number.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", number),
    };
    let (integer, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    // With a place for what is carried over the first digit.
    let mut digits: Vec<u8> = format!("0{integer}{fraction}").into_bytes();
    let point = 1 + integer.len();
    let kept = match rounding {
        Rounding::Places(places) => point + places,
        Rounding::Figures(count) => {
            count + digits.iter().take_while(|digit| **digit == b'0').count()
        }
    };
    let up = digits.get(kept).is_some_and(|digit| *digit >= b'5');
    digits.iter_mut().skip(kept).for_each(|digit| *digit = b'0');
    if up {
        let nines = digits[..kept].iter().rev().take_while(|d| **d == b'9');
        let carried = kept - nines.count();
        digits[carried..kept].fill(b'0');
        digits[carried - 1] += 1;
    }
    let digits: String = digits.into_iter().map(char::from).collect();
    let (integer, fraction) = digits.split_at(point);
    let integer = match integer.trim_start_matches('0') {
        "" => "0",
        integer => integer,
    };
    match (integer, fraction.trim_end_matches('0')) {
        ("0", "") => "0".to_owned(),
        (integer, "") => format!("{sign}{integer}"),
        (integer, fraction) => format!("{sign}{integer}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Rounding::{Figures, Places};
    use super::*;

    #[test]
    fn numbers_are_rounded_at_every_place() {
        for (number, rounding, expected) in [
            ("5.0006", Places(3), "5.001"),
            ("5.0004", Places(3), "5"),
            ("-5.0006", Places(3), "-5.001"),
            ("0.9996", Places(3), "1"),
            ("999.5", Places(0), "1000"),
            ("0.0004", Places(3), "0"),
            ("-0.0004", Places(3), "0"),
            ("7", Places(3), "7"),
            ("15678", Figures(2), "16000"),
            ("99.96", Figures(3), "100"),
            ("0.00123456", Figures(3), "0.00123"),
            ("0.00099996", Figures(3), "0.001"),
            ("0", Figures(3), "0"),
            ("100.000000000000002", Figures(15), "100"),
        ] {
            assert_eq!(round(number, rounding), expected, "{number} {rounding:?}");
        }
    }

    #[test]
    fn figures_are_counted_from_the_first_digit_that_says_something() {
        let counted =
            ["0.00120", "-12.5", "0", "0.5", "1000"].map(|n| (figures(n), integer_figures(n)));
        assert_eq!(counted, [(3, 0), (3, 2), (0, 0), (1, 0), (4, 4)]);
        assert_eq!(split("-12.5 m"), ("-12.5", " m"));
        assert_eq!(split("14.2857%"), ("14.2857", "%"));
    }
}
