//! `toolcrib connect`: what to write where, so that an MCP client finds this workspace or server.

use super::mcp::{path, server_url};
use super::toolset_there;
use crate::cli::{Connect, McpClient};
use crate::client::Client;
use crate::context::Context;
use crate::out::{Failure, Result};
use crate::workspace::is_workspace;
use catalog::names::Names;
use serde_json::{Value, json};

/// Where a key is to be written, for clients that read no variables.
const KEY_HERE: &str = "WRITE-THE-KEY-HERE";

const VARIABLE: &str = "TOOLCRIB_KEY";

/// How a client is told of a server.
struct Place {
    file: &'static str,
    /// The member that holds the servers.
    member: &'static str,
    /// What the address of a server over HTTP is called.
    url: &'static str,
    /// Whether a server says what it is.
    has_type: bool,
    key: KeyForm,
}

/// How a client is told the key of a server over HTTP. It is named, not shown: such files are read by many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyForm {
    /// `${NAME}` in a header.
    Braces,
    /// `${env:NAME}` in a header.
    Env,
    /// The name of the variable, in a member of its own.
    Named,
    /// It reads no variables.
    Written,
    /// It calls no server with a key at all: `toolcrib mcp` does that for it.
    Bridged,
}

fn place(client: McpClient) -> Place {
    let place = |file, member, url, has_type, key| Place {
        file,
        member,
        url,
        has_type,
        key,
    };
    let servers = "mcpServers";
    match client {
        McpClient::ClaudeDesktop => place(
            "claude_desktop_config.json (Settings → Developer → Edit Config)",
            servers,
            "url",
            false,
            KeyForm::Bridged,
        ),
        McpClient::ClaudeCode => place(
            ".mcp.json in the project",
            servers,
            "url",
            true,
            KeyForm::Braces,
        ),
        McpClient::Cursor => place("~/.cursor/mcp.json", servers, "url", false, KeyForm::Env),
        McpClient::Vscode => place(
            ".vscode/mcp.json in the project",
            "servers",
            "url",
            true,
            KeyForm::Env,
        ),
        McpClient::Windsurf => place(
            "~/.codeium/windsurf/mcp_config.json",
            servers,
            "serverUrl",
            false,
            KeyForm::Env,
        ),
        McpClient::Gemini => place(
            "~/.gemini/settings.json",
            servers,
            "httpUrl",
            false,
            KeyForm::Braces,
        ),
        McpClient::Codex => place(
            "~/.codex/config.toml",
            "mcp_servers",
            "url",
            false,
            KeyForm::Named,
        ),
        McpClient::Zed => place(
            "settings.json of Zed",
            "context_servers",
            "url",
            false,
            KeyForm::Written,
        ),
    }
}

pub(crate) async fn run(context: &Context, connect: &Connect) -> Result {
    let place = place(connect.client);
    let name = connect.name.as_deref().unwrap_or("toolcrib");
    let url = server_url(context)?;
    check_path(url)?;
    if let Some(toolset) = &connect.toolset {
        check_toolset(context, url, toolset).await?;
    }
    let entry = match url {
        Some(url) => remote(context, connect, &place, url)?,
        None => local(context, connect, &place)?,
    };
    let text = match connect.client {
        McpClient::Codex => toml_text(name, &entry)?,
        _ => {
            let all = json!({place.member: {name: entry}});
            serde_json::to_string_pretty(&all).unwrap_or_default()
        }
    };
    if context.out.json {
        context
            .out
            .value(&json!({"client": connect.client.name(), "file": place.file, "text": text}));
        return Ok(());
    }
    context.out.note(format!("put this into {}:", place.file));
    context.out.line(text);
    Ok(())
}

/// Who writes the MCP address where that of the server belongs would get it twice.
fn check_path(url: Option<&str>) -> Result {
    let parts = url.unwrap_or_default().trim_end_matches('/').rsplit('/');
    let is_there = parts.take(2).any(|part| matches!(part, "mcp" | "sse"));
    match is_there {
        false => Ok(()),
        true => Err(
            Failure::usage("--url: expected the server's own address, without /mcp")
                .hint("what the client needs is put behind it; --toolset names a toolset"),
        ),
    }
}

/// Claude Desktop leaves out a server that has a dot in a name of a tool.
fn names(connect: &Connect) -> Option<Names> {
    let by_itself = (connect.client == McpClient::ClaudeDesktop).then_some(Names::Plain);
    connect.names.or(by_itself)
}

/// The client starts `toolcrib mcp` itself.
fn local(context: &Context, connect: &Connect, place: &Place) -> Result<Value> {
    let found = context.place()?;
    let shown = found.workspace.display();
    if !is_workspace(&found.workspace) {
        // Without a name `toolcrib mcp` makes it; one that is named has to be there.
        if found.is_default && !found.workspace.exists() {
            context.out.note(format!(
                "this folder is no workspace; where the client starts it in one, that is used, and else {shown} is made"
            ));
            return started(connect, place, &[]);
        }
        context.out.warn(format!(
            "{shown} is no workspace yet; `toolcrib init {shown}` makes one there"
        ));
    }
    started(
        connect,
        place,
        &["--workspace".to_owned(), shown.to_string()],
    )
}

fn started(connect: &Connect, place: &Place, reached: &[String]) -> Result<Value> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::failed(format!("where this program is cannot be told: {error}"))
    })?;
    let mut args = vec!["mcp".to_owned()];
    args.extend(reached.iter().cloned());
    if let Some(toolset) = &connect.toolset {
        args.extend(["--toolset".to_owned(), toolset.clone()]);
    }
    if let Some(names) = names(connect) {
        args.extend(["--names".to_owned(), names.as_str().to_owned()]);
    }
    let mut entry = json!({"command": program.display().to_string(), "args": args});
    if place.has_type {
        entry["type"] = "stdio".into();
    }
    Ok(entry)
}

/// The client calls a server over HTTP, or starts what does.
fn remote(context: &Context, connect: &Connect, place: &Place, url: &str) -> Result<Value> {
    let key = context.global.key.as_deref();
    if key.is_none() {
        tell_key(context, connect, place.key);
    }
    if place.key == KeyForm::Bridged {
        let url = url.trim_end_matches('/').to_owned();
        let mut entry = started(connect, place, &["--url".to_owned(), url])?;
        entry["env"] = json!({VARIABLE: key.unwrap_or(KEY_HERE)});
        return Ok(entry);
    }
    let path = path(connect.toolset.as_deref(), names(connect));
    let url = format!("{}{path}", url.trim_end_matches('/'));
    if place.key == KeyForm::Named {
        return Ok(json!({"url": url, "bearer_token_env_var": VARIABLE}));
    }
    let named = match place.key {
        KeyForm::Env => format!("${{env:{VARIABLE}}}"),
        KeyForm::Written => KEY_HERE.to_owned(),
        _ => format!("${{{VARIABLE}}}"),
    };
    let key = key.map_or(named, str::to_owned);
    let mut entry = json!({place.url: url, "headers": {"Authorization": format!("Bearer {key}")}});
    if place.has_type {
        entry["type"] = "http".into();
    }
    Ok(entry)
}

/// What is still to be done about the key.
fn tell_key(context: &Context, connect: &Connect, form: KeyForm) {
    let client = connect.client.name();
    let made = format!("`toolcrib keys create {client}` on the server makes one");
    context.out.say(match form {
        KeyForm::Bridged | KeyForm::Written => {
            format!("write a key of the server in place of {KEY_HERE}; {made}")
        }
        _ => format!(
            "the variable {VARIABLE} must be set to a key of the server where {client} is started; {made}"
        ),
    });
}

/// That there is such a toolset, where that can be known.
async fn check_toolset(context: &Context, url: Option<&str>, toolset: &str) -> Result {
    if let Some(url) = url {
        let ask = async |path: &str| toolset_there::at(context, url, path).await;
        return toolset_there::check(context, toolset, ask).await;
    }
    if !is_workspace(&context.place()?.workspace) {
        let ask = async |_: &str| Err("there is no workspace".to_owned());
        return toolset_there::check(context, toolset, ask).await;
    }
    let client = match Client::open(context).await {
        Ok(client) => client,
        Err(failure) => {
            let ask = async |_: &str| Err(failure.errors.join("; "));
            return toolset_there::check(context, toolset, ask).await;
        }
    };
    let ask = async |path: &str| toolset_there::by(&client, path).await;
    let checked = toolset_there::check(context, toolset, ask).await;
    client.close().await;
    checked
}

fn toml_text(name: &str, entry: &Value) -> Result<String> {
    let all = json!({"mcp_servers": {name: entry}});
    toml::to_string_pretty(&all)
        .map_err(|error| Failure::failed(format!("the entry cannot be written: {error}")))
}
