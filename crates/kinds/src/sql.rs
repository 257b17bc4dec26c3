//! The `sql` kind: a query of its author on a named source. Arguments are bound, never pasted; the database itself keeps a
//! query from writing that does not say that it does.

mod failure;
mod faults;
mod prepared;
mod quotes;

pub use faults::faults;
pub use quotes::without_quotes;

use crate::sources::{Named, Sources};
use ::sources::{Answer, Bindings, Call, Error, Shape, Source, Statement};
use catalog::tool::Definition;
use executor::kind::{CheckFuture, RunFuture};
use executor::{Code, Data, Failure, Kind, Output, Run};
use failure::{failure, is_elsewhere};
use faults::{misused_properties, unknown_parameter};
use prepared::Prepared;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long storing a tool waits for its source to look at the query.
const CHECK: Duration = Duration::from_secs(2);

/// What a plan may have.
const PLAN_ROWS_MAX: u64 = 10_000;

/// So many troubles are remembered.
const TROUBLES_MAX: usize = 10_000;

/// Runs `sql` tools.
pub struct Sql {
    sources: Arc<Sources>,
    /// What kept a definition from being checked, or would keep it from working, when it was last looked at; by name.
    troubles: Mutex<HashMap<String, String>>,
}

impl Sql {
    pub fn new(sources: Arc<Sources>) -> Self {
        Sql {
            sources,
            troubles: Mutex::default(),
        }
    }

    async fn call(&self, run: &Run) -> Result<Output, Failure> {
        let prepared = run.entry.made(Prepared::new);
        prepared.check_given(&run.arguments)?;
        let named = self.sources.get(&prepared.source)?;
        if !run.is_trusted()
            && let Some(why) = closed(prepared, &named)
        {
            let why = format!("{why}, and the owner of '{}' is no admin", run.entry.name);
            return Err(Failure::new(Code::Forbidden, why));
        }
        if prepared.write && !named.allow_write {
            return Err(Failure::new(Code::Forbidden, no_writing(&named.name)));
        }
        let source = ready(&named)?;
        let told = |error: &Error| failure(error, &named.name, prepared.write);
        let statement = prepared.statement(source.engine()).map_err(told)?;
        let arguments = prepared.arguments(&run.arguments);
        prepared.check_whole(&arguments)?;
        let bindings = Bindings {
            arguments: &arguments,
            caller: &prepared.of_caller(&run.caller)?,
        };
        let call = Call {
            tool: Arc::clone(&run.entry.name),
            deadline: run.deadline.into(),
            cancel: run.cancel.clone(),
            shape: prepared.shape,
            rows_max: prepared.rows_max,
            bytes_max: prepared.bytes_max.min(run.output_bytes_max),
        };
        let answered = match prepared.write {
            true => source.write(statement, &bindings, &call).await,
            false => source.read(statement, &bindings, &call).await,
        };
        match answered {
            Ok(answer) => output(answer),
            Err(Error::Deadline) => {
                // The executor is at its deadline too, and says so in its own words.
                std::future::pending::<()>().await;
                Err(told(&Error::Deadline))
            }
            Err(error) => Err(told(&error)),
        }
    }

    async fn plan(&self, run: &Run) -> Result<Output, Failure> {
        let prepared = run.entry.made(Prepared::new);
        prepared.check_given(&run.arguments)?;
        let named = self.sources.get(&prepared.source)?;
        let source = ready(&named)?;
        let told = |error: &Error| failure(error, &named.name, false);
        if prepared.write {
            let why = "Only queries that read are explained; this one writes";
            return Err(Failure::new(Code::InvalidInput, why));
        }
        let statement = prepared.statement(source.engine()).map_err(told)?;
        let arguments = prepared.arguments(&run.arguments);
        prepared.check_whole(&arguments)?;
        let bindings = Bindings {
            arguments: &arguments,
            caller: &prepared.of_caller(&run.caller)?,
        };
        let call = Call {
            cancel: run.cancel.clone(),
            bytes_max: run.output_bytes_max,
            ..looking(&run.entry.name, run.deadline.into())
        };
        let plan = source.explain(statement, &bindings, &call).await;
        output(plan.map_err(|error| told(&error))?)
    }

    /// Asks the source what it makes of the query. What is wrong with the query itself is refused; what may still come,
    /// such as a source that is down or a table that is not there yet, is only told.
    async fn look(&self, definition: &Definition) -> Result<Option<String>, Failure> {
        let prepared = Prepared::new(definition);
        let Ok(named) = self.sources.get(&prepared.source) else {
            return Ok(None);
        };
        let source = ready(&named)?;
        let wrong = |why: String| Failure::new(Code::InvalidInput, why);
        let statement = prepared
            .statement(source.engine())
            .map_err(|error| wrong(format!("config.query: {error}")))?;
        if let Some((name, place)) = unknown_parameter(definition, statement) {
            return Err(wrong(format!(
                "config.query: `:{name}` at {place} is neither a property of the input schema nor in config.caller"
            )));
        }
        if prepared.write && !named.allow_write {
            return Err(wrong(format!("config.write: {}", no_writing(&named.name))));
        }
        let answered = looked_at(definition, &prepared, source, statement).await;
        let shown = &named.name;
        let error = match answered {
            Ok(()) | Err(Error::Argument { .. } | Error::TooLarge { .. }) => return Ok(None),
            Err(error) => error,
        };
        let said = || format!("config.query: source '{shown}' says: {}", error.in_full());
        match &error {
            Error::Database { message, code, .. } if is_elsewhere(message, code) => {
                Ok(Some(said()))
            }
            Error::Database { .. } => Err(wrong(said())),
            Error::Query { .. } | Error::Refused { .. } => {
                Err(wrong(format!("config.query: {error}")))
            }
            error => Ok(Some(failure(error, shown, false).message)),
        }
    }

    fn remember(&self, name: &str, trouble: Option<String>) {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        match trouble {
            None => drop(troubles.remove(name)),
            Some(why) => {
                if troubles.len() >= TROUBLES_MAX {
                    troubles.clear();
                }
                troubles.insert(name.to_owned(), why);
            }
        }
    }
}

impl Kind for Sql {
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(self.call(run))
    }

    fn check<'a>(&'a self, definition: &'a Definition) -> CheckFuture<'a> {
        Box::pin(async move {
            let trouble = self.look(definition).await?;
            self.remember(&definition.name, trouble);
            Ok(())
        })
    }

    fn missing(&self, definition: &Definition) -> Option<String> {
        let source = prepared::text(definition, "source");
        let named = match self.sources.get(source) {
            Ok(named) => named,
            Err(failure) => return Some(failure.message),
        };
        let troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        let known = troubles.get(&definition.name).cloned();
        known.or_else(|| {
            let engine = named.source.as_ref().ok().map(|source| source.engine());
            misused_properties(definition, engine)
        })
    }

    fn needs_trust(&self, definition: &Definition) -> Option<String> {
        let prepared = Prepared::new(definition);
        match self.sources.get(&prepared.source) {
            Ok(named) => closed(&prepared, &named),
            Err(_) => prepared.write.then(|| WRITES.to_owned()),
        }
    }

    fn explain<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(self.plan(run))
    }
}

const WRITES: &str = "It writes to a database";

/// Why only tools of admins may do this.
fn closed(prepared: &Prepared, named: &Named) -> Option<String> {
    if prepared.write {
        return Some(WRITES.to_owned());
    }
    let name = &named.name;
    (!named.authors_everyone).then(|| format!("Source '{name}' is for tools of admins"))
}

fn no_writing(source: &str) -> String {
    format!(
        "source '{source}' takes no tools that write; an admin changes that with \"allow_write\": true in the source"
    )
}

fn ready(named: &Named) -> Result<&Source, Failure> {
    let why = |why: &String| {
        Failure::new(
            Code::NotConfigured,
            format!("Source '{}' cannot be used: {why}", named.name),
        )
    };
    named.source.as_ref().map_err(why)
}

/// What the database says of the query, of which nothing is run.
async fn looked_at(
    definition: &Definition,
    prepared: &Prepared,
    source: &Source,
    statement: &Statement,
) -> Result<(), Error> {
    let call = looking(&definition.name.as_str().into(), Instant::now() + CHECK);
    let call = Call {
        bytes_max: prepared.bytes_max,
        ..call
    };
    if prepared.write {
        return source.look_at_write(statement, &call).await;
    }
    let nothing = Bindings::none();
    source.explain(statement, &nothing, &call).await.map(drop)
}

/// A call that only looks how something would be done.
fn looking(tool: &Arc<str>, deadline: Instant) -> Call {
    Call {
        tool: Arc::clone(tool),
        deadline,
        cancel: CancellationToken::new(),
        shape: Shape::Records,
        rows_max: PLAN_ROWS_MAX,
        bytes_max: prepared::BYTES_MAX,
    }
}

fn output(answer: Answer) -> Result<Output, Failure> {
    let (rows, truncated) = (answer.rows, answer.truncated);
    let data = RawValue::from_string(answer.json).map_err(|error| {
        tracing::error!(%error, "what a source wrote is no JSON");
        Failure::execution("the answer of the database is no JSON")
    })?;
    // For whoever may think that these rows are all.
    let message = truncated.then(|| {
        format!(
            "Tool executed. The data is cut: there are more rows than the {rows} shown. Ask for less, or for the rest."
        )
    });
    Ok(Output {
        data: match data.get() {
            "null" => Data::Value(Value::Null),
            _ => Data::Written(data),
        },
        message,
        truncated,
        ..Output::default()
    })
}
