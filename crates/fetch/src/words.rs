//! What a server says, as it may be told to others.

/// Somebody else's words: at most so many letters, on one line, and without the secret that they were shown.
pub fn quoted(text: &str, secret: Option<&str>, chars_max: usize) -> String {
    let hidden = match secret {
        Some(secret) if !secret.is_empty() => text.replace(secret, "[hidden]"),
        _ => text.to_owned(),
    };
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let short: String = hidden.chars().take(chars_max).map(printable).collect();
    short.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_short_on_one_line_and_hold_no_secret() {
        assert_eq!(
            quoted("no\nkey sk-1\t", Some("sk-1"), 99),
            "no key [hidden]"
        );
        assert_eq!(quoted("abc", Some(""), 2), "ab");
        assert_eq!(quoted("안녕하세요", None, 2), "안녕");
    }
}
