//! What tools are called on the wire. Our names may hold dots and any letter, theirs only letters, digits, `_` and `-`; each
//! leads back, and no two of one request are the same.

use crate::request::{Request, Said};
use catalog::names::{PlainName, is_plain};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The names of one request: its tools, and whatever was called before.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Ours, where they cannot be sent as they are.
    sent: HashMap<String, String>,
    /// Back again.
    meant: HashMap<String, String>,
}

impl Names {
    pub(crate) fn of(request: &Request) -> Self {
        let tools = request.tools.iter().map(|tool| tool.name.as_str());
        let all: BTreeSet<&str> = tools
            .chain(request.said.iter().flat_map(called))
            .filter(|name| !name.is_empty())
            .collect();
        let mut taken: HashSet<String> = all.iter().map(|name| (*name).to_owned()).collect();
        let mut names = Names::default();
        for name in all.into_iter().filter(|name| !is_plain(name)) {
            let plain = plain(name);
            let mut sent = plain.short.to_string();
            if taken.contains(&sent) {
                sent = plain.hashed.to_string();
            }
            while taken.contains(&sent) {
                sent = self::plain(&format!("{sent}.")).hashed.to_string();
            }
            taken.insert(sent.clone());
            names.meant.insert(sent.clone(), name.to_owned());
            names.sent.insert(name.to_owned(), sent);
        }
        names
    }

    /// As it is sent. A name that the model left empty has to be called something.
    pub(crate) fn sent<'a>(&'a self, ours: &'a str) -> &'a str {
        match ours {
            "" => "unnamed",
            _ => self.sent.get(ours).map_or(ours, String::as_str),
        }
    }

    /// What the model means by it.
    pub(crate) fn meant<'a>(&'a self, theirs: &'a str) -> &'a str {
        self.meant.get(theirs).map_or(theirs, String::as_str)
    }
}

/// As the lists for MCP clients spell it.
fn plain(name: &str) -> PlainName {
    let (server, own) = name.split_once('.').unwrap_or((name, ""));
    match PlainName::of(name) {
        Some(plain) if own.is_empty() => plain,
        _ => PlainName::of_server(server, own),
    }
}

fn called(said: &Said) -> Vec<&str> {
    match said {
        Said::User(_) => Vec::new(),
        Said::Model(turn) => turn.calls.iter().map(|call| call.name.as_str()).collect(),
        Said::Results(results) => results.iter().map(|result| result.name.as_str()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Tool;

    fn names(of: &[&str]) -> Names {
        let tool = |name: &&str| Tool {
            name: (*name).to_owned(),
            description: String::new(),
            input_schema: serde_json::json!({}),
        };
        Names::of(&Request {
            tools: of.iter().map(tool).collect(),
            ..Request::default()
        })
    }

    #[test]
    fn names_lead_back_and_never_meet() {
        let long = format!("server.{}", "x".repeat(64));
        let longer = format!("{long}y");
        let ours = [
            "calculator",
            "files.read",
            "files__read",
            "a.b.c",
            "a.b_c",
            "a__b_c",
            "날씨.검색",
            "___",
            &long,
            &longer,
        ];
        let names = names(&ours);
        let sent: HashSet<&str> = ours.iter().map(|name| names.sent(name)).collect();
        assert_eq!(sent.len(), ours.len(), "{sent:?}");
        for name in ours {
            let sent = names.sent(name);
            assert!(is_plain(sent), "{sent}");
            assert_eq!(names.meant(sent), name);
        }
        assert_eq!(names.sent("calculator"), "calculator");
        assert_eq!(names.sent("files__read"), "files__read");
        assert_eq!(names.meant("made_up"), "made_up");
    }

    #[test]
    fn a_dot_alone_is_spelled_as_for_mcp_clients() {
        assert_eq!(names(&["files.read"]).sent("files.read"), "files__read");
    }
}
