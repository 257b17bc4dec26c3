//! What a server says in `WWW-Authenticate` about the token that it wants.

/// The `Bearer` part of the header. What is not in it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where it says who gives tokens for it (RFC 9728).
    pub resource_metadata: Option<String>,
    /// What the token must allow.
    pub scopes: Vec<String>,
    /// Such as `invalid_token` or `insufficient_scope`.
    pub error: Option<String>,
}

impl Challenge {
    /// Reads the header; other schemes in it are passed over, and so is what cannot be read.
    pub fn read(header: &str) -> Self {
        let mut challenge = Challenge::default();
        let mut is_bearer = false;
        let mut rest = header;
        loop {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if word.is_empty() && after.is_empty() {
                return challenge;
            }
            let Some(value) = after.trim_start().strip_prefix('=') else {
                is_bearer = word.eq_ignore_ascii_case("bearer");
                rest = after;
                continue;
            };
            let (value, after) = value_of(value.trim_start());
            if is_bearer {
                challenge.take(word, value);
            }
            rest = after;
        }
    }

    pub fn wants_more_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// The first of each counts.
    fn take(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => drop(self.resource_metadata.get_or_insert(value)),
            "error" => drop(self.error.get_or_insert(value)),
            "scope" if self.scopes.is_empty() => self.scopes = scopes(&value),
            _ => {}
        }
    }
}

/// A list of scopes as it is written on the wire.
pub(crate) fn scopes(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in text.split_ascii_whitespace() {
        if is_scope(scope) && !all.iter().any(|known| known == scope) {
            all.push(scope.to_owned());
        }
    }
    all
}

/// As RFC 6749 has it: visible letters but for quotes and backslashes.
pub(crate) fn is_scope(text: &str) -> bool {
    let fits = |b: u8| (0x21..=0x7e).contains(&b) && b != b'"' && b != b'\\';
    !text.is_empty() && text.len() <= 256 && text.bytes().all(fits)
}

/// A token or a quoted string, and what comes after it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            letter => value.push(letter),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_read_whatever_stands_beside_it() {
        let metadata = "https://a.example/.well-known/oauth-protected-resource/mcp";
        let plain = format!(r#"Bearer resource_metadata="{metadata}", scope="a b a""#);
        let mixed = format!(
            r#"Basic realm="x, Bearer y", bearer  Scope = "a b" , error=insufficient_scope,resource_metadata="{metadata}", Negotiate ab=="#
        );
        for (text, error) in [(plain, None), (mixed, Some("insufficient_scope"))] {
            let read = Challenge::read(&text);
            assert_eq!(read.resource_metadata.as_deref(), Some(metadata), "{text}");
            assert_eq!(read.scopes, ["a", "b"], "{text}");
            assert_eq!(read.error.as_deref(), error, "{text}");
            assert_eq!(read.wants_more_scope(), error.is_some());
        }
    }

    #[test]
    fn nonsense_is_no_challenge() {
        for text in [
            "",
            ",,,",
            "Bearer",
            "Bearer =",
            "\"",
            "Digest scope=\"a\"",
            "=\"",
            "Bearer scope=\"a\\",
        ] {
            let read = Challenge::read(text);
            assert_eq!(read.resource_metadata, None, "{text}");
            assert!(read.scopes.len() <= 1, "{text}");
        }
        assert!(
            Challenge::read(r#"Bearer scope="a\"b c" "#).scopes == ["c"],
            "a quote is in no scope"
        );
    }
}
