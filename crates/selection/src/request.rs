//! A request without what it only carries along: a text to translate, an address, says nothing about which tool is meant.

use std::borrow::Cow;

/// Shorter quotes are names, and say something.
const QUOTE_CHARS_LEAST: usize = 12;

/// The request as it is compared. The whole, where nothing else would be left.
#[must_use]
pub fn core(request: &str) -> Cow<'_, str> {
    let is_plain = !request.contains(['"', '“', '`', '@', '「']) && !request.contains("://");
    if is_plain {
        return Cow::Borrowed(request);
    }
    let mut left = String::with_capacity(request.len());
    let mut rest = request;
    while let Some(at) = rest.find(['"', '“', '`', '「']) {
        left.push_str(&rest[..at]);
        let open = rest[at..].chars().next().unwrap_or('"');
        let close = match open {
            '“' => '”',
            '「' => '」',
            same => same,
        };
        let after = &rest[at + open.len_utf8()..];
        let Some(end) = after.find(close) else {
            rest = &rest[at..];
            break;
        };
        let quoted = &after[..end];
        if quoted.chars().count() < QUOTE_CHARS_LEAST {
            left.push_str(quoted);
        }
        rest = &after[end + close.len_utf8()..];
    }
    left.push_str(rest);
    let said: Vec<&str> = left.split_whitespace().map(spoken).collect();
    let said = said.join(" ");
    match said.chars().filter(|c| c.is_alphanumeric()).count() {
        0..3 => Cow::Borrowed(request),
        _ => Cow::Owned(said),
    }
}

/// What kind of address it is matters; which one does not.
fn spoken(token: &str) -> &str {
    if token.contains("://") {
        "web page"
    } else if token.contains('@') && token.contains('.') {
        "e-mail address"
    } else {
        token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_along_is_left_out() {
        for (request, expected) in [
            ("서울 날씨", "서울 날씨"),
            (
                "Put this into Japanese: \"The warehouse is closed.\"",
                "Put this into Japanese:",
            ),
            ("Find \"Kim\" in the list", "Find Kim in the list"),
            (
                "Write to a.b@acme.example soon",
                "Write to e-mail address soon",
            ),
            (
                "요약해줘 https://a.example/b?c=1 두 줄로",
                "요약해줘 web page 두 줄로",
            ),
            ("\"an unfinished quote", "\"an unfinished quote"),
            (
                "\"nothing but a long quote\"",
                "\"nothing but a long quote\"",
            ),
            ("don't stop", "don't stop"),
        ] {
            assert_eq!(core(request), expected, "{request}");
        }
    }
}
