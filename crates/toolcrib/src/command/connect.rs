//! `toolcrib connect`: what to write where, so that an MCP client finds this workspace or server.

use crate::cli::{Connect, McpClient};
use crate::context::Context;
use crate::out::{Failure, Result};
use serde_json::{Value, json};

/// How a client is told of a server.
struct Place {
    file: &'static str,
    /// The member that holds the servers.
    member: &'static str,
    /// What the address of a server over HTTP is called.
    url: &'static str,
    /// Whether a server says what it is.
    has_type: bool,
}

fn place(client: McpClient) -> Place {
    let place = |file, member, url, has_type| Place {
        file,
        member,
        url,
        has_type,
    };
    match client {
        McpClient::ClaudeDesktop => place(
            "claude_desktop_config.json (Settings → Developer → Edit Config)",
            "mcpServers",
            "url",
            false,
        ),
        McpClient::ClaudeCode => place(".mcp.json in the project", "mcpServers", "url", true),
        McpClient::Cursor => place("~/.cursor/mcp.json", "mcpServers", "url", false),
        McpClient::Vscode => place(".vscode/mcp.json in the project", "servers", "url", true),
        McpClient::Windsurf => place(
            "~/.codeium/windsurf/mcp_config.json",
            "mcpServers",
            "serverUrl",
            false,
        ),
        McpClient::Gemini => place("~/.gemini/settings.json", "mcpServers", "httpUrl", false),
        McpClient::Codex => place("~/.codex/config.toml", "mcp_servers", "url", false),
        McpClient::Zed => place("settings.json of Zed", "context_servers", "url", false),
    }
}

pub(crate) fn run(context: &Context, connect: &Connect) -> Result {
    let place = place(connect.client);
    let name = connect.name.as_deref().unwrap_or("toolcrib");
    let entry = match context.server_url() {
        Some(url) => remote(context, connect, &place, url),
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

/// The client starts `toolcrib mcp` itself.
fn local(context: &Context, connect: &Connect, place: &Place) -> Result<Value> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::failed(format!("where this program is cannot be told: {error}"))
    })?;
    let workspace = context.place()?.workspace;
    let workspace = std::path::absolute(&workspace).unwrap_or(workspace);
    let mut args = vec![
        "mcp".to_owned(),
        "--workspace".to_owned(),
        workspace.display().to_string(),
    ];
    if let Some(toolset) = &connect.toolset {
        args.extend(["--toolset".to_owned(), toolset.clone()]);
    }
    let mut entry = json!({"command": program.display().to_string(), "args": args});
    if place.has_type {
        entry["type"] = "stdio".into();
    }
    Ok(entry)
}

/// The client calls a server over HTTP. The key is named, not shown: such files are read by many.
fn remote(context: &Context, connect: &Connect, place: &Place, url: &str) -> Value {
    let path = match &connect.toolset {
        Some(toolset) => format!("/mcp/{toolset}"),
        None => "/mcp".to_owned(),
    };
    let url = format!("{}{path}", url.trim_end_matches('/'));
    let key = context.global.key.as_deref().unwrap_or("${TOOLCRIB_KEY}");
    if connect.client == McpClient::Codex {
        return json!({"url": url, "bearer_token_env_var": "TOOLCRIB_KEY"});
    }
    let mut entry = json!({place.url: url, "headers": {"Authorization": format!("Bearer {key}")}});
    if place.has_type {
        entry["type"] = "http".into();
    }
    entry
}

fn toml_text(name: &str, entry: &Value) -> Result<String> {
    let all = json!({"mcp_servers": {name: entry}});
    toml::to_string_pretty(&all)
        .map_err(|error| Failure::failed(format!("the entry cannot be written: {error}")))
}
