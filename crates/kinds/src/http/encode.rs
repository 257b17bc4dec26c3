//! How a text is written in each part of a request.

use std::fmt::Write as _;

/// In a path or query: everything but letters, digits and `-._~` becomes `%XX`, so that nothing in it can end the
/// part it stands in.
pub fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into())
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// In XML or HTML.
pub(super) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_part() {
        for (text, path) in [
            ("plain-._~AZaz09", "plain-._~AZaz09"),
            ("a b", "a%20b"),
            ("a/b\\c", "a%2Fb%5Cc"),
            ("?x=1&y#z", "%3Fx%3D1%26y%23z"),
            ("%2e%2e%2f", "%252e%252e%252f"),
            ("@host:80;p", "%40host%3A80%3Bp"),
            ("é한", "%C3%A9%ED%95%9C"),
            ("\r\n\0", "%0D%0A%00"),
            ("+", "%2B"),
        ] {
            assert_eq!(percent(text), path, "{text}");
        }
        assert_eq!(xml("<a b=\"'\">&"), "&lt;a b=&quot;&#39;&quot;&gt;&amp;");
    }
}
