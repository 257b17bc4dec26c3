//! The commands and flags, as `clap` knows them; help, completions and the manual page are made from here.

mod access;
mod agents;
mod choosing;
mod connecting;
mod exchange;
mod runs;
mod servers;
mod skills;
mod sources;
mod toolsets;
mod vectors;

pub(crate) use access::{Audit, Explain, Policy, Users};
pub(crate) use agents::Agents;
pub(crate) use choosing::{Confirming, Eval, Trial};
pub(crate) use connecting::{Connect, Mcp, McpClient};
pub(crate) use exchange::{
    Apply, CustomExport, CustomImport, Export, ExportAudit, ExportLog, Import, OpenApiImport,
};
pub(crate) use runs::{Run, Runs, with_requests};
pub(crate) use servers::Servers;
pub(crate) use skills::Skills;
pub(crate) use sources::Sources;
pub(crate) use toolsets::Toolsets;
pub(crate) use vectors::{Destination, Vectors};

use catalog::caller::Transport;
use catalog::clock::Clock;
use catalog::tool::{KindName, Shelf};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, value_parser};
use executions::Status;
use std::path::PathBuf;

/// Keeps the tools that your AI agents may use, and runs them.
#[derive(Debug, Parser)]
#[command(
    name = "toolcrib",
    version,
    after_help = "Exit codes: 0 ok, 1 the tool or request failed, 2 usage, 3 configuration invalid, 4 server unreachable."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Print one JSON document; a failure is {"error": {"code", "message", "details", "request_id"}}
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The workspace folder [env: TOOLCRIB_WORKSPACE] [default: the current folder, else your own]
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) workspace: Option<PathBuf>,
    /// The data folder [env: TOOLCRIB_DATA] [default: .toolcrib in the workspace]
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,
    /// The configuration file [default: toolcrib.toml in the workspace]
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    /// Ask the server at this address instead of the workspace [env: TOOLCRIB_URL]
    #[arg(long, global = true, conflicts_with_all = ["workspace", "data", "config"])]
    pub(crate) url: Option<String>,
    /// The API key for --url [env: TOOLCRIB_KEY]
    #[arg(long, global = true)]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a starter workspace
    Init {
        /// Where to make it [default: the folder of --workspace, else the current one]
        #[arg(value_hint = clap::ValueHint::DirPath)]
        folder: Option<PathBuf>,
    },
    /// Run the server
    Serve(Serve),
    /// Speak MCP on stdin and stdout, for clients that start their servers themselves
    Mcp(Mcp),
    /// Print what an MCP client needs to find this workspace, or the server of --url
    Connect(Connect),
    /// Take over what other programs have written down
    #[command(subcommand)]
    Import(Import),
    /// Hand the registry on: as a folder for git, or tools to other programs
    #[command(subcommand)]
    Export(Export),
    /// Make the registry what a folder says, after showing what that changes
    Apply(Apply),
    /// Call a tool and print what it answers
    Call(Call),
    /// Have a request answered: tools are chosen and called until it is done
    Run(Run),
    /// List, show, answer and stop runs
    #[command(subcommand)]
    Runs(Runs),
    /// List, show and change agents: models that runs ask
    #[command(subcommand)]
    Agents(Agents),
    /// List, show and change tools
    #[command(subcommand)]
    Tools(Tools),
    /// List, show and change toolsets: selections of tools with an MCP address of their own
    #[command(subcommand)]
    Toolsets(Toolsets),
    /// Show the execution log, newest first
    Log(Log),
    /// Make, list and revoke API keys
    #[command(subcommand)]
    Keys(Keys),
    /// Make, list, change and remove users
    #[command(subcommand)]
    Users(Users),
    /// Show, set and explain the policy: which tools are kept from whom
    #[command(subcommand)]
    Policy(Policy),
    /// Show and verify the audit log: who changed what
    #[command(subcommand)]
    Audit(Audit),
    /// Set how many calls a day a user may make or a tool may take
    #[command(subcommand)]
    Limits(Limits),
    /// Show how much of each limit is used up
    Usage,
    /// Show and keep the upstream MCP servers, and approve what they changed
    #[command(subcommand)]
    Servers(Servers),
    /// Show, keep and test the databases that SQL tools use
    #[command(subcommand)]
    Sources(Sources),
    /// Keep what tools must know and nobody may read
    #[command(subcommand)]
    Secrets(Secrets),
    /// Keep documents that are found by what they mean, for get_sim_search and for agents
    #[command(subcommand)]
    Vectors(Vectors),
    /// Show the instructions that agents load for kinds of work
    #[command(subcommand)]
    Skills(Skills),
    /// Measure how often the right tool is chosen for requests of which that is known
    Eval(Eval),
    /// Copy everything into a new folder, also while the server runs: registry, log, vectors, tools.json, mcp.json, toolcrib.toml
    Backup {
        /// A folder that does not exist yet, or is empty
        #[arg(value_hint = clap::ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Put a backup in place; nobody may be using the workspace. A toolcrib.toml that is there is left as it is
    Restore {
        /// A folder made by `toolcrib backup`
        #[arg(value_hint = clap::ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Say what is wrong with this installation and how to mend it
    Doctor,
    /// Show the configuration
    #[command(subcommand)]
    Config(Config),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the program, or of one of its commands
    Man {
        /// The command, such as `tools add`
        #[arg(value_name = "COMMAND", conflicts_with = "out")]
        command: Vec<String>,
        /// Write the pages of all commands into this folder
        #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:8787]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// A PostgreSQL address for registry and log [env: DATABASE_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// No key needed; only on a loopback address
    #[arg(long)]
    pub(crate) dev: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Call {
    /// Name or id of the tool
    pub(crate) name: String,
    /// The arguments as JSON, `-` to read them from stdin, or `@FILE`
    pub(crate) arguments: Option<String>,
    /// Give up after so many seconds; can only shorten the tool's own deadline
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<f64>,
    /// The same key with the same arguments never runs twice within a day
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

/// A definition made from what is there already.
#[derive(Debug, Args)]
pub(crate) struct Making {
    /// Make it from a function of this script of the workspace: signature and docstring say the rest
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "from_curl")]
    pub(crate) from_python: Option<PathBuf>,
    /// Make it from a curl command line
    #[arg(long, value_name = "LINE")]
    pub(crate) from_curl: Option<String>,
    /// The function of the script [default: execute, or the only one]
    #[arg(long, requires = "from_python")]
    pub(crate) function: Option<String>,
    /// Its name, instead of the one that is made up
    #[arg(long, conflicts_with = "definition")]
    pub(crate) name: Option<String>,
    /// Its description, instead of the one that is made up
    #[arg(long, conflicts_with = "definition")]
    pub(crate) description: Option<String>,
    /// Only print the definition
    #[arg(long, conflicts_with = "definition")]
    pub(crate) print: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List tools
    List(ToolFilter),
    /// Find the tools that fit a request, and say whether it needs one (`list --q` looks for words)
    Search {
        /// What is to be done, in English or Korean
        #[arg(required = true, value_name = "REQUEST")]
        words: Vec<String>,
        /// How many tools to show at most
        #[arg(long, default_value_t = 5, value_parser = value_parser!(u16).range(1..=50))]
        limit: u16,
    },
    /// Show one tool
    Show {
        /// Name or id of the tool
        name: String,
    },
    /// Register a tool
    Add {
        /// The definition as JSON, `@FILE` or the path of a file that holds it, or `-` for stdin
        #[arg(required_unless_present_any = ["from_python", "from_curl"], conflicts_with_all = ["from_python", "from_curl"])]
        definition: Option<String>,
        #[command(flatten)]
        making: Making,
        /// Where it lives: `database` or `file` (tools.json)
        #[arg(long, value_parser = ["database", "file"])]
        shelf: Option<String>,
        #[command(flatten)]
        trial: Trial,
    },
    /// Replace a tool's definition
    Update {
        /// Name or id of the tool
        name: String,
        /// The definition as JSON, `@FILE` or the path of a file that holds it, or `-` for stdin
        definition: String,
        /// Change only the members that are given; null removes one
        #[arg(long)]
        patch: bool,
        #[command(flatten)]
        trial: Trial,
    },
    /// Remove a tool; `restore` brings it back
    Remove {
        /// Name or id of the tool
        name: String,
    },
    /// Let a tool be called again
    Enable {
        /// Name or id of the tool
        name: String,
    },
    /// Refuse every call of a tool
    Disable {
        /// Name or id of the tool
        name: String,
    },
    /// Run the saved tests of tools, or of a definition that is not saved
    Test {
        /// Names or ids of saved tools [default: all that have tests]
        #[arg(value_name = "NAME", conflicts_with = "file")]
        names: Vec<String>,
        /// A definition as JSON, `@FILE` or the path of a file that holds it, or `-` for stdin
        #[arg(long, value_name = "DEFINITION")]
        file: Option<String>,
    },
    /// Show how the database would run the query of an sql tool; nothing is run
    Explain {
        /// Name or id of the tool
        name: String,
        /// The arguments as JSON, `-` to read them from stdin, or `@FILE` [default: all are null]
        arguments: Option<String>,
    },
    /// Show every change of a tool: who, when, what
    History {
        /// Name or id of the tool
        name: String,
        /// Show what this version changed
        #[arg(long, value_name = "VERSION", conflicts_with = "limit", value_parser = value_parser!(i64).range(1..))]
        diff: Option<i64>,
        /// How many versions to show at most
        #[arg(long, default_value_t = 50, value_parser = value_parser!(u16).range(1..=500))]
        limit: u16,
    },
    /// Make an earlier version the newest one
    Rollback {
        /// Name or id of the tool
        name: String,
        /// As `history` counts them
        #[arg(value_parser = value_parser!(i64).range(1..))]
        version: i64,
    },
    /// Bring a removed tool back
    Restore {
        /// The name it had, or its id
        name: String,
    },
    #[command(flatten)]
    Confirming(Confirming),
}

#[derive(Debug, Args)]
pub(crate) struct ToolFilter {
    /// Words that must stand in the name or a description
    #[arg(long)]
    pub(crate) q: Option<String>,
    /// Only tools of this kind
    #[arg(long, value_parser = PossibleValuesParser::new(KindName::ALL.map(KindName::as_str)))]
    pub(crate) kind: Option<String>,
    /// Only active tools, or with `false` only the others
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) active: Option<bool>,
    /// Only tools that are kept there
    #[arg(long, value_parser = PossibleValuesParser::new(Shelf::ALL.map(Shelf::as_str)))]
    pub(crate) shelf: Option<String>,
    /// Only SQL tools that ask this source
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Only tools that this MCP server runs
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only tools of whose calls this is the worst that may come
    #[arg(long, value_parser = ["read_only", "writes", "destructive"])]
    pub(crate) risk: Option<String>,
    /// At most so many [default: all]
    #[arg(long, value_parser = value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only calls that ended so; `started` are those that have not ended
    #[arg(long, value_parser = PossibleValuesParser::new(Status::ALL.map(Status::as_str)))]
    pub(crate) status: Option<String>,
    /// Only calls that came in so; several with commas between them
    #[arg(long, value_name = "WAY", value_delimiter = ',', value_parser = PossibleValuesParser::new(Transport::ALL.map(Transport::as_str)))]
    pub(crate) transport: Vec<String>,
    /// Only calls since a time (2026-01-31T12:00:00Z) or a span back from now (90s, 15m, 2h, 7d)
    #[arg(long, value_name = "TIME", value_parser = time_past)]
    pub(crate) since: Option<String>,
    /// How many calls to show at most
    #[arg(long, default_value_t = 20, value_parser = value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// Go on and show calls as they end
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Make a key; it is shown only now
    Create {
        /// What it is for, such as `ci` or `claude-desktop`
        name: String,
        /// Whose key it is [default: yours]
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// What it may do: any of these, separated by commas; no more than the user's role allows
        #[arg(long, value_delimiter = ',', default_value = "read,call", value_parser = ["read", "call", "author", "operate", "admin"])]
        scopes: Vec<String>,
        /// When it ends, such as 2027-01-31T12:00:00Z, or a span from now on (90d)
        #[arg(long, value_name = "TIME", value_parser = time_ahead)]
        expires_at: Option<String>,
    },
    /// List keys, never their secrets
    List,
    /// Revoke a key by its id or name
    Revoke {
        #[arg(value_name = "ID_OR_NAME")]
        which: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Limits {
    /// List the daily quotas
    List,
    /// Set the quota of a user or tool for each day, from midnight to midnight UTC
    Set {
        /// What it is for
        #[arg(value_name = "TYPE", value_parser = ["USER", "TOOL"], ignore_case = true)]
        kind: String,
        /// Name or id of the user or tool
        name: String,
        /// Calls a day; 0 refuses every call
        #[arg(value_parser = value_parser!(i64).range(0..))]
        max: i64,
    },
    /// Lift the quota of a user or tool
    Remove {
        /// What it is for
        #[arg(value_name = "TYPE", value_parser = ["USER", "TOOL"], ignore_case = true)]
        kind: String,
        /// Name or id of the user or tool
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// List secrets, never their values
    List,
    /// Set a secret; tools refer to it as {"$secret": "NAME"}
    Set {
        /// What definitions call it
        name: String,
        /// `-` to read the value from stdin, or `@FILE` [default: asked for, without echo]
        #[arg(long, value_name = "-|@FILE")]
        value: Option<String>,
    },
    /// Remove a secret
    Remove {
        /// What definitions call it
        name: String,
        /// Also one that tools refer to; they fail from then on
        #[arg(long)]
        force: bool,
    },
    /// Put every secret under the newest sealing key; goes on where an earlier run was cut off
    Rotate,
    /// Open every secret and name those that do not open
    Verify,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Every value of this folder's files and environment, and where it came from
    Show,
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|seconds| seconds.is_finite() && *seconds > 0.0)
        .ok_or_else(|| "expected a number of seconds above 0, such as 2.5".to_owned())
}

/// The text itself goes to the server, whose clock counts; here only a mistyped one is caught.
fn time_past(text: &str) -> Result<String, String> {
    let read = app::time::parse("a time", text, Clock::System.now());
    read.map(|_| text.to_owned()).map_err(|e| e.to_string())
}

fn time_ahead(text: &str) -> Result<String, String> {
    let read = app::time::parse_ahead("a time", text, Clock::System.now());
    read.map(|_| text.to_owned()).map_err(|e| e.to_string())
}
