//! Patterns for tool names: `*` stands for any text, `?` for one character, everything else for itself.

/// Whether the whole name fits the pattern. Takes time in proportion to both, whatever they hold.
pub fn fits(pattern: &str, name: &str) -> bool {
    // Tool names are ASCII, so bytes are characters.
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where to go on when the text after the last `*` did not fit: one character further.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == b'?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

/// Whether a pattern could fit a tool's name at all.
pub fn is_valid(pattern: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'*' | b'?');
    (1..=128).contains(&pattern.len()) && pattern.bytes().all(fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_names() {
        for (pattern, name, expected) in [
            ("calculator", "calculator", true),
            ("calc", "calculator", false),
            ("calc*", "calculator", true),
            ("*tor", "calculator", true),
            ("*cul*", "calculator", true),
            ("c*l*r", "calculator", true),
            ("c?lculator", "calculator", true),
            ("?", "", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("**", "a", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
            ("server.*", "server.tool", true),
            ("Calc*", "calculator", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} on {name}");
        }
        // The worst case of a backtracking matcher.
        assert!(!fits(&("a*".repeat(60) + "c"), &("a".repeat(63) + "b")));
    }

    #[test]
    fn a_pattern_that_fits_nothing_is_not_valid() {
        assert!(["*", "a.b-c_d?", "shell*"].into_iter().all(is_valid));
        assert!(
            !["", "a b", "ä", "a/b", &"a".repeat(129)]
                .into_iter()
                .any(is_valid)
        );
    }
}
