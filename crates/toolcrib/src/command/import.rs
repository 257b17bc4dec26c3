//! `toolcrib import mcp-servers`: takes the servers of an MCP client's configuration into `mcp.json`.

use crate::cli::Import;
use crate::context::Context;
use crate::out::{Failure, Result};
use app::shelf::MCP_FILE;
use catalog::mcp_file::read_servers;
use serde_json::{Map, Value, json};
use std::path::Path;

/// What clients call the member that holds the servers.
const MEMBERS: [&str; 4] = ["mcpServers", "servers", "context_servers", "mcp_servers"];

pub(crate) fn run(context: &Context, import: Import) -> Result {
    let Import::McpServers { file, force } = import;
    let found = servers(&file)?;
    let place = context.place()?;
    let path = place.workspace.join(MCP_FILE);
    let failed = |what: &str, why: &dyn std::fmt::Display| {
        Failure::failed(format!("{} cannot be {what}: {why}", path.display()))
    };
    let text = std::fs::read_to_string(&path).map_err(|it| failed("read", &it))?;
    let mut all: Value = serde_json::from_str(&text).map_err(|it| failed("read", &it))?;
    let own = all
        .as_object_mut()
        .map(|all| all.entry("mcpServers").or_insert_with(|| json!({})));
    let own = own
        .and_then(Value::as_object_mut)
        .ok_or_else(|| failed("read", &"it is no object with mcpServers"))?;
    let (mut added, mut same) = (Vec::new(), Vec::new());
    let mut open = Vec::new();
    for (name, server) in found {
        match own.get(&name) {
            Some(there) if *there == server => same.push(name),
            Some(_) if !force => {
                return Err(Failure::failed(format!(
                    "mcp.json has another server '{name}' already; nothing was changed"
                ))
                .hint("rename one of them, or replace it with --force"));
            }
            _ => {
                open.extend(in_the_clear(&server).map(|value| format!("{name}: {value}")));
                own.insert(name.clone(), server);
                added.push(name);
            }
        }
    }
    let text = format!("{all:#}\n");
    // What the server would refuse is not written.
    let lookup = |_: &str| Some(String::new());
    if let Err(problems) = read_servers(MCP_FILE, &text, &lookup) {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(Failure::failed(format!(
            "what {} says cannot be taken over: {}",
            file.display(),
            lines.join("; ")
        )));
    }
    if !added.is_empty() {
        let aside = path.with_extension("json.new");
        std::fs::write(&aside, &text).map_err(|it| failed("written", &it))?;
        std::fs::rename(&aside, &path).map_err(|it| failed("written", &it))?;
    }
    if !open.is_empty() {
        context.out.warn(format!(
            "mcp.json now holds what looks secret, in the clear ({}): write \"${{NAME}}\" in its place, and set that variable where the server runs",
            open.join(", ")
        ));
    }
    if context.out.json {
        context
            .out
            .value(&json!({"added": added, "unchanged": same}));
    }
    let note = match added.len() {
        0 => "every server was there already".to_owned(),
        _ => format!("added to {}: {}", path.display(), added.join(", ")),
    };
    context.out.note(note);
    Ok(())
}

/// Variables and headers of a server whose names say that their values are secret, and whose values stand there.
fn in_the_clear(server: &Value) -> impl Iterator<Item = String> {
    const SECRET: [&str; 7] = [
        "key",
        "token",
        "secret",
        "passw",
        "auth",
        "credential",
        "cookie",
    ];
    let is_open = |(name, value): &(&String, &Value)| {
        let name = name.to_lowercase();
        let value = value.as_str().unwrap_or_default();
        !value.is_empty() && !value.contains("${") && SECRET.iter().any(|word| name.contains(word))
    };
    let members = ["env", "headers", "auth"].map(|member| server[member].as_object());
    let values = members.into_iter().flatten().flatten();
    values.filter(is_open).map(|(name, _)| name.clone())
}

/// The servers of a client's file, as `mcp.json` has them.
fn servers(file: &Path) -> Result<Map<String, Value>> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::failed(format!("{} cannot be read: {why}", file.display()))
    };
    let text = std::fs::read_to_string(file).map_err(|it| failed(&it))?;
    let all: Value = match file.extension().is_some_and(|it| it == "toml") {
        true => toml::from_str(&text).map_err(|it| failed(&it))?,
        false => serde_json::from_str(&plain(&text)).map_err(|it| failed(&it))?,
    };
    // Some keep them one level down: `{"mcp": {"servers": …}}`.
    let inside = [Some(&all), all.get("mcp")];
    let found = inside.into_iter().flatten().find_map(|all| {
        MEMBERS
            .iter()
            .find_map(|member| all.get(member)?.as_object())
    });
    let found = found.ok_or_else(|| failed(&format!("it has none of {}", MEMBERS.join(", "))))?;
    let taken = found.iter();
    Ok(taken
        .map(|(name, it)| (name.clone(), taken_over(it)))
        .collect())
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
    server
}

/// JSON without the comments and last commas that some clients allow.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut in_text = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if in_text => {
                out.push(letter);
                out.extend(letters.next());
            }
            '"' => {
                in_text = !in_text;
                out.push(letter);
            }
            '/' if !in_text && letters.peek() == Some(&'/') => {
                while letters.next_if(|it| *it != '\n').is_some() {}
            }
            '/' if !in_text && letters.peek() == Some(&'*') => {
                let mut before = ' ';
                for it in letters.by_ref() {
                    if before == '*' && it == '/' {
                        break;
                    }
                    before = it;
                }
            }
            '}' | ']' if !in_text => {
                let end = out.trim_end().len();
                if out[..end].ends_with(',') {
                    out.truncate(end - 1);
                }
                out.push(letter);
            }
            other => out.push(other),
        }
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
    }

    #[test]
    fn what_looks_secret_and_stands_there_is_found() {
        let server = json!({"command": "a", "env": {"API_KEY": "abc", "OTHER_TOKEN": "${TOKEN}", "LANG": "C"}});
        assert_eq!(in_the_clear(&server).collect::<Vec<_>>(), ["API_KEY"]);
        let server = json!({"url": "http://x", "headers": {"Authorization": "Bearer abc"}});
        assert_eq!(in_the_clear(&server).collect::<Vec<_>>(), ["Authorization"]);
        let server = json!({"url": "http://x", "auth": {"client_id": "a", "client_secret": "b"}});
        assert_eq!(in_the_clear(&server).collect::<Vec<_>>(), ["client_secret"]);
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
}
