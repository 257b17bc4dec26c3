//! A PostgreSQL database as a source. Nothing connects before the first call.

mod again;
mod binary;
mod catalog;
mod driver;
mod errors;
mod inspect;
mod learned;
mod parameter;
mod pool;
mod pooler;
mod read;
mod role;
mod run;
mod schema;
mod settings;
mod socket;
mod text;
mod write;

pub use role::role_script;
pub use settings::PostgresConfig;

use crate::answer::{Answer, Shape};
use crate::binding::Bindings;
use crate::error::Error;
use crate::guard::{Verdict, is_harmless, judge};
use crate::memo::SourceNumber;
use crate::source::Call;
use crate::statement::{Engine, Statement};
use again::Way;
use inspect::Known;
use parameter::Parameter;
use pool::Pool;
use run::{Job, Reading, Work};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A PostgreSQL database, with its connections and what is known of it.
#[derive(Debug)]
pub struct Postgres {
    config: PostgresConfig,
    pool: Pool,
    known: Known,
    number: SourceNumber,
    /// How it went when it was last asked something.
    last: AtomicU8,
    /// Why that has not worked.
    failure: Mutex<Option<String>>,
}

impl Postgres {
    /// Checks the settings; connecting waits for the first call.
    pub fn open(config: PostgresConfig) -> Result<Arc<Postgres>, Error> {
        let pool = config.pool()?;
        Ok(Arc::new(Postgres {
            config,
            pool,
            known: Known::default(),
            number: SourceNumber::next(),
            last: AtomicU8::new(UNTRIED),
            failure: Mutex::default(),
        }))
    }

    pub(crate) async fn read(
        self: &Arc<Self>,
        statement: &Statement,
        bindings: &Bindings<'_>,
        call: &Call,
    ) -> Result<Answer, Error> {
        let (sql, parameters) = bind(statement, bindings)?;
        self.enter(call).await?;
        // Behind a pooler nothing is left in a session.
        let recurs = matches!(sql, Cow::Borrowed(_)) && !self.config.pgbouncer;
        let memo = statement.memo();
        let reading = match recurs.then(|| Way::of(memo, self.number)) {
            None => Reading::Once,
            Some(Some(way)) => Reading::Again { way, memo },
            Some(None) => Reading::First {
                may_lock: Box::pin(self.may_lock(&sql, call)).await,
                memo,
            },
        };
        self.run(call, Work::Read(reading), sql, parameters).await
    }

    pub(crate) async fn write(
        self: &Arc<Self>,
        statement: &Statement,
        bindings: &Bindings<'_>,
        call: &Call,
    ) -> Result<Answer, Error> {
        let (sql, parameters) = bind(statement, bindings)?;
        self.enter(call).await?;
        self.run(call, Work::Write, sql, parameters).await
    }

    pub(crate) async fn look_at_write(
        self: &Arc<Self>,
        statement: &Statement,
        call: &Call,
    ) -> Result<(), Error> {
        let (sql, _) = bind(statement, &Bindings::none())?;
        self.enter(call).await?;
        let looked = self.run(call, Work::LookAtWrite, sql, Vec::new()).await;
        looked.map(drop)
    }

    pub(crate) async fn explain(
        self: &Arc<Self>,
        statement: &Statement,
        bindings: &Bindings<'_>,
        call: &Call,
    ) -> Result<Answer, Error> {
        let (sql, parameters) = bind(statement, bindings)?;
        self.enter(call).await?;
        self.run(call, Work::Explain, sql, parameters).await
    }

    pub(crate) async fn ask(self: &Arc<Self>, sql: &str, call: &Call) -> Result<Answer, Error> {
        self.enter(call).await?;
        let rules = self.rules(call).await?;
        let work = match judge(sql, Engine::Postgres, Some(&rules))? {
            Verdict::Run => Work::Read(Reading::Asked),
            Verdict::PrepareOnly => Work::Prepare,
        };
        self.run(call, work, sql.into(), Vec::new()).await
    }

    async fn enter(self: &Arc<Self>, call: &Call) -> Result<(), Error> {
        let checked = self.check_role(call).await;
        if let Err(error @ Error::Source { .. }) = &checked {
            self.note(Some(error));
        }
        checked
    }

    /// What came of asking it something.
    fn note(&self, error: Option<&Error>) {
        match error {
            Some(Error::Cancelled) => {}
            Some(Error::Unavailable { .. } | Error::Source { .. } | Error::Deadline) => {
                *self.lock_failure() = error.map(Error::to_string);
                self.last.store(FAILS, Ordering::Relaxed);
            }
            // Read first: those who only read it need not wait for each other.
            _ if self.last.load(Ordering::Relaxed) == WORKS => {}
            _ => self.last.store(WORKS, Ordering::Relaxed),
        }
    }

    pub(crate) fn failure(&self) -> Option<String> {
        let failure = self.lock_failure();
        let fails = self.last.load(Ordering::Relaxed) == FAILS;
        failure.clone().filter(|_| fails)
    }

    fn lock_failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_untried(&self) -> bool {
        self.last.load(Ordering::Relaxed) == UNTRIED
    }

    /// Whether anything that the query names can have an effect, as far as the catalog tells. Where the catalog cannot be
    /// read it can: the query is an author's, and runs without our knowing more of it.
    async fn may_lock(self: &Arc<Self>, sql: &str, call: &Call) -> bool {
        // What the operator lets callers name may have any effect.
        if !self.config.functions.is_empty() {
            return true;
        }
        match self.rules(call).await {
            Ok(rules) => !is_harmless(sql, &rules),
            Err(_) => true,
        }
    }

    async fn run(
        self: &Arc<Self>,
        call: &Call,
        work: Work<'_>,
        sql: Cow<'_, str>,
        parameters: Vec<Parameter<'_>>,
    ) -> Result<Answer, Error> {
        let job = Job {
            work,
            sql,
            parameters,
            shape: call.shape,
            rows_max: call.rows_max,
            bytes_max: call.bytes_max,
            pooled: self.config.pgbouncer,
            has_place: AtomicBool::new(false),
            answered: AtomicBool::new(false),
        };
        let done = run::run(self, call, &job).await;
        match &done {
            // A query that takes long, or waits for its turn, says nothing of the database.
            Err(Error::Deadline) if !job.met_silence() => {}
            done => self.note(done.as_ref().err()),
        }
        done
    }

    /// Runs a query of our own about the catalog and reads its rows.
    async fn look<T: serde::de::DeserializeOwned>(
        self: &Arc<Self>,
        sql: &str,
        parameters: Vec<Parameter<'_>>,
        call: &Call,
    ) -> Result<Vec<T>, Error> {
        let work = Work::Read(Reading::Ours);
        self.look_by(work, sql, parameters, call).await
    }

    /// The same by another way than all with the server's path.
    async fn look_by<T: serde::de::DeserializeOwned>(
        self: &Arc<Self>,
        work: Work<'_>,
        sql: &str,
        parameters: Vec<Parameter<'_>>,
        call: &Call,
    ) -> Result<Vec<T>, Error> {
        let call = Call {
            shape: Shape::Records,
            rows_max: LOOK_ROWS_MAX,
            bytes_max: LOOK_BYTES_MAX,
            ..call.clone()
        };
        let answer = self.run(&call, work, sql.into(), parameters).await?;
        if answer.truncated {
            return Err(Error::source(
                "the database has more functions or tables than can be read at once",
            ));
        }
        serde_json::from_str(&answer.json)
            .map_err(|error| Error::source(format!("the catalog was not understood: {error}")))
    }
}

const UNTRIED: u8 = 0;
const WORKS: u8 = 1;
const FAILS: u8 = 2;

const LOOK_ROWS_MAX: u64 = 100_000;
const LOOK_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The text is borrowed where it is the same for every call.
fn bind<'s>(
    statement: &'s Statement,
    bindings: &Bindings<'_>,
) -> Result<(Cow<'s, str>, Vec<Parameter<'s>>), Error> {
    let bound = statement.bind(bindings)?;
    let parameters = bound
        .values
        .iter()
        .map(|(name, value, json)| {
            let mut parameter = Parameter::new(name, value, *json)?;
            parameter.is_given = !bindings.caller.contains_key(*name);
            Ok(parameter)
        })
        .collect::<Result<_, _>>()?;
    Ok((bound.sql, parameters))
}
