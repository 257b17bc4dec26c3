//! Flags of the commands that exchange tools and servers with other programs.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// The MCP servers of a client's configuration, into mcp.json
    McpServers {
        /// claude_desktop_config.json, .vscode/mcp.json, config.toml of Codex and their like
        #[arg(value_hint = clap::ValueHint::FilePath)]
        file: PathBuf,
        /// Replace servers that have the same name
        #[arg(long)]
        force: bool,
        /// Take only these, by their names in the file
        #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
        only: Vec<String>,
        /// Say what would be added, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// The tools of a database with h_custom_tool and h_custom_tool_param: SQL becomes sql, PYTHON becomes expression
    HCustomTool(CustomImport),
}

#[derive(Debug, Args)]
pub(crate) struct CustomImport {
    /// A SQLite file
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The source that its SQL tools are to ask
    #[arg(long, value_name = "NAME")]
    pub(crate) source: String,
    /// What its SQL tools answer: the first row as an object, all rows, or one value. Unless given, new ones answer a row and
    /// those that are there what they did
    #[arg(long, value_parser = ["row", "records", "scalar"])]
    pub(crate) result: Option<String>,
    /// Replace tools that have the same name; what the file cannot say of them stays
    #[arg(long)]
    pub(crate) force: bool,
    /// Take only these, by their names in the file
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Check everything, say what would be added, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// The whole registry as a folder of JSON files for git, secrets as references; `apply` is the way back
    Registry {
        /// Where to; what an earlier export wrote there is brought up to date, and nothing else is touched
        #[arg(value_hint = clap::ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// sql and expression tools, into a new database with h_custom_tool and h_custom_tool_param
    HCustomTool(CustomExport),
}

#[derive(Debug, Args)]
pub(crate) struct CustomExport {
    /// A SQLite file that is not there yet
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Only these tools
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// A folder made by `toolcrib export registry`
    #[arg(value_hint = clap::ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove what is there and not in the folder; users and secrets always stay
    #[arg(long)]
    pub(crate) prune: bool,
    /// JSON with the values of what is sealed where the folder came from: {"tools/NAME.json": {"auth_config.token": "…"}}
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) values: Option<PathBuf>,
}
