//! An executor with one `sql` tool, and a file with a few people in it.

use catalog::caller::{Caller, Role, Scope, Scopes, Transport};
use catalog::catalogue::{Catalogue, Change};
use catalog::clock::Clock;
use catalog::definition::{Origin, checked_definition_from_text};
use catalog::policy::Policy;
use catalog::secret::Secret;
use catalog::tool::{Definition, KindName, SYSTEM_USER, Shelf, Tool, id_from_name};
use executions::ExecutionLog;
use executor::{CallRequest, Code, Executor, Failure, Keyring, Kinds, Settings, ToolResponse};
use kinds::sources::{Named, Sources};
use kinds::sql::{Sql, faults};
use serde_json::{Value, json};
use sources::{Source, Sqlite, SqliteConfig};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use uuid::Uuid;

/// Trusts every tool, or none.
struct Trust(bool);

impl Keyring for Trust {
    fn open(&self, _tool: &Tool, _reference: &Value) -> Result<Secret, Failure> {
        Err(Failure::new(Code::NotConfigured, "no such secret"))
    }

    fn trusts(&self, _tool: &Tool) -> bool {
        self.0
    }
}

/// A file of its own for a test.
pub(crate) struct File(TempDir);

impl File {
    pub(crate) fn new() -> File {
        let file = File(tempfile::tempdir().unwrap());
        file.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, dept INTEGER, owner TEXT);
             INSERT INTO people VALUES (1, 'ann', 1, 'kim'), (2, 'bob', 1, 'lee'), (3, '한', NULL, 'kim');",
        );
        file
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("data.db")
    }

    pub(crate) fn run(&self, sql: &str) {
        let connection = rusqlite::Connection::open(self.path()).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    pub(crate) fn count(&self) -> i64 {
        let connection = rusqlite::Connection::open(self.path()).unwrap();
        let count = connection.query_row("SELECT count(*) FROM people", [], |row| row.get(0));
        count.unwrap()
    }

    pub(crate) fn named(&self) -> Named {
        named(Source::Sqlite(
            Sqlite::open(SqliteConfig::new(self.path())).unwrap(),
        ))
    }
}

/// The source `s`, as open as a source can be.
pub(crate) fn named(source: Source) -> Named {
    Named {
        name: "s".to_owned(),
        source: Ok(source),
        allow_write: true,
        authors_everyone: true,
    }
}

pub(crate) struct Crib {
    pub(crate) executor: Arc<Executor>,
    pub(crate) sources: Arc<Sources>,
    pub(crate) definition: Definition,
    pub(crate) caller: Caller,
    _keyring: Arc<dyn Keyring>,
    _folder: TempDir,
}

pub(crate) fn definition(config: &Value, more: &Value) -> Definition {
    let mut full = json!({"name": "t", "description": "d", "kind": "sql", "config": config});
    let config = full["config"].as_object_mut().unwrap();
    config.entry("source").or_insert("s".into());
    let all = full.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    let origin = Origin::Body(Shelf::Database);
    checked_definition_from_text("test", &full.to_string(), origin, faults).unwrap()
}

/// A schema that knows these properties.
pub(crate) fn takes(properties: &Value) -> Value {
    json!({"input_schema": {"type": "object", "properties": properties}})
}

impl Crib {
    pub(crate) async fn on(named: Named, config: Value, more: Value) -> Crib {
        Crib::owned(named, true, config, more).await
    }

    /// `trusted`: whether its owner is an admin.
    pub(crate) async fn owned(named: Named, trusted: bool, config: Value, more: Value) -> Crib {
        let definition = definition(&config, &more);
        let tool = Tool {
            id: id_from_name("t"),
            owner: SYSTEM_USER,
            shelf: Shelf::Database,
            version: 1,
            created_at: 0,
            updated_at: 0,
            hash: definition.hash(),
            definition: definition.clone(),
        };
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(1_800_000_000_000);
        let options = executions::Options::default();
        let log = ExecutionLog::open_sqlite(folder.path(), options, clock.clone());
        let sources: Arc<Sources> = Arc::default();
        sources.put(named);
        let executor = Executor::new(
            Catalogue::default().with(vec![Change::Put(tool)]),
            Policy::default(),
            Kinds::default().with(KindName::Sql, Sql::new(Arc::clone(&sources))),
            log.await.unwrap(),
            clock,
            Settings::default(),
        );
        let keyring: Arc<dyn Keyring> = Arc::new(Trust(trusted));
        executor.set_keyring(Arc::downgrade(&keyring));
        let caller = Caller {
            scopes: Scopes::from_iter([Scope::Call]),
            ..Caller::of_user(Uuid::from_u128(77), "kim", Role::Author, Transport::Rest)
        };
        Crib {
            executor,
            sources,
            definition,
            caller,
            _keyring: keyring,
            _folder: folder,
        }
    }

    pub(crate) fn start(&self, arguments: Value, seconds: f64) -> executor::PendingCall {
        let request = CallRequest {
            tool: "t".into(),
            arguments,
            timeout_seconds: Some(seconds),
            ..CallRequest::default()
        };
        self.executor.call(Arc::new(self.caller.clone()), request)
    }

    pub(crate) async fn call(&self, arguments: Value) -> ToolResponse {
        self.start(arguments, 20.0).await
    }

    /// The data of a call that must succeed.
    pub(crate) async fn data(&self, arguments: Value) -> Value {
        let response = self.call(arguments).await;
        assert_eq!(response.error, None);
        serde_json::from_str(response.data.get()).unwrap()
    }

    /// The code and message of one that must not.
    pub(crate) async fn error(&self, arguments: Value) -> (&'static str, String) {
        let error = self.call(arguments).await.error.unwrap();
        (error.code.as_str(), error.message)
    }
}
