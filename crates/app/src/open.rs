//! Starting: the files are checked first, then the databases are opened and the first snapshot is made.

use crate::access::read_access;
use crate::calls::InFlight;
use crate::kept::Kept;
use crate::owner::{OwnerLock, node_name};
use crate::passwords::Passwords;
use crate::replicas::{Replicas, namesake};
use crate::sealing_keys::{self, KeyFault, KeySource};
use crate::select::{Chooser, Confirmed};
use crate::servers::Servers;
use crate::shelf::{self, FileShelf};
use crate::sign_in::Tokens;
use crate::sources::{Opening, Sources};
use crate::status::ShelfStatus;
use crate::throttle::Throttle;
use crate::vault::Vault;
use crate::writer::{EnvLookup, Writer};
use crate::{App, WriterHandle, watcher};
use arc_swap::ArcSwap;
use catalog::catalogue::{Catalogue, Change};
use catalog::clock::Clock;
use catalog::definition::{Origin, definition_from_text};
use catalog::mcp_file::{McpFile, read_servers};
use catalog::policy::Policy;
use catalog::problem::Problem;
use catalog::tool::{Definition, Shelf, Tool};
use executions::ExecutionLog;
use executor::{Executor, Settings};
use mcp::upstream::Notice;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use store::Db;
use store::tool_tests::ToolTestRow;
use store::tools::ToolRow;
use tokio::sync::{mpsc, watch};

/// What the configuration decides about an `App`.
pub struct Options {
    pub workspace: PathBuf,
    pub data: PathBuf,
    /// PostgreSQL for registry and log; none keeps both in files of the data folder.
    pub database_url: Option<String>,
    pub admin_key: Option<String>,
    pub sealing: KeySource,
    pub policy: Policy,
    pub executor: Settings,
    pub log: executions::Options,
    pub kinds: kinds::Options,
    pub servers: crate::servers::Settings,
    pub sources: crate::sources::Settings,
    /// Who else may say who somebody is.
    pub oidc: Option<crate::oidc::Settings>,
    /// Requests of which it is known what is right, for those who change what tools say of themselves.
    pub gold: PathBuf,
    pub runs: crate::runs::Settings,
    /// Whether requests of which somebody confirmed the tool count as examples of it.
    pub confirmed: bool,
    /// Whether requests are read by the program alone, and by no model behind an endpoint.
    pub own_encoder: bool,
    pub pipeline: crate::pipeline::Settings,
    /// The folder of skills; none is none.
    pub skills: Option<PathBuf>,
    pub env: EnvLookup,
    pub clock: Clock,
    /// Whether edits on disk are followed; a short command needs none of it.
    pub watch: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The workspace's files are not valid: every problem of both.
    #[error("{}", list(.0))]
    Files(Vec<Problem>),
    #[error("another toolcrib process owns {0}")]
    Owned(PathBuf),
    /// Another process that runs has the name of this installation.
    #[error(
        "a server that is running has the same name as this one (node {node}{}): the data folder is a copy of its",
        at(.address.as_deref())
    )]
    Copied {
        node: String,
        address: Option<String>,
    },
    #[error("the data folder {path} cannot be used: {error}")]
    Data {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error("{0}")]
    Store(#[from] store::Error),
    /// The stored secrets cannot be opened.
    #[error("{0}")]
    Sealing(#[from] KeyFault),
    /// The model inside the program cannot be read.
    #[error("{0}")]
    Encoder(#[from] encoder::Error),
    #[error("{0}")]
    Log(#[from] executions::LogError),
    #[error("{0}")]
    Catalogue(crate::Error),
}

fn at(address: Option<&str>) -> String {
    address.map_or_else(String::new, |address| format!(", {address}"))
}

fn list(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Both files of the workspace, checked. Every problem of both is reported at once.
pub(crate) struct Files {
    pub tools_text: String,
    pub definitions: Vec<Definition>,
    pub mcp_text: String,
    pub servers: McpFile,
}

impl Files {
    pub(crate) fn read(workspace: &Path, env: &EnvLookup) -> Result<Self, Vec<Problem>> {
        let shelf = FileShelf::new(workspace);
        let tools = shelf
            .read_text()
            .and_then(|text| Ok((shelf::check_tools(&text, |_| false)?, text)));
        let path = workspace.join(shelf::MCP_FILE);
        let servers = shelf::read_file(&path, shelf::MCP_FILE, "{\"mcpServers\": {}}")
            .and_then(|text| Ok((read_servers(shelf::MCP_FILE, &text, &**env)?, text)));
        match (tools, servers) {
            (Ok((definitions, tools_text)), Ok((servers, mcp_text))) => Ok(Files {
                tools_text,
                definitions,
                mcp_text,
                servers,
            }),
            (tools, servers) => {
                let of = |problems: Option<Vec<Problem>>| problems.unwrap_or_default();
                Err([of(tools.err()), of(servers.err())].concat())
            }
        }
    }
}

impl App {
    pub async fn open(mut options: Options) -> Result<Arc<Self>, StartError> {
        let files = Files::read(&options.workspace, &options.env).map_err(StartError::Files)?;
        let unusable = |error| StartError::Data {
            path: options.data.clone(),
            error,
        };
        let owner = OwnerLock::acquire(&options.workspace, &options.data)
            .map_err(unusable)?
            .ok_or_else(|| StartError::Owned(options.data.clone()))?;
        let node = node_name(&options.data).map_err(unusable)?;
        FileShelf::new(&options.workspace).sweep();
        let (store, log, replicas) = open_databases(&options, &node).await?;
        store.ensure_first_users(options.clock.now()).await?;
        let now = options.clock.now();
        let access = read_access(&store, options.admin_key.as_deref(), now).await?;
        let vault = open_vault(&options, &store).await?;
        let kept_servers = Servers::load(&store, options.servers.clone(), now).await?;
        let (agents, tested) = (store.agents().await?, store.tool_tests().await?);
        let tokens = Tokens::read(&store, &vault, &options.clock, &options.kinds).await?;
        options.kinds.node = Some(node.clone());
        let mut runnable = kinds::all(&options.kinds, Some(Arc::clone(&tokens) as _));
        let kept_sources = sources(&options, &store, &vault, Arc::clone(&runnable.sources)).await?;
        let (upstreams, mut notices) = (Arc::clone(&runnable.upstreams), runnable.notices.take());
        let vectors = Arc::clone(&runnable.vectors);
        let runs = crate::runs::Runs::new(options.runs.clone(), &runnable);
        let chooser = chooser(&options, &store, &vectors).await?;
        // Where nobody keeps servers connected, what they would tell is kept for whoever does.
        let unheard = notices.take_if(|_| !options.watch);
        let builtin_names = names(&runnable.builtins);
        let given = (Arc::clone(&vault), Arc::clone(&replicas));
        let first = first_snapshot(&options, &store, log, files, given, runnable);
        let (executor, writer) = first.await?;
        let (status, servers) = (Arc::clone(&writer.status), writer.servers.subscribe());
        let writer = at_work(writer, &options);
        let app = Arc::new_cyclic(|me| App {
            executor,
            store,
            access: ArcSwap::from_pointee(access),
            access_changed: watch::Sender::default(),
            agents: ArcSwap::from_pointee(Kept::default().with(agents)),
            agent_changes: tokio::sync::Mutex::default(),
            toolsets: ArcSwap::default(),
            status,
            servers,
            kept_servers,
            kept_sources,
            upstreams,
            chooser,
            vectors,
            told: tokio::sync::broadcast::Sender::new(256),
            unheard: Mutex::new(unheard),
            node,
            idempotent: InFlight::default(),
            writer: Mutex::new(Some(writer)),
            owner: Mutex::new(Some(owner)),
            passwords: Passwords::default(),
            throttle: Throttle::default(),
            oidc: options.oidc.map(crate::oidc::Provider::new),
            access_changes: tokio::sync::Mutex::default(),
            erasing: tokio::sync::Mutex::default(),
            runs,
            me: Weak::clone(me),
            clock: options.clock,
            pipeline: options.pipeline,
            skills: crate::skills::Skills::new(options.skills),
            workspace: options.workspace,
            data: options.data,
            admin_key: options.admin_key,
            env: options.env,
            builtin_names,
            tested: ArcSwap::from_pointee(tests_by_tool(tested)),
            scripts: crate::tool_tests::Scripts::default(),
            vault,
            tokens,
            replicas,
        });
        app.settle_doubts();
        app.take_up().await.map_err(StartError::Catalogue)?;
        app.begin(notices).await?;
        Ok(app)
    }

    /// Connects the upstream servers and follows what tools there are; where nobody is to listen to servers, what they
    /// offered last is shown.
    async fn begin(
        self: &Arc<Self>,
        notices: Option<mpsc::UnboundedReceiver<Notice>>,
    ) -> Result<(), StartError> {
        match notices {
            Some(notices) => {
                self.join_replicas().await?;
                self.follow_replicas();
                self.finish_erasures_aside();
                crate::upstreams::connect(self, notices).await;
                Chooser::follow(self);
                self.keep_runs();
            }
            None => self.show_last_tools().await,
        }
        Ok(())
    }

    /// What is left to do once everything is there: policy, limits, and calls that an earlier process left behind.
    async fn take_up(self: &Arc<Self>) -> crate::Result<()> {
        let keyring: Weak<dyn executor::Keyring> = Arc::downgrade(&(Arc::clone(self) as _));
        self.executor.set_keyring(keyring);
        self.policy_without(self.access.load().left());
        self.load_policy().await?;
        self.load_toolsets().await?;
        self.load_limits().await?;
        self.share_limits().await?;
        self.store.release_runs(&self.node).await?;
        self.settle_idempotency(&self.node).await
    }
}

/// The writer in its thread, told of edits on disk.
fn at_work(writer: Writer, options: &Options) -> WriterHandle {
    let (jobs, thread) = writer.spawn();
    let _watcher = watched(options, &jobs);
    WriterHandle {
        jobs,
        thread,
        _watcher,
    }
}

fn names(tools: &[Tool]) -> Vec<String> {
    let name = |tool: &Tool| tool.definition.name.clone();
    tools.iter().map(name).collect()
}

fn tests_by_tool(rows: Vec<ToolTestRow>) -> HashMap<uuid::Uuid, ToolTestRow> {
    rows.into_iter().map(|row| (row.tool_id, row)).collect()
}

/// What requests are compared with, by the model that the configuration names or by our own.
async fn chooser(
    options: &Options,
    store: &Db,
    vectors: &kinds::retrieval::Vectors,
) -> Result<Chooser, StartError> {
    let confirmed = Confirmed::load(store, options.confirmed).await?;
    let model = vectors.embeddings().ok().cloned();
    let model = model.filter(|_| !options.own_encoder);
    let gold = options.gold.clone();
    Ok(Chooser::new(&options.data, gold, confirmed, model)?)
}

/// The databases of SQL tools, where their kind finds them.
async fn sources(
    options: &Options,
    store: &Db,
    vault: &Arc<Vault>,
    live: Arc<kinds::sources::Sources>,
) -> Result<Arc<Sources>, StartError> {
    let opening = Opening {
        workspace: options.workspace.clone(),
        data: options.data.clone(),
        registry: options.database_url.clone(),
        env: Arc::clone(&options.env),
        vault: Arc::clone(vault),
    };
    Ok(Sources::load(store, options.sources.clone(), live, opening).await?)
}

async fn open_databases(
    options: &Options,
    node: &str,
) -> Result<(Db, ExecutionLog, Arc<Replicas>), StartError> {
    let mut log = options.log.clone();
    log.node = node.into();
    let clock = options.clock.clone();
    let replicas = Arc::new(Replicas::new());
    let Some(url) = &options.database_url else {
        let store = Db::open_sqlite(&options.data.join("registry.db")).await?;
        let folder = options.data.join("log");
        let log = ExecutionLog::open_sqlite(&folder, log, clock).await?;
        return Ok((store, log, replicas));
    };
    let store = Db::open_postgres_as(url, &replicas.instance).await?;
    // Before anything is read: what changes from here on is followed.
    replicas.begin_at(store.revision().await?);
    // Before anything is settled that a process of this name left behind.
    namesake::wait_for_silence(&store, node).await?;
    // The log has a pool of its own: a burst of calls must not starve the registry.
    let pool = Db::log_pool(url).await?;
    let log = ExecutionLog::open_postgres(pool, log, clock).await?;
    Ok((store, log, replicas))
}

/// Builtins, the database shelf and, laid over them, the file shelf.
async fn first_snapshot(
    options: &Options,
    store: &Db,
    log: ExecutionLog,
    files: Files,
    (vault, replicas): (Arc<Vault>, Arc<Replicas>),
    runnable: kinds::All,
) -> Result<(Arc<Executor>, Writer), StartError> {
    shelf::log_oddities(&files.servers);
    let status = Arc::new(ArcSwap::from_pointee(ShelfStatus {
        mcp_warnings: files.servers.warnings.clone(),
        ..ShelfStatus::default()
    }));
    let kinds::All {
        kinds, builtins, ..
    } = runnable;
    let builtins: HashMap<String, Tool> = builtins
        .into_iter()
        .map(|tool| (tool.definition.name.clone(), tool))
        .collect();
    let on_file: HashSet<&str> = files.definitions.iter().map(|d| d.name.as_str()).collect();
    let executor = Executor::new(
        first_catalogue(store, &builtins, &on_file, &status).await?,
        options.policy.clone(),
        kinds,
        log,
        options.clock.clone(),
        options.executor.clone(),
    );
    let mut writer = Writer {
        store: store.clone(),
        executor: Arc::clone(&executor),
        clock: options.clock.clone(),
        workspace: options.workspace.clone(),
        shelf: FileShelf::new(&options.workspace),
        mcp_text: files.mcp_text,
        servers: watch::Sender::new(Arc::new(files.servers)),
        env: Arc::clone(&options.env),
        vault,
        given: builtins,
        shadowed: HashMap::new(),
        status,
        replicas,
    };
    writer
        .commit_first(files.definitions, files.tools_text)
        .await
        .map_err(StartError::Catalogue)?;
    Ok((executor, writer))
}

fn watched(
    options: &Options,
    jobs: &tokio::sync::mpsc::Sender<crate::writer::Job>,
) -> Option<watcher::FileWatcher> {
    if !options.watch {
        return None;
    }
    match watcher::watch(&options.workspace, jobs.downgrade()) {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!(%error, "edits of tools.json on disk are only noticed at the next API change");
            None
        }
    }
}

/// Builtins and the database shelf; the file shelf is laid over them afterwards.
async fn first_catalogue(
    store: &Db,
    builtins: &HashMap<String, Tool>,
    on_file: &HashSet<&str>,
    status: &ArcSwap<ShelfStatus>,
) -> Result<Catalogue, StartError> {
    let mut changes: Vec<Change> = builtins.values().cloned().map(Change::Put).collect();
    for row in store.live_tools().await? {
        let name = row.name.clone();
        match stored_tool(&row) {
            // A builtin of a later version may take a name that was free before; the owner's tool stays.
            Ok(tool) => {
                if let Some(builtin) = builtins
                    .get(&name)
                    .filter(|_| !on_file.contains(name.as_str()))
                {
                    changes.push(Change::Remove(builtin.id));
                }
                changes.push(Change::Put(tool));
            }
            Err(problems) => {
                let why = crate::error::summary(&problems);
                tracing::error!(
                    tool = name,
                    why,
                    "a stored tool cannot be read and is left out"
                );
                ShelfStatus::update(status, |status| {
                    status.unreadable.push(format!("{name}: {why}"))
                });
            }
        }
    }
    Ok(Catalogue::default().with(changes))
}

/// A tool of the database shelf from its row.
pub(crate) fn stored_tool(row: &ToolRow) -> Result<Tool, Vec<Problem>> {
    let definition =
        definition_from_text(&row.name, &row.definition, Origin::Body(Shelf::Database))?;
    Ok(Tool {
        id: row.id,
        owner: row.owner_id,
        shelf: Shelf::Database,
        version: row.version,
        created_at: row.created_at,
        updated_at: row.updated_at,
        hash: definition.hash(),
        definition,
    })
}

async fn open_vault(options: &Options, store: &Db) -> Result<Arc<Vault>, StartError> {
    let secrets = store.secrets().await?;
    let keys = sealing_keys::load(&options.sealing, &secrets)?;
    let vault = Vault::new(options.sealing.clone(), keys, &secrets);
    Ok(Arc::new(vault))
}
