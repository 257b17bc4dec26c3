//! Flags of the commands that exchange tools and servers with other programs.

use super::time_past;
use catalog::caller::Transport;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use executions::Status;
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
    /// The operations of an OpenAPI 3.0 or 3.1 document in JSON, as HTTP tools
    #[command(name = "openapi")]
    OpenApi(OpenApiImport),
}

#[derive(Debug, Args)]
pub(crate) struct OpenApiImport {
    /// The document, `-` for stdin
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Where the API is, instead of what the document says
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Only operations whose name, `METHOD /path` or tag fits a pattern such as `pets_*`; can be given several times
    #[arg(long, value_name = "PATTERN")]
    pub(crate) pick: Vec<String>,
    /// Stands before every name
    #[arg(long, default_value = "")]
    pub(crate) prefix: String,
    /// Which secret a security scheme uses, instead of one that is named after it; `none` for tools that show nothing
    #[arg(long, value_name = "SCHEME=SECRET|none")]
    pub(crate) auth: Vec<String>,
    /// Let the document choose secrets also where they are for something else by now, or would be shown on several sites
    #[arg(long)]
    pub(crate) share_secrets: bool,
    /// Show what would become of each operation, without asking anybody
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
    pub(crate) preview: bool,
    /// Replace tools that have the same name
    #[arg(long)]
    pub(crate) force: bool,
    /// Check everything, say what would be added, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
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
    /// The tools you may call as an OpenAPI 3.1 document: one operation for each
    #[command(name = "openapi")]
    OpenApi {
        /// Only the tools of this toolset
        #[arg(long, value_name = "NAME")]
        toolset: Option<String>,
    },
    /// The upstream MCP servers as other clients have them (mcpServers), with ${NAME} for what is sealed
    McpServers {
        /// Only these
        #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
        only: Vec<String>,
    },
    /// sql and expression tools, into a new database with h_custom_tool and h_custom_tool_param
    HCustomTool(CustomExport),
    /// The execution log, oldest first, a line of JSON for each call
    Log(ExportLog),
    /// The audit log, oldest first, a line of JSON for each act
    Audit(ExportAudit),
}

#[derive(Debug, Args)]
pub(crate) struct ExportLog {
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only calls that ended so; `started` are those that have not ended
    #[arg(long, value_parser = PossibleValuesParser::new(Status::ALL.map(Status::as_str)))]
    pub(crate) status: Option<String>,
    /// Only calls of this user
    #[arg(long, value_name = "NAME")]
    pub(crate) caller: Option<String>,
    /// Only calls that came in so; several with commas between them
    #[arg(long, value_name = "WAY", value_delimiter = ',', value_parser = PossibleValuesParser::new(Transport::ALL.map(Transport::as_str)))]
    pub(crate) transport: Vec<String>,
    /// Only calls since a time (2026-01-31T12:00:00Z) or a span back from now (90s, 15m, 2h, 7d)
    #[arg(long, value_name = "TIME", value_parser = time_past)]
    pub(crate) since: Option<String>,
    /// Only calls before a time
    #[arg(long, value_name = "TIME", value_parser = time_past)]
    pub(crate) until: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportAudit {
    /// Only what this user did
    #[arg(long, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// Only acts such as user.create
    #[arg(long)]
    pub(crate) action: Option<String>,
    /// Only what was done to this, such as user:kim
    #[arg(long)]
    pub(crate) target: Option<String>,
    /// Only acts since a time (2026-01-31T12:00:00Z) or a span back from now (90s, 15m, 2h, 7d)
    #[arg(long, value_name = "TIME", value_parser = time_past)]
    pub(crate) since: Option<String>,
    /// Only acts before a time
    #[arg(long, value_name = "TIME", value_parser = time_past)]
    pub(crate) until: Option<String>,
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
