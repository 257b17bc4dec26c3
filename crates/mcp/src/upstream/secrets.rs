//! What a server's definition holds that nobody is to read: its values are taken out of all that is told of the server.

use super::error::UpstreamError;
use catalog::mcp_file::{ServerConfig, Transport};

/// Shorter values stand in too many words.
const CHARS_MIN: usize = 4;

/// In the place of a value.
const HIDDEN: &str = "***";

/// The values of a server's own variables, headers and query, the longest first.
#[derive(Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of(config: &ServerConfig) -> Self {
        let mut values: Vec<String> = Vec::new();
        match &config.transport {
            Transport::Stdio { env, .. } => values.extend(env.values().cloned()),
            Transport::Sse { headers, .. } | Transport::Http { headers, .. } => {
                for value in headers.values() {
                    values.push(value.clone());
                    // Of `Bearer abc` a server may repeat the token alone.
                    values.extend(value.split_once(' ').map(|(_, token)| token.to_owned()));
                }
            }
        }
        values.extend(config.url().into_iter().flat_map(of_query));
        let auth = config.auth.as_ref();
        values.extend(auth.and_then(|auth| auth.client_secret.clone()));
        let values = values.into_iter().map(|it| it.trim().to_owned());
        let mut values: Vec<String> = values
            .filter(|it| it.chars().count() >= CHARS_MIN)
            .collect();
        values.sort_by_key(|it| std::cmp::Reverse(it.len()));
        Secrets(values)
    }

    pub(super) fn out_of(&self, text: String) -> String {
        let mut text = text;
        for value in &self.0 {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), HIDDEN);
            }
        }
        text
    }

    /// The same of a text whose beginning is cut off, maybe in the middle of a value.
    pub(super) fn out_of_end(&self, text: &str) -> String {
        let ends = self.0.iter().flat_map(|value| {
            let starts = value.char_indices().skip(1);
            starts.map(|(at, _)| &value[at..])
        });
        let begun = ends.filter(|end| text.starts_with(*end));
        let begun = begun.map(str::len).max().unwrap_or_default();
        self.out_of(text[begun..].to_owned())
    }

    /// The server's own answer stays as it is: it is what a tool says.
    pub(super) fn out_of_error(&self, error: UpstreamError) -> UpstreamError {
        match error {
            UpstreamError::Unavailable {
                state,
                cause,
                retry_after,
            } => UpstreamError::Unavailable {
                state,
                cause: self.out_of(cause),
                retry_after,
            },
            UpstreamError::AuthRequired { challenge, remedy } => UpstreamError::AuthRequired {
                challenge,
                remedy: self.out_of(remedy),
            },
            UpstreamError::Lost { cause } => UpstreamError::Lost {
                cause: self.out_of(cause),
            },
            UpstreamError::Protocol(why) => UpstreamError::Protocol(self.out_of(why)),
            other => other,
        }
    }
}

/// The values of an address's query, as they are written and as they are meant.
fn of_query(url: &str) -> Vec<String> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let mut values: Vec<String> = pairs.map(|(_, value)| value.to_owned()).collect();
    if let Ok(url) = fetch::Url::parse(url) {
        let meant = url.query_pairs().map(|(_, value)| value.into_owned());
        values.extend(meant);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::mcp_file::read_servers;
    use serde_json::{Value, json};

    fn secrets(server: &Value) -> Secrets {
        let text = json!({"mcpServers": {"s": server}}).to_string();
        let file = read_servers("mcp.json", &text, &|_| None).unwrap();
        Secrets::of(&file.servers[0])
    }

    #[test]
    fn values_of_the_definition_are_hidden() {
        let program =
            secrets(&json!({"command": "p", "env": {"KEY": "long-and-secret", "MODE": "abc"}}));
        let said = |text: &str| program.out_of(text.to_owned());
        assert_eq!(said("key is long-and-secret, abc"), "key is ***, abc");
        let remote = secrets(&json!({
            "url": "http://127.0.0.1:1/mcp?api_key=a%20b-c&page=2",
            "headers": {"Authorization": "Bearer t0ken"}
        }));
        let said = |text: &str| remote.out_of(text.to_owned());
        assert_eq!(
            said("no 't0ken' at ?api_key=a%20b-c"),
            "no '***' at ?api_key=***"
        );
        assert_eq!(said("a b-c; Bearer t0ken; page=2"), "***; ***; page=2");
    }

    #[test]
    fn half_a_value_is_hidden_where_a_text_is_cut() {
        let all = secrets(&json!({"command": "p", "env": {"KEY": "long-and-secret"}}));
        assert_eq!(all.out_of_end("and-secret\nlong-and-secret\n"), "\n***\n");
        assert_eq!(all.out_of_end("nothing here"), "nothing here");
    }
}
