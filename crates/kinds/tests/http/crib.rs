//! An executor with one `http` tool and a keyring that knows every name.

use crate::server::Server;
use catalog::auth::Reference;
use catalog::caller::{Caller, Role, Scope, Scopes, Transport};
use catalog::catalogue::{Catalogue, Change};
use catalog::clock::Clock;
use catalog::definition::{Origin, definition_from_text};
use catalog::policy::Policy;
use catalog::secret::Secret;
use catalog::tool::{KindName, SYSTEM_USER, Shelf, Tool, id_from_name};
use executions::{ExecutionLog, Filter};
use executor::{CallRequest, Code, Executor, Failure, Keyring, Kinds, Settings, ToolResponse};
use fetch::{Allowed, Fetcher, Options};
use kinds::http::Http;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;
use uuid::Uuid;

/// The secret of every name is that name with `-opened` after it.
struct Names;

impl Keyring for Names {
    fn open(&self, _tool: &Tool, reference: &Value) -> Result<Secret, Failure> {
        match Reference::of(reference) {
            Some(Reference::Secret(name) | Reference::Env(name)) => {
                Ok(Secret::new(format!("{name}-opened")))
            }
            _ => Err(Failure::new(Code::NotConfigured, "no such secret")),
        }
    }

    fn trusts(&self, _tool: &Tool) -> bool {
        false
    }
}

pub(crate) struct Crib {
    executor: Arc<Executor>,
    _keyring: Arc<dyn Keyring>,
    _folder: TempDir,
}

/// What a call gives back.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) data: Value,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) details: Value,
}

impl Crib {
    /// A tool of tools.json that calls this server; `parts` are members of its config and definition.
    pub(crate) async fn of(server: &Server, config: Value, parts: Value) -> Crib {
        Crib::on(Shelf::File, "", &server.url(), config, parts).await
    }

    pub(crate) async fn on(
        shelf: Shelf,
        allow: &str,
        base_url: &str,
        config: Value,
        parts: Value,
    ) -> Crib {
        let mut all = json!({"base_url": base_url, "method": "GET"});
        all.as_object_mut()
            .unwrap()
            .extend(config.as_object().unwrap().clone());
        let mut full = json!({"name": "t", "description": "d", "kind": "http", "config": all});
        full.as_object_mut()
            .unwrap()
            .extend(parts.as_object().unwrap().clone());
        let definition =
            definition_from_text("test", &full.to_string(), Origin::Body(shelf)).unwrap();
        let tool = Tool {
            id: id_from_name("t"),
            owner: SYSTEM_USER,
            shelf,
            version: 1,
            created_at: 0,
            updated_at: 0,
            hash: definition.hash(),
            definition,
        };
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(1_800_000_000_000);
        let log =
            ExecutionLog::open_sqlite(folder.path(), executions::Options::default(), clock.clone())
                .await
                .unwrap();
        let fetcher = Fetcher::new(Options {
            allow: Allowed::list(allow).unwrap(),
            ..Options::default()
        });
        let kinds = Kinds::default().with(KindName::Http, Http::new(fetcher));
        let catalogue = Catalogue::default().with(vec![Change::Put(tool)]);
        let executor = Executor::new(
            catalogue,
            Policy::default(),
            kinds,
            log,
            clock,
            Settings::default(),
        );
        let keyring: Arc<dyn Keyring> = Arc::new(Names);
        executor.set_keyring(Arc::downgrade(&keyring));
        Crib {
            executor,
            _keyring: keyring,
            _folder: folder,
        }
    }

    pub(crate) async fn call(&self, arguments: Value) -> Outcome {
        self.call_within(arguments, 20.0).await
    }

    pub(crate) async fn call_within(&self, arguments: Value, seconds: f64) -> Outcome {
        let caller = Caller {
            scopes: Scopes::from_iter([Scope::Call]),
            ..Caller::of_user(Uuid::from_u128(77), "kim", Role::Author, Transport::Rest)
        };
        let request = CallRequest {
            tool: "t".into(),
            arguments,
            timeout_seconds: Some(seconds),
            ..CallRequest::default()
        };
        outcome(self.executor.call(Arc::new(caller), request).await)
    }

    /// Everything that was written down.
    pub(crate) async fn log(&self) -> String {
        let items = self
            .executor
            .log
            .list(Filter::default())
            .await
            .unwrap()
            .items;
        format!("{items:?}")
    }
}

fn outcome(response: ToolResponse) -> Outcome {
    let (code, message, details) = match response.error {
        Some(error) => (error.code.as_str().to_owned(), error.message, error.details),
        None => Default::default(),
    };
    Outcome {
        data: serde_json::from_str(response.data.get()).unwrap(),
        code,
        message,
        details,
    }
}

/// A schema that knows these names.
pub(crate) fn knows(names: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({})))
        .collect();
    json!({"input_schema": {"type": "object", "properties": properties}})
}
