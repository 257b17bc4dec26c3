//! The kinds of tool, one file each, and the one list of them. A new kind is its file and a line here.

pub mod builtin;
mod confined;
mod expression;
pub mod http;
mod mcp;
mod parts;
mod python;
pub mod retrieval;
mod shell;
pub mod sources;
pub mod sql;
mod template;
pub mod upstream;

pub use expression::{EXPRESSION, EXPRESSION_SEAL};
pub use parts::{DOCUMENTS, DOCUMENTS_SEAL};

use ::mcp::upstream::{Credentials, Notice, Upstreams};
use catalog::tool::{KindName, Tool};
use executor::Kinds;
use parts::Parts;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A Python program that tells what a function of a script takes; see its first lines.
pub const DESCRIBE: &str = include_str!("python/describe.py");

/// What the kinds need to know of where they run.
#[derive(Debug, Clone)]
pub struct Options {
    /// This program, or one that behaves the same where it is told to be a worker.
    pub program: PathBuf,
    pub evaluation: Evaluation,
    /// Builtins that exist only to test this program: `fixture_wait` and its like.
    pub fixtures: bool,
    /// Whether the tools of the MCP conformance suite are there.
    pub conformance: bool,
    /// Which server this is, where it is one.
    pub node: Option<String>,
    /// Where scripts and programs are looked for, and run.
    pub workspace: PathBuf,
    /// Environments of scripts are kept there.
    pub data: PathBuf,
    /// What no tool in a sandbox, and no document reader, ever sees: the data folder, keys, the configuration.
    pub hidden: Vec<PathBuf>,
    /// Builtins that there are not to be.
    pub disabled: Vec<String>,
    /// See `passed_on`.
    pub environment: Vec<(OsString, OsString)>,
    pub python: PythonOptions,
    /// What tools may call although it is not public.
    pub http_allow: Vec<fetch::Allowed>,
    pub web_search: builtin::SearchOptions,
    pub vectors: retrieval::VectorOptions,
    pub upstreams: ::mcp::upstream::Settings,
}

/// How scripts run that do not say otherwise.
#[derive(Debug, Clone)]
pub struct PythonOptions {
    pub interpreter: OsString,
    /// What a process may have in memory while a call runs.
    pub memory_bytes_max: u64,
    /// What installing needs besides `Options::environment`, such as the address of an index.
    pub installing: Vec<(OsString, OsString)>,
}

/// Where the calculator computes.
#[derive(Debug, Clone, Copy, Default)]
pub enum Evaluation {
    /// In this process, where nothing can stop an endless expression. Only for tests and examples of crates that have
    /// no program to start; it is the default because they are the ones who do not say.
    #[default]
    Here,
    /// In sealed workers.
    Aside,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            program: process::PROGRAM.into(),
            evaluation: Evaluation::default(),
            fixtures: false,
            conformance: false,
            node: None,
            workspace: PathBuf::new(),
            data: PathBuf::new(),
            hidden: Vec::new(),
            disabled: Vec::new(),
            environment: Vec::new(),
            python: PythonOptions {
                interpreter: "python3".into(),
                memory_bytes_max: 512 << 20,
                installing: Vec::new(),
            },
            http_allow: Vec::new(),
            web_search: builtin::SearchOptions::default(),
            vectors: retrieval::VectorOptions::default(),
            upstreams: ::mcp::upstream::Settings::default(),
        }
    }
}

/// The variables of the server's environment that programs cannot do without.
const PASSED_ON: [&str; 7] = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// Where programs are looked for by a server that was not told.
const PATH_OTHERWISE: &str = "/usr/local/bin:/usr/bin:/bin";

/// Those that installing Python packages depends on.
const INSTALLING: [&str; 17] = [
    "PIP_CERT",
    "PIP_CONFIG_FILE",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_NO_INDEX",
    "PIP_TRUSTED_HOST",
    "UV_CACHE_DIR",
    "UV_CONFIG_FILE",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_OFFLINE",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];

/// What of an environment programs are given.
pub fn passed_on(variable: impl Fn(&str) -> Option<String>) -> Vec<(OsString, OsString)> {
    let mut passed = chosen(&PASSED_ON, variable);
    if !passed.iter().any(|(name, _)| name == "PATH") {
        passed.push(("PATH".into(), PATH_OTHERWISE.into()));
    }
    passed
}

/// What more of it installing is given.
pub fn for_installing(variable: impl Fn(&str) -> Option<String>) -> Vec<(OsString, OsString)> {
    chosen(&INSTALLING, variable)
}

fn chosen(names: &[&str], variable: impl Fn(&str) -> Option<String>) -> Vec<(OsString, OsString)> {
    let set = names
        .iter()
        .filter_map(|name| Some((OsString::from(name), variable(name)?.into())));
    set.collect()
}

/// All there is.
pub struct All {
    pub kinds: Kinds,
    /// The tools that are in every catalogue, owned by the system.
    pub builtins: Vec<Tool>,
    /// The MCP servers that tools of kind `mcp` stand for. Nobody is connected to before they are told whom to.
    pub upstreams: Arc<Upstreams>,
    /// The databases of SQL tools; none until somebody puts them there.
    pub sources: Arc<sources::Sources>,
    /// Where vectors are made and kept.
    pub vectors: Arc<retrieval::Vectors>,
    /// Who calls out.
    pub fetcher: fetch::Fetcher,
    /// What upstream servers have to tell; taken by whoever listens.
    pub notices: Option<mpsc::UnboundedReceiver<Notice>>,
}

/// What this build can run. Upstream servers that want tokens are shown those of `credentials`.
pub fn all(options: &Options, credentials: Option<Arc<dyn Credentials>>) -> All {
    let parts = Parts::new(options);
    let builtins = builtin::Builtins::new(options, &parts);
    let (told, notices) = mpsc::unbounded_channel();
    let upstreams = Upstreams::new(::mcp::upstream::Options {
        spawner: Arc::clone(&parts.spawner),
        fetcher: parts.fetcher.clone(),
        environment: options.environment.clone(),
        folder: options.workspace.clone(),
        settings: options.upstreams.clone(),
        notices: told,
        credentials,
        node: options.node.clone(),
    });
    All {
        upstreams: Arc::clone(&upstreams),
        sources: Arc::clone(&parts.sources),
        vectors: Arc::clone(&parts.vectors),
        fetcher: parts.fetcher.clone(),
        notices: Some(notices),
        builtins: builtins.tools(),
        kinds: Kinds::default()
            .with(KindName::Builtin, builtins)
            .with(KindName::Expression, expression::Expressions::new(&parts))
            .with(KindName::Http, http::Http::new(parts.fetcher.clone()))
            .with(KindName::Mcp, mcp::Mcp(upstreams))
            .with(KindName::Python, python::Python::new(options, &parts))
            .with(KindName::Shell, shell::Shell::new(options, &parts))
            .with(KindName::Sql, sql::Sql::new(Arc::clone(&parts.sources))),
    }
}
