//! Which transport a server's author names, and what they mean who write something else there.

use super::Entry;
use crate::json::{Member, Reader, did_you_mean, path_of_key, present};

const TRANSPORTS: [&str; 4] = ["stdio", "sse", "http", "streamable-http"];

/// What other programs write under `type` for what goes into `headers` or `auth` here.
const WAYS_TO_SHOW_WHO_ASKS: [&str; 8] = [
    "bearer", "basic", "oauth", "oauth2", "token", "apikey", "api_key", "header",
];

/// Where a token goes.
pub(super) const A_TOKEN: &str = "a token that never changes is a header, \"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}, and one that somebody signs in for is \"auth\": \"oauth\"";

impl Entry<'_> {
    /// `transport`, which desktop clients also call `type`, in our own words.
    pub(super) fn named_transport(
        &self,
        r: &mut Reader<'_>,
        members: &[Member],
    ) -> Option<&'static str> {
        let (transport, kind) = (present(members, "transport"), present(members, "type"));
        let mut read = |m: &Member| match m.value.as_str() {
            Some("stdio") => Some("stdio"),
            Some("sse") => Some("sse"),
            Some("http" | "streamable-http" | "streamableHttp") => Some("http"),
            _ => {
                let expected = "a transport: \"stdio\", \"sse\" or \"http\"";
                r.wrong(m, &self.path, expected, &remedy(m));
                None
            }
        };
        let named = (transport.and_then(&mut read), kind.and_then(&mut read));
        if let ((Some(a), Some(b)), Some(kind)) = (named, kind)
            && a != b
        {
            let found = format!("\"{b}\" beside \"transport\": \"{a}\"");
            let path = path_of_key(&self.path, "type");
            let remedy = "Delete \"type\" and keep \"transport\".";
            r.report(kind.value.span.start, path, "one transport", found, remedy);
        }
        named.0.or(named.1)
    }

    pub(super) fn contradiction(
        &self,
        r: &mut Reader<'_>,
        members: &[Member],
        expected: &str,
        instead: &str,
    ) {
        let m = present(members, "transport").or_else(|| present(members, "type"));
        if let Some(m) = m {
            let remedy = format!("Delete \"{}\", or use {instead} instead.", m.key);
            r.wrong(m, &self.path, expected, &remedy);
        }
    }
}

fn remedy(m: &Member) -> String {
    let word = m.value.as_str().unwrap_or_default();
    let folded = word.to_ascii_lowercase().replace('-', "_");
    if WAYS_TO_SHOW_WHO_ASKS.contains(&folded.as_str()) {
        let key = &m.key;
        return format!(
            "\"{key}\" says how the server is reached, not who asks; delete it: {A_TOKEN}."
        );
    }
    match did_you_mean(word, &TRANSPORTS) {
        Some(near) => format!("Did you mean \"{near}\"?"),
        None => "Write one of \"stdio\", \"sse\", \"http\", or delete it: \"command\" or \"url\" tells which it is.".to_owned(),
    }
}
