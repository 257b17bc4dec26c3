//! The Python that the configuration names: what that name really leads to, found out once.

use crate::Options;
use crate::shell::execute;
use executor::{Code, Failure};
use process::{Order, Spawner};
use serde::Deserialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OnceCell;

pub(crate) struct Interpreter {
    spawner: Arc<Spawner>,
    name: OsString,
    environment: Vec<(OsString, OsString)>,
    found: OnceCell<Found>,
}

/// The interpreter itself: the name often only leads to it, slowly.
#[derive(Deserialize)]
pub(crate) struct Found {
    pub(crate) program: PathBuf,
    /// What it is installed in.
    pub(crate) folders: Vec<PathBuf>,
}

/// Prints a `Found`.
const WHICH: &str = "import json, sys; print(json.dumps({'program': sys.executable, 'folders': [sys.prefix, sys.base_prefix]}))";

impl Interpreter {
    pub(crate) fn new(options: &Options, spawner: &Arc<Spawner>) -> Self {
        Interpreter {
            spawner: Arc::clone(spawner),
            name: options.python.interpreter.clone(),
            environment: options.environment.clone(),
            found: OnceCell::new(),
        }
    }

    pub(crate) async fn found(&self) -> Result<&Found, Failure> {
        self.found.get_or_try_init(|| self.find()).await
    }

    async fn find(&self) -> Result<Found, Failure> {
        let order = Order {
            program: self.name.clone(),
            arguments: vec!["-c".into(), WHICH.into()],
            environment: self.environment.clone(),
            folder: "/".into(),
            ..Order::default()
        };
        let ended = execute(&self.spawner, &order, Vec::new()).await?;
        serde_json::from_slice(&ended.stdout.bytes).map_err(|_| {
            let name = self.name.to_string_lossy();
            let message = format!(
                "'{name}' is no Python that works; set python.interpreter to one that does"
            );
            Failure::new(Code::NotConfigured, message)
        })
    }
}
