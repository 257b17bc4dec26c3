//! A SQLite file as a source. Queries run on blocking threads, unless they are known to be quick: nobody waits for one
//! who did not ask for it.

mod authorizer;
mod codes;
mod depth;
mod heavy;
mod open;
mod percentile;
mod perform;
mod quick;
mod rtree;
mod run;
mod schema;

pub(crate) use heavy::{bound_bytes_max, goes_deep};

use crate::answer::Answer;
use crate::binding::Bindings;
use crate::error::Error;
use crate::guard::judge;
use crate::memo::SourceNumber;
use crate::schema::{SchemaFilter, TestReport};
use crate::shares::Shares;
use crate::source::Call;
use crate::statement::{Engine, Statement};
use depth::Depth;
use open::{Identity, Mode};
use perform::{Job, Work};
use rusqlite::Connection;
use rusqlite::types::Value as SqlValue;
use serde_json::Value;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const CONNECTIONS_MAX: usize = 8;
const VALUE_BYTES_MAX: i32 = 16 * 1024 * 1024;
/// For so long a file that takes the place of another may go unnoticed by queries that are tried in place.
const SEEN_MAX: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub struct SqliteConfig {
    pub path: PathBuf,
    /// How many queries run at once.
    pub connections_max: usize,
    /// Files that are never a source, by whatever name, and folders of which none is: the registry's own.
    pub forbidden: Vec<PathBuf>,
}

impl SqliteConfig {
    pub fn new(path: impl Into<PathBuf>) -> SqliteConfig {
        SqliteConfig {
            path: path.into(),
            connections_max: CONNECTIONS_MAX,
            forbidden: Vec::new(),
        }
    }

    /// Why the file is closed to all queries, if it is there and is.
    pub fn closed(&self) -> Option<&'static str> {
        let path = self.path.canonicalize().ok()?;
        open::closed(self, &path, open::identify(self).ok()?)
    }
}

/// A file, with the connections to it.
#[derive(Debug)]
pub struct Sqlite {
    config: SqliteConfig,
    shares: Arc<Shares>,
    readers: Kept,
    /// Those that queries are tried on in place.
    tried: Kept,
    /// Which file it was when it was last looked at.
    seen: Mutex<Option<(Instant, Identity)>>,
    /// Whether it goes deep by itself, when that was last looked at.
    depth: Mutex<Option<Depth>>,
    number: SourceNumber,
    writer: Mutex<Option<(Identity, Connection)>>,
}

impl Sqlite {
    /// Checks that the file is one that may be used; it is opened with the first call.
    pub fn open(config: SqliteConfig) -> Result<Arc<Sqlite>, Error> {
        let path = open::resolved(&config)?;
        if !open::is_database(&path) {
            return Err(Error::source("its file is no SQLite database"));
        }
        Ok(Arc::new(Sqlite {
            shares: Shares::new(config.connections_max),
            readers: Kept::new(config.connections_max),
            tried: Kept::new(config.connections_max),
            seen: Mutex::default(),
            depth: Mutex::default(),
            config,
            number: SourceNumber::next(),
            writer: Mutex::default(),
        }))
    }

    pub(crate) async fn read(
        self: &Arc<Self>,
        statement: &Statement,
        bindings: &Bindings<'_>,
        call: &Call,
    ) -> Result<Answer, Error> {
        let job = bind(Work::Read, statement, bindings, call)?;
        run::run(self, call, job).await
    }

    pub(crate) async fn write(
        self: &Arc<Self>,
        statement: &Statement,
        bindings: &Bindings<'_>,
        call: &Call,
    ) -> Result<Answer, Error> {
        let job = bind(Work::Write, statement, bindings, call)?;
        run::run(self, call, job).await
    }

    pub(crate) async fn look_at_write(
        self: &Arc<Self>,
        statement: &Statement,
        call: &Call,
    ) -> Result<(), Error> {
        let job = bind(Work::LookAtWrite, statement, &Bindings::none(), call)?;
        run::run(self, call, job).await.map(drop)
    }

    pub(crate) async fn explain(
        self: &Arc<Self>,
        statement: &Statement,
        bindings: &Bindings<'_>,
        call: &Call,
    ) -> Result<Answer, Error> {
        let job = bind(Work::Explain, statement, bindings, call)?;
        run::run(self, call, job).await
    }

    pub(crate) async fn ask(self: &Arc<Self>, sql: &str, call: &Call) -> Result<Answer, Error> {
        judge(sql, Engine::Sqlite, None)?;
        let job = Job {
            care: heavy::care(sql)?,
            ..Job::new(Work::Read, sql.to_owned(), Vec::new(), call)
        };
        run::run(self, call, job).await
    }

    pub(crate) async fn test(self: &Arc<Self>, call: &Call) -> Result<TestReport, Error> {
        // That it is a database shows when it is read.
        self.schema(&SchemaFilter::default(), call).await?;
        let probe = "CREATE TABLE toolcrib_probe (a)".to_owned();
        let job = Job::new(Work::Read, probe, Vec::new(), call);
        let read_only = match run::run(self, call, job).await {
            Err(Error::Refused { message }) => message,
            Err(Error::Database { message, .. }) => message,
            Err(error) => return Err(error),
            Ok(_) => {
                return Err(Error::source(
                    "the file took a change although it was opened for reading only",
                ));
            }
        };
        Ok(TestReport {
            version: format!("SQLite {}", rusqlite::version()),
            role: None,
            read_only,
            is_bound: true,
            may_write: open::may_write(&self.config),
            warnings: Vec::new(),
        })
    }

    /// Does something with a connection for reading, and keeps it afterwards.
    fn with_reader<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let identity = self.look().map_err(|error| self.noted(error))?;
        self.tried.forget_others(identity);
        let connection = match self.readers.take(identity) {
            Some(connection) => connection,
            None => self.opened(Mode::Read)?,
        };
        let done = work(&connection)?;
        self.readers.keep(identity, connection);
        Ok(done)
    }

    /// Which file it is.
    fn look(&self) -> Result<Identity, Error> {
        let identity = open::identify(&self.config)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = Some((Instant::now(), identity));
        Ok(identity)
    }

    /// Which file it was a moment ago: to look each time is a good part of what a row by its key takes.
    fn glance(&self) -> Result<Identity, Error> {
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.filter(|(at, _)| at.elapsed() < SEEN_MAX) {
            Some((_, identity)) => Ok(identity),
            None => self.look(),
        }
    }

    fn with_writer<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let identity = open::identify(&self.config).map_err(|error| self.noted(error))?;
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = writer.take().filter(|(of, _)| *of == identity);
        let connection = match kept {
            Some((_, connection)) => connection,
            None => self.opened(Mode::Write)?,
        };
        let done = work(&connection)?;
        *writer = Some((identity, connection));
        Ok(done)
    }

    fn opened(&self, mode: Mode) -> Result<Connection, Error> {
        open::open(&self.config, mode).map_err(|error| self.noted(error))
    }

    /// Callers are not told where the file is; the log is.
    fn noted(&self, error: Error) -> Error {
        let path = self.config.path.display();
        tracing::warn!(%path, %error, "the file of a source cannot be used");
        error
    }
}

/// Connections that wait for the next query.
#[derive(Debug)]
struct Kept {
    most: usize,
    connections: Mutex<Vec<(Identity, Connection)>>,
}

impl Kept {
    fn new(most: usize) -> Kept {
        Kept {
            most,
            connections: Mutex::default(),
        }
    }

    fn take(&self, identity: Identity) -> Option<Connection> {
        self.forget_others(identity);
        self.lock().pop().map(|(_, connection)| connection)
    }

    /// A file that was exchanged for another is opened anew.
    fn forget_others(&self, identity: Identity) {
        self.lock().retain(|(of, _)| *of == identity);
    }

    fn keep(&self, identity: Identity, connection: Connection) {
        let mut connections = self.lock();
        if connections.len() < self.most {
            connections.push((identity, connection));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Identity, Connection)>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn bind(
    work: Work,
    statement: &Statement,
    bindings: &Bindings<'_>,
    call: &Call,
) -> Result<Job, Error> {
    let bound = statement.bind(bindings)?;
    let values = bound
        .values
        .iter()
        .map(|(name, value, json)| {
            let value = sql_value(name, value, *json)?;
            match (&value, statement.bound_bytes_max()) {
                (SqlValue::Text(text), Some(most)) if text.len() > most => Err(Error::Argument {
                    name: (*name).to_owned(),
                    message: format!(
                        "the text has {} bytes, the most that this query can handle is {most}",
                        text.len()
                    ),
                }),
                _ => Ok(value),
            }
        })
        .collect::<Result<_, _>>()?;
    // A list of another length makes another text.
    let recurs = work == Work::Read && matches!(bound.sql, Cow::Borrowed(_));
    let mut job = Job {
        recurs: recurs.then(|| Arc::clone(statement.memo())),
        ..Job::new(work, bound.sql.into_owned(), values, call)
    };
    if statement.goes_deep() {
        job.care.is_deep = true;
        job.care.value_bytes_max = heavy::DEEP_VALUE_BYTES_MAX;
    }
    Ok(job)
}

/// Lists and objects are JSON text, which SQLite's own functions read.
fn sql_value(name: &str, value: &Value, json: bool) -> Result<SqlValue, Error> {
    Ok(match value {
        Value::Null => SqlValue::Null,
        _ if json => SqlValue::Text(value.to_string()),
        Value::Bool(flag) => SqlValue::Integer(i64::from(*flag)),
        Value::String(text) => SqlValue::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => SqlValue::Text(value.to_string()),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(integer), _, _) => SqlValue::Integer(integer),
            (None, None, Some(real)) => SqlValue::Real(real),
            _ => {
                return Err(Error::Argument {
                    name: name.to_owned(),
                    message: format!("{number} is larger than SQLite's largest whole number"),
                });
            }
        },
    })
}
