//! The servers of another MCP client's configuration, in the words of `mcp.json`, and what is wrong with them where it
//! stands in that client's file.

use super::definition::place;
use crate::out::{Failure, Result};
use catalog::mcp_file::read_servers;
use catalog::problem::Problem;
use serde_json::{Map, Value, json};
use std::path::Path;

/// What clients call the member that holds the servers; some keep them one level down.
const MEMBERS: [&[&str]; 8] = [
    &["mcpServers"],
    &["servers"],
    &["context_servers"],
    &["mcp_servers"],
    &["mcp", "mcpServers"],
    &["mcp", "servers"],
    &["mcp", "context_servers"],
    &["mcp", "mcp_servers"],
];

/// What a client's file holds.
pub(super) struct Foreign {
    pub(super) servers: Map<String, Value>,
    shown: String,
    /// The text as JSON, every letter where it was; none of another format.
    text: Option<String>,
    /// The path to the servers in it.
    at: String,
    /// Members of servers that mean nothing here.
    pub(super) no_effect: Vec<String>,
}

/// A server that is not taken over.
pub(super) struct LeftOut {
    pub(super) name: String,
    pub(super) why: Vec<String>,
}

impl Foreign {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let shown = file.display().to_string();
        let failed =
            |why: &dyn std::fmt::Display| Failure::failed(format!("{shown} cannot be read: {why}"));
        let text = std::fs::read_to_string(file).map_err(|it| failed(&it))?;
        let (all, text) = understood(file, &shown, &text)?;
        let found = MEMBERS.iter().find_map(|way| {
            let inside = way.iter().try_fold(&all, |all, member| all.get(member))?;
            Some((way, inside.as_object()?))
        });
        let names: Vec<&str> = MEMBERS[..4].iter().map(|way| way[0]).collect();
        let (way, found) =
            found.ok_or_else(|| failed(&format!("it has none of {}", names.join(", "))))?;
        let servers = found
            .iter()
            .map(|(name, it)| (name.clone(), taken_over(it)));
        Ok(Foreign {
            servers: servers.collect(),
            at: format!("$.{}", way.join(".")),
            shown,
            text,
            no_effect: Vec::new(),
        })
    }

    /// Leaves those that are wanted; all where none is named.
    pub(super) fn keep_only(&mut self, names: &[String]) -> Result {
        if names.is_empty() {
            return Ok(());
        }
        if let Some(missing) = names.iter().find(|name| !self.servers.contains_key(*name)) {
            let there: Vec<&str> = self.servers.keys().map(String::as_str).collect();
            let shown = &self.shown;
            return Err(Failure::usage(format!(
                "--only names '{missing}', but {shown} has {}",
                there.join(", ")
            )));
        }
        self.servers.retain(|name, _| names.contains(name));
        Ok(())
    }

    /// Leaves those that could stand in `mcp.json`. What is wrong with the others is told where it stands in the client's
    /// file.
    pub(super) fn keep_usable(&mut self) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        for (name, server) in std::mem::take(&mut self.servers) {
            let text = json!({"mcpServers": {&name: server}}).to_string();
            let problems = match read_servers("mcp.json", &text, &|_| None) {
                Err(problems) => problems,
                Ok(file) => {
                    let read = file.servers.into_iter().next();
                    let read = read.map(|it| (it.refused, it.extra));
                    let (refused, extra) = read.unwrap_or_default();
                    if refused.is_none() {
                        let keys = extra.keys().map(|key| format!("{name}: {key}"));
                        self.no_effect.extend(keys);
                    }
                    refused.into_iter().collect()
                }
            };
            if problems.is_empty() {
                self.servers.insert(name, server);
            } else {
                let why = problems.iter().map(|it| self.told(it)).collect();
                left_out.push(LeftOut { name, why });
            }
        }
        left_out
    }

    fn told(&self, problem: &Problem) -> String {
        let Problem {
            path,
            expected,
            found,
            remedy,
            ..
        } = problem;
        let path = match path.strip_prefix("$.mcpServers") {
            Some(rest) => format!("{}{rest}", self.at),
            None => path.clone(),
        };
        let place = self.text.as_deref().and_then(|text| place(text, &path));
        let shown = match place {
            Some((line, column)) => format!("{}:{line}:{column}", self.shown),
            None => self.shown.clone(),
        };
        format!("{shown}: at {path}: expected {expected}, found {found}. {remedy}")
    }
}

/// What stands in a file; and its text, if that is JSON. Only those of TOML say by their name what they are.
fn understood(file: &Path, shown: &str, text: &str) -> Result<(Value, Option<String>)> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::failed(format!("{shown} cannot be read: {why}"));
    if file.extension().is_some_and(|it| it == "toml") {
        return Ok((toml::from_str(text).map_err(|it| failed(&it))?, None));
    }
    let json = plain(text);
    let why = match serde_json::from_str(&json) {
        Ok(all) => return Ok((all, Some(json))),
        Err(error) if json.trim_start().starts_with('{') => return Err(failed(&error)),
        Err(error) => error,
    };
    match toml::from_str(text) {
        Ok(all) => Ok((all, None)),
        Err(_) => Err(Failure::failed(format!(
            "{shown} is neither JSON nor TOML: {why}"
        ))
        .hint("give the file in which an MCP client keeps its servers, such as settings.json or config.toml")),
    }
}

/// Other words for the same.
fn taken_over(server: &Value) -> Value {
    let mut server = server.clone();
    let Some(members) = server.as_object_mut() else {
        return server;
    };
    for (theirs, ours) in [("serverUrl", "url"), ("httpUrl", "url")] {
        if let Some(value) = members.shift_remove(theirs) {
            members.insert(ours.to_owned(), value);
        }
    }
    // Zed writes the command as an object.
    if let Some(Value::Object(command)) = members.get("command").cloned() {
        members.shift_remove("command");
        for (theirs, ours) in [("path", "command"), ("args", "args"), ("env", "env")] {
            if let Some(value) = command.get(theirs) {
                members.insert(ours.to_owned(), value.clone());
            }
        }
    }
    let kind = members.get("type").and_then(Value::as_str);
    if matches!(kind, Some("stdio")) {
        members.shift_remove("type");
    } else if matches!(kind, Some("streamable-http" | "streamableHttp")) {
        members.insert("type".to_owned(), "http".into());
    }
    if let Some(enabled) = members.shift_remove("enabled")
        && enabled == Value::Bool(false)
    {
        members.insert("disabled".to_owned(), Value::Bool(true));
    }
    take_headers(members);
    name_variables(&mut server);
    server
}

/// Codex has three words for headers, two of which name variables.
fn take_headers(members: &mut Map<String, Value>) {
    let texts = |value: Option<&Value>| {
        let all = value.and_then(Value::as_object);
        all.filter(|all| all.values().all(Value::is_string))
            .cloned()
    };
    let mut found = Map::new();
    if let Some(variable) = members.get("bearer_token_env_var").and_then(Value::as_str) {
        let token = format!("Bearer ${{{variable}}}");
        found.insert("Authorization".to_owned(), token.into());
        members.shift_remove("bearer_token_env_var");
    }
    if let Some(named) = texts(members.get("env_http_headers")) {
        for (header, variable) in named {
            let variable = variable.as_str().unwrap_or_default();
            found.insert(header, format!("${{{variable}}}").into());
        }
        members.shift_remove("env_http_headers");
    }
    if let Some(plain) = texts(members.get("http_headers")) {
        found.extend(plain);
        members.shift_remove("http_headers");
    }
    if found.is_empty() {
        return;
    }
    // What stands under our own word counts.
    let own = members.entry("headers").or_insert_with(|| json!({}));
    if let Some(own) = own.as_object_mut() {
        for (header, value) in found {
            if !own.keys().any(|it| it.eq_ignore_ascii_case(&header)) {
                own.insert(header, value);
            }
        }
    }
}

/// `${env:NAME}`, as some editors have it, is `${NAME}` here.
fn name_variables(value: &mut Value) {
    match value {
        Value::String(text) => {
            let mut pieces = text.split("${env:");
            let mut out = pieces.next().unwrap_or_default().to_owned();
            for piece in pieces {
                let is_named = piece.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                out.push_str(if is_named { "${" } else { "${env:" });
                out.push_str(piece);
            }
            *text = out;
        }
        Value::Array(items) => items.iter_mut().for_each(name_variables),
        Value::Object(members) => members.values_mut().for_each(name_variables),
        _ => {}
    }
}

/// JSON without the comments and last commas that some clients allow. Blanks stand in their place, so that every other
/// letter keeps its line and column.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut in_text = false;
    // Where the last comma is, while nothing but blanks has followed.
    let mut comma = None;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if in_text => {
                out.push(letter);
                out.extend(letters.next());
                continue;
            }
            '"' => in_text = !in_text,
            _ if in_text => {}
            '/' if letters.peek() == Some(&'/') => {
                out.push(' ');
                while letters.next_if(|it| *it != '\n').is_some() {
                    out.push(' ');
                }
                continue;
            }
            '/' if letters.peek() == Some(&'*') => {
                out.push_str("  ");
                // The star that opens a comment does not close it.
                letters.next();
                let mut before = ' ';
                for it in letters.by_ref() {
                    out.push(if it == '\n' { '\n' } else { ' ' });
                    if before == '*' && it == '/' {
                        break;
                    }
                    before = it;
                }
                continue;
            }
            '}' | ']' => {
                if let Some(at) = comma {
                    out.replace_range(at..=at, " ");
                }
            }
            _ => {}
        }
        if letter == ',' && !in_text {
            comma = Some(out.len());
        } else if !letter.is_whitespace() {
            comma = None;
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_are_left_out() {
        let text = "{ // a\n \"a\": \"http://x/*y*/\", /* b */ \"b\": [1, 2, ],\n}";
        let value: Value = serde_json::from_str(&plain(text)).unwrap();
        assert_eq!(value, json!({"a": "http://x/*y*/", "b": [1, 2]}));
        assert_eq!(plain(text).len(), text.len());
        let lines = "{/*/ a\n*/ \"가\": [1,\n], // b\n}";
        assert_eq!(plain(lines), "{     \n   \"가\": [1 \n]      \n}");
    }

    #[test]
    fn the_words_of_other_clients_are_understood() {
        let zed = json!({"command": {"path": "npx", "args": ["-y"]}, "enabled": false});
        assert_eq!(
            taken_over(&zed),
            json!({"command": "npx", "args": ["-y"], "disabled": true})
        );
        let code = json!({"type": "stdio", "command": "a"});
        assert_eq!(taken_over(&code), json!({"command": "a"}));
        let wind = json!({"serverUrl": "http://x", "type": "streamable-http"});
        assert_eq!(
            taken_over(&wind),
            json!({"type": "http", "url": "http://x"})
        );
    }

    #[test]
    fn the_headers_of_codex_are_headers() {
        let codex = json!({
            "url": "http://x", "bearer_token_env_var": "TOKEN", "http_headers": {"X-Region": "eu"},
            "env_http_headers": {"X-Team": "TEAM"},
        });
        let headers =
            json!({"Authorization": "Bearer ${TOKEN}", "X-Region": "eu", "X-Team": "${TEAM}"});
        assert_eq!(
            taken_over(&codex),
            json!({"url": "http://x", "headers": headers})
        );
        // What cannot be meant so stays where it is told to have no effect.
        let odd = json!({"url": "http://x", "http_headers": {"X": 1}, "bearer_token_env_var": 5});
        assert_eq!(taken_over(&odd), odd);
    }

    #[test]
    fn variables_are_named_as_here() {
        let server = json!({"command": "a", "args": ["--x=${env:X_1}", "${env:}", "${HOME}"], "env": {"K": "a${env:K}b${env:L}"}});
        assert_eq!(
            taken_over(&server),
            json!({"command": "a", "args": ["--x=${X_1}", "${env:}", "${HOME}"], "env": {"K": "a${K}b${L}"}})
        );
    }
}
