//! The commands about MCP clients: speaking to one, and telling one where this workspace is.

use catalog::names::Names;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// Which client
    pub(crate) client: McpClient,
    /// What the server is to be called there [default: toolcrib]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Only the tools of this toolset
    #[arg(long, value_name = "NAME")]
    pub(crate) toolset: Option<String>,
    /// Tools as `server.tool` (dotted) or `server__tool` (plain) [default: plain for claude-desktop, else the server's]
    #[arg(long, value_parser = names())]
    pub(crate) names: Option<Names>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum McpClient {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Windsurf,
    Gemini,
    Codex,
    Zed,
}

impl McpClient {
    pub(crate) fn name(self) -> String {
        let value = clap::ValueEnum::to_possible_value(&self);
        value.map_or_else(String::new, |it| it.get_name().to_owned())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Only the tools of this toolset
    #[arg(long, value_name = "NAME")]
    pub(crate) toolset: Option<String>,
    /// Tools as `server.tool` (dotted) or `server__tool` (plain), for clients that take no dots [default: the server's]
    #[arg(long, value_parser = names())]
    pub(crate) names: Option<Names>,
}

fn names() -> impl TypedValueParser<Value = Names> {
    let known = PossibleValuesParser::new(Names::NAMES);
    known.map(|name| Names::from_name(&name).unwrap_or_default())
}
