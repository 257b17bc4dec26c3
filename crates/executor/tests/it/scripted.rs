//! A crib with scripted tools: what they do is in their arguments, what they did is counted.

use catalog::caller::{Caller, Role, Scope, Scopes, Transport};
use catalog::catalogue::{Catalogue, Change};
use catalog::clock::Clock;
use catalog::definition::{Origin, definition_from_text};
use catalog::policy::Policy;
use catalog::tool::{KindName, SYSTEM_USER, Shelf, Tool, id_from_name};
use executions::{Execution, ExecutionLog, Filter};
use executor::kind::RunFuture;
use executor::{CallRequest, Executor, Failure, Kind, Kinds, Run, Settings, ToolResponse};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::sync::Notify;
use uuid::Uuid;

pub(crate) const NOON: i64 = 1_800_000_000_000;

/// What the scripted tools did, and the switch that lets waiting ones go.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) running: AtomicUsize,
    pub(crate) peak: AtomicUsize,
    pub(crate) entered: Notify,
    pub(crate) dropped: AtomicUsize,
    pub(crate) go: Notify,
}

pub(crate) struct Scripted(pub(crate) Arc<Seen>);

struct Leave<'a>(&'a Seen);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

impl Kind for Scripted {
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(async move {
            let seen = &*self.0;
            let running = seen.running.fetch_add(1, Ordering::SeqCst) + 1;
            seen.peak.fetch_max(running, Ordering::SeqCst);
            let _leave = Leave(seen);
            seen.entered.notify_one();
            match run.arguments.get("do").and_then(Value::as_str) {
                Some("wait") => seen.go.notified().await,
                Some("hang") => std::future::pending().await,
                Some("yield") => tokio::task::yield_now().await,
                Some("panic") => panic!("as told"),
                Some("fail") => {
                    let mut failure = Failure::execution("as told");
                    let raw = run.arguments.get("raw");
                    failure.raw = raw.and_then(|raw| to_raw_value(raw).ok());
                    return Err(failure);
                }
                _ => {}
            }
            Ok(run
                .arguments
                .get("answer")
                .cloned()
                .unwrap_or(Value::Null)
                .into())
        })
    }
}

pub(crate) struct Crib {
    pub(crate) executor: Arc<Executor>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) pages_max: Arc<AtomicU32>,
    pub(crate) folder: Arc<TempDir>,
}

pub(crate) fn tool(definition: &Value) -> Tool {
    let mut full =
        json!({"description": "A scripted tool", "kind": "shell", "config": {"command": ["x"]}});
    full.as_object_mut()
        .unwrap()
        .extend(definition.as_object().unwrap().clone());
    let definition =
        definition_from_text("test", &full.to_string(), Origin::Body(Shelf::File)).unwrap();
    Tool {
        id: id_from_name(&definition.name),
        owner: SYSTEM_USER,
        shelf: Shelf::File,
        version: 3,
        created_at: 0,
        updated_at: 0,
        hash: definition.hash(),
        definition,
    }
}

impl Crib {
    pub(crate) async fn with(tools: Vec<Tool>, policy: Policy, settings: Settings) -> Crib {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Crib::open(folder, Clock::manual(NOON), tools, policy, settings).await
    }

    async fn open(
        folder: Arc<TempDir>,
        clock: Clock,
        tools: Vec<Tool>,
        policy: Policy,
        settings: Settings,
    ) -> Crib {
        let options = executions::Options::default();
        let pages_max = Arc::clone(&options.pages_max);
        let log = ExecutionLog::open_sqlite(folder.path(), options, clock.clone())
            .await
            .unwrap();
        let seen = Arc::new(Seen::default());
        let kinds = Kinds::default().with(KindName::Shell, Scripted(Arc::clone(&seen)));
        let catalogue = Catalogue::default().with(tools.into_iter().map(Change::Put).collect());
        let executor = Executor::new(catalogue, policy, kinds, log, clock, settings);
        Crib {
            executor,
            seen,
            pages_max,
            folder,
        }
    }

    /// The same tools and the same log in the next process: only what is written down is known.
    pub(crate) async fn again(self) -> Crib {
        self.executor.log.close().await.unwrap();
        let catalogue = self.executor.catalogue.load();
        let tools = catalogue.after(None).map(|entry| entry.tool.clone());
        let (folder, clock) = (self.folder, self.executor.clock.clone());
        let (policy, settings) = (Policy::default(), Settings::default());
        Crib::open(folder, clock, tools.collect(), policy, settings).await
    }

    pub(crate) async fn new(definition: Value) -> Crib {
        Crib::with(
            vec![tool(&definition)],
            Policy::default(),
            Settings::default(),
        )
        .await
    }

    /// A call that runs by itself, as behind a connection; dropping it is hanging up.
    pub(crate) fn start(&self, name: &str, arguments: Value) -> Started {
        self.start_as(caller(), name, arguments)
    }

    pub(crate) fn start_as(&self, caller: Arc<Caller>, name: &str, arguments: Value) -> Started {
        let request = CallRequest {
            tool: name.into(),
            arguments,
            ..CallRequest::default()
        };
        Started(tokio::spawn(self.executor.call(caller, request)))
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolResponse {
        self.start(name, arguments).answer().await
    }

    /// Every entry of the log, oldest first.
    pub(crate) async fn log(&self) -> Vec<Execution> {
        let filter = Filter {
            limit: Some(1000),
            ..Filter::default()
        };
        let mut items = self.executor.log.list(filter).await.unwrap().items;
        items.reverse();
        items
    }
}

pub(crate) struct Started(tokio::task::JoinHandle<ToolResponse>);

impl Started {
    pub(crate) async fn answer(mut self) -> ToolResponse {
        (&mut self.0).await.unwrap()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(crate) fn caller() -> Arc<Caller> {
    Arc::new(Caller {
        key: Some("ci".into()),
        scopes: Scopes::from_iter([Scope::Call]),
        ..Caller::of_user(Uuid::from_u128(77), "kim", Role::Author, Transport::Rest)
    })
}

pub(crate) fn code(response: &ToolResponse) -> &str {
    response
        .error
        .as_ref()
        .map_or("", |error| error.code.as_str())
}
