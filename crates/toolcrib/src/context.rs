//! What a command works with: the flags, the environment, the configuration and the place.

use crate::cli::Global;
use crate::config::{Config, Environment, Origin, Sources};
use crate::out::{Failure, Out, Result};
use crate::workspace::{NO_WORKSPACE_HERE, Place};
use app::sealing_keys::{KEY_FILE, KeySource};
use catalog::clock::Clock;
use catalog::names::Names;
use catalog::pinning::Pinning;
use catalog::policy::Policy;
use catalog::secret::Secret;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use telemetry::logs::ToCollector;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) out: Out,
    pub(crate) global: Global,
    pub(crate) environment: Environment,
}

impl Context {
    pub(crate) fn new(global: Global) -> Self {
        let environment = Environment::of_process();
        let out = Out::new(global.json, &environment);
        Context {
            out,
            global,
            environment,
        }
    }

    /// The server that is named by its address; a place that is named wins over the environment.
    pub(crate) fn server_url(&self) -> Option<&str> {
        let names_place = self.global.workspace.is_some() || self.global.data.is_some();
        let said = || {
            self.environment
                .filled("TOOLCRIB_URL")
                .filter(|_| !names_place)
        };
        self.global.url.as_deref().or_else(said)
    }

    pub(crate) fn place(&self) -> Result<Place> {
        Place::find(
            self.global.workspace.as_deref(),
            self.global.data.as_deref(),
            &self.environment,
        )
    }

    /// Where a workspace of the user's own is asked because the current folder is none: what to say when something is
    /// not found there.
    pub(crate) fn elsewhere(&self) -> Option<String> {
        let place = self.place().ok().filter(|place| place.is_default)?;
        let asked = self.server_url().is_none();
        asked.then(|| {
            format!(
                "{NO_WORKSPACE_HERE}, and {} was asked",
                place.workspace.display()
            )
        })
    }

    /// The configuration of a place, with the flags of a command laid over it.
    pub(crate) fn config(
        &self,
        place: &Place,
        flags: Vec<(&'static str, &'static str, &str)>,
    ) -> Result<Config> {
        let named = self.global.config.clone();
        let sources = Sources {
            file_named: named.is_some(),
            file: named.or_else(|| Some(place.config_file())),
            environment: self.environment.clone(),
            flags,
        };
        Config::load(&sources).map_err(|invalid| {
            let failure = Failure::configuration(invalid.problems);
            if invalid.has_unknown_key {
                return failure.hint(
                    "`toolcrib init DIR` makes a new folder whose toolcrib.toml shows every key",
                );
            }
            failure
        })
    }

    /// The file with the keys that open secrets, where no variable holds them.
    pub(crate) fn key_file(&self, place: &Place, config: &Config) -> PathBuf {
        match config.text("secrets.key_file") {
            "" => place.data.join(KEY_FILE),
            file => place.workspace.join(file),
        }
    }

    /// What the configuration decides about an `App`.
    pub(crate) fn app_options(&self, place: &Place, config: &Config, watch: bool) -> app::Options {
        let durability = match config.text("log.durability") {
            "full" => executions::Durability::Full,
            _ => executions::Durability::Normal,
        };
        let environment = self.environment.clone();
        let key_file = self.key_file(place, config);
        let variable = |name: &str| self.environment.get(name).map(str::to_owned);
        app::Options {
            workspace: place.workspace.clone(),
            data: place.data.clone(),
            database_url: config.database_url(),
            admin_key: config.admin_key.clone(),
            sealing: KeySource {
                text: config.secret_key.clone(),
                file: key_file.clone(),
            },
            policy: Policy::new(
                config.yes("policy.enforced"),
                &config.names("policy.whitelist").join(","),
            ),
            executor: executor(config),
            log: executions::Options {
                retention_days: u32::try_from(config.count("log.retention_days")).unwrap_or(30),
                retention_bytes: config.count("log.retention_megabytes") as u64 * 1_000_000,
                durability,
                entry_bytes_max: config.count("log.entry_bytes_max"),
                ..executions::Options::default()
            },
            servers: app::servers::Settings {
                commands_allowed: config.names("mcp.commands_allowed"),
                pinning: Pinning::from_name(config.text("mcp.pinning")).unwrap_or_default(),
            },
            sources: config.sources(),
            gold: place.workspace.join(config.text("selection.gold")),
            confirmed: config.yes("selection.confirmed"),
            own_encoder: config.text("selection.encoder") == "own",
            skills: skills_folder(place, config),
            pipeline: app::pipeline::Settings {
                mcp_tools: config.yes("features.mcp_tools"),
                tools_timeout_seconds: config.seconds("pipeline.tools_timeout_seconds"),
            },
            // It was checked when it was loaded.
            oidc: config.oidc().unwrap_or_default(),
            kinds: kinds::Options {
                evaluation: kinds::Evaluation::Aside,
                fixtures: config.yes("builtins.fixtures"),
                conformance: config.yes("mcp.conformance"),
                workspace: place.workspace.clone(),
                data: place.data.clone(),
                hidden: vec![
                    place.data.clone(),
                    key_file,
                    self.global
                        .config
                        .clone()
                        .unwrap_or_else(|| place.config_file()),
                ],
                disabled: config.names("builtins.disabled"),
                environment: kinds::passed_on(variable),
                python: kinds::PythonOptions {
                    interpreter: config.text("python.interpreter").into(),
                    memory_bytes_max: config.count("python.memory_bytes_max") as u64,
                    installing: kinds::for_installing(variable),
                },
                // It was checked when it was loaded.
                http_allow: config.http_allow().unwrap_or_default(),
                web_search: web_search(config),
                vectors: config.vectors(),
                upstreams: upstreams(config),
                ..kinds::Options::default()
            },
            // It was checked when it was loaded.
            runs: config.runs().unwrap_or_default(),
            env: Arc::new(move |name: &str| environment.get(name).map(str::to_owned)),
            clock: Clock::System,
            watch,
        }
    }

    /// Logging to stderr. A command other than `serve` is quiet unless it was asked not to be.
    pub(crate) fn start_logging(&self, config: &Config, serving: bool) -> ToCollector {
        let level = config.setting("telemetry.level");
        let quiet = !serving && level.origin == Origin::Default;
        let level = if quiet {
            "error"
        } else {
            config.text("telemetry.level")
        };
        let filter = match level {
            "error" | "warn" | "info" => format!("{DRIVERS},{level}"),
            more => more.to_owned(),
        };
        let written = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(self.out.colours_errors())
            .with_target(false);
        let written = match config.text("telemetry.format") {
            "json" => written.json().boxed(),
            _ => written.boxed(),
        };
        let to_collector = ToCollector::default();
        let logging = tracing_subscriber::registry()
            .with(tracing_subscriber::EnvFilter::new(filter))
            .with(written)
            .with(serving.then(|| to_collector.clone()));
        // Only a second subscriber can fail here, and there is none.
        let _ = logging.try_init();
        to_collector
    }
}

/// What the database driver tells of every statement that takes long and of every table that was there already: noise at each
/// start. Whoever wants more than usual gets it, too.
const DRIVERS: &str = "sqlx::query=error,sqlx::postgres::notice=warn";

/// What a server lets its clients hold and make it wait for.
pub(crate) fn limits(config: &Config) -> server::Limits {
    server::Limits {
        body_bytes_max: config.count("server.body_bytes_max"),
        head_timeout: config.duration("server.head_timeout_seconds"),
        body_timeout: config.duration("server.body_timeout_seconds"),
        connections_max: config.count("server.connections_max"),
        requests_max: config.count("server.requests_max"),
        streams_max: config.count("server.streams_max"),
        ..server::Limits::default()
    }
}

/// The executor's own limits.
fn executor(config: &Config) -> executor::Settings {
    executor::Settings {
        timeout_seconds_default: config.seconds("tools.timeout_seconds"),
        output_bytes_max: config.count("tools.output_bytes_max"),
        queue_max: config.count("tools.queue_max"),
        ..executor::Settings::default()
    }
}

fn web_search(config: &Config) -> kinds::builtin::SearchOptions {
    kinds::builtin::SearchOptions {
        provider: config.text("web_search.provider").to_owned(),
        base_url: config.text("web_search.base_url").to_owned(),
        api_key: match config.text("web_search.api_key") {
            "" => None,
            key => Some(Secret::new(key.to_owned())),
        },
    }
}

/// How upstream MCP servers are kept connected.
fn upstreams(config: &Config) -> ::mcp::upstream::Settings {
    let idle = config.count("mcp.program_idle_seconds");
    ::mcp::upstream::Settings {
        idle: (idle > 0).then(|| Duration::from_secs(idle as u64)),
        ..::mcp::upstream::Settings::default()
    }
}

pub(crate) fn mcp(config: &Config) -> face::Settings {
    let instructions = config.text("mcp.instructions");
    face::Settings {
        session_idle: config.duration("mcp.session_idle_seconds"),
        sessions_max: config.count("mcp.sessions_max"),
        user_sessions_max: config.count("mcp.user_sessions_max"),
        instructions: (!instructions.is_empty()).then(|| instructions.to_owned()),
        find_tools_above: config.count("mcp.find_tools_above"),
        names: Names::from_name(config.text("mcp.names")).unwrap_or_default(),
        conformance: config.yes("mcp.conformance"),
    }
}

/// By which names a server answers. On loopback only this machine's own: a page can make any other name lead here.
pub(crate) fn edge(config: &Config) -> server::Edge {
    let named = config.names("server.hosts");
    let hosts = match (named.is_empty(), config.listen().ip().is_loopback()) {
        (false, _) => Some(named),
        (true, true) => Some(server::LOOPBACK.map(str::to_owned).to_vec()),
        (true, false) => None,
    };
    server::Edge {
        hosts,
        proxy_hops: config.count("server.proxy_hops"),
        listens: None,
        url: Some(config.text("server.url").to_owned()).filter(|url| !url.is_empty()),
    }
}

/// Why an `App` could not be opened, with the exit code and the remedy that fit.
pub(crate) fn start_failure(error: app::StartError, place: &Place) -> Failure {
    use app::StartError;
    match error {
        StartError::Files(problems) => {
            let shown = place.workspace.display();
            let missing = !crate::workspace::is_workspace(&place.workspace);
            if missing && place.is_default {
                let why = format!("there is no workspace: neither this folder nor {shown} is one");
                return Failure::configuration(vec![why])
                    .hint(NO_WORKSPACE_HERE)
                    .hint("or name one with --workspace DIR");
            }
            let failure = Failure::configuration(problems.iter().map(ToString::to_string).collect());
            let hint = format!("`toolcrib init {shown}` writes valid starter files");
            if missing { failure.hint(hint) } else { failure }
        }
        StartError::Owned(_) => Failure::failed(format!(
            "{} already owns {}",
            place.owner(),
            place.workspace.display()
        ))
        .hint("only one server can run on a workspace: stop that one, or name another with --workspace")
        .hint("where that is `toolcrib mcp`, an MCP client has started it: close the client, start the server, and the client's next one joins it"),
        StartError::Data { .. } => Failure::configuration(vec![error.to_string()])
            .hint("the folder must belong to you and be writable; --data names another"),
        StartError::Copied { .. } => Failure::configuration(vec![error.to_string()]).hint(format!(
            "every server on one database has a data folder of its own: stop that one, or remove the file {} and start again",
            place.data.join("node").display()
        )),
        StartError::Sealing(fault) => Failure::configuration(vec![fault.what]).hint(fault.remedy),
        StartError::Store(store::Error::Unreachable { what, remedy, .. }) => {
            Failure::failed(format!("the database cannot be opened: {what}")).hint(remedy)
        }
        // It says itself what to do.
        StartError::Store(store::Error::Newer(_)) => Failure::failed(error.to_string()),
        StartError::Store(_) => Failure::failed(error.to_string()).hint(format!(
            "check that {} is yours and has room; `toolcrib restore` puts a backup in place of a damaged database",
            place.data.display()
        )),
        other => Failure::failed(other.to_string()),
    }
}

/// None where there are to be no skills.
fn skills_folder(place: &Place, config: &Config) -> Option<PathBuf> {
    let folder = config.text("skills.folder");
    (!folder.is_empty()).then(|| place.workspace.join(folder))
}
