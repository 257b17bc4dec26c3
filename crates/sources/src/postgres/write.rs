//! Writing: one statement of an author in one transaction, committed if all of it worked.

use super::again::UNLOCK;
use super::binary::{is_known, push_row};
use super::errors::{database, is_forbidden};
use super::pooler::{forgets, were_asked};
use super::run::{Done, Job, Line};
use crate::answer::{Answer, Keys, More, affected};
use crate::error::Error;
use futures_util::StreamExt;
use std::pin::pin;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};

/// `session`: what the session is set to, again, because what the statement set is committed as well.
pub(super) async fn write(client: &Client, begin: &str, job: &Job<'_>, session: &str) -> Done {
    let begun = match begin_with(client, begin, job).await {
        Ok(begun) => begun,
        Err(error) => return broken(error),
    };
    let written = match begun.statement {
        // The statement is closed with the end of this, before the transaction ends.
        Ok(statement) => run(client, &statement, job).await,
        Err(error) => Err(error),
    };
    // An unlock of what a function may have locked follows either way.
    let forgotten = &begun.forgotten;
    let end = match written.is_ok() {
        true => format!("COMMIT; {UNLOCK}{forgotten}; {session}"),
        false => format!("ROLLBACK; {UNLOCK}{forgotten}"),
    };
    match (client.batch_execute(&end).await, written) {
        (Ok(()), answer) => Done {
            answer,
            line: begun.line,
        },
        (Err(_), Err(error)) => broken(error),
        (Err(error), Ok(_)) => broken(uncommitted(&error)),
    }
}

/// Has the server read the statement, in a transaction in which it could not even run.
pub(super) async fn look(client: &Client, begin: &str, job: &Job<'_>) -> Done {
    let begun = match begin_with(client, begin, job).await {
        Ok(begun) => begun,
        Err(error) => return broken(error),
    };
    let answer = match begun.statement {
        Ok(statement) => permitted(client, &job.sql, statement.params().len()).await,
        Err(error) => Err(error),
    };
    // A plan runs functions that call themselves immutable.
    let end = format!("ROLLBACK; {UNLOCK}{}", begun.forgotten);
    let line = match client.batch_execute(&end).await {
        Ok(()) => begun.line,
        Err(_) => Line::Broken,
    };
    Done { answer, line }
}

/// Whether the role has the rights that the statement needs: the server looks at them when it is about to run it, which is
/// as far as EXPLAIN goes. What else may be wrong with a plan for no values is no matter.
async fn permitted(client: &Client, sql: &str, parameters: usize) -> Result<Answer, Error> {
    let values = match parameters {
        0 => String::new(),
        _ => format!("({})", vec!["NULL"; parameters].join(", ")),
    };
    // The text of an author goes alone, so that nothing can follow it.
    let prepare = format!("PREPARE {LOOKED_AT} AS {sql}");
    let explain = format!("EXPLAIN EXECUTE {LOOKED_AT} {values}");
    let end = format!("ROLLBACK TO SAVEPOINT {LOOKED_AT}; DEALLOCATE {LOOKED_AT}");
    let begin = client
        .batch_execute(&format!("SAVEPOINT {LOOKED_AT}"))
        .await;
    let prepared = match begin {
        Ok(()) => client.execute_typed(&prepare, &[]).await.map(drop),
        Err(error) => Err(error),
    };
    let explained = match prepared {
        Ok(()) => client.batch_execute(&explain).await,
        // No statement of those that can be explained.
        Err(_) => return Ok(affected(0)),
    };
    let ended = client.batch_execute(&end).await;
    ended.map_err(|error| database(&error))?;
    match explained.map_err(|error| database(&error)) {
        Err(error) if is_forbidden(&error) => Err(error),
        _ => Ok(affected(0)),
    }
}

const LOOKED_AT: &str = "_toolcrib";

/// A transaction that has begun, with the statement it is for.
struct Begun {
    statement: Result<Statement, Error>,
    /// What follows the end of the transaction, so that a pooler's next client finds nothing of ours.
    forgotten: String,
    /// How the connection is left after that: the driver would use what is no longer there.
    line: Line,
}

async fn begin_with(client: &Client, begin: &str, job: &Job<'_>) -> Result<Begun, Error> {
    let (began, prepared) = tokio::join!(
        biased;
        job.begin(client, begin),
        client.prepare(&job.sql),
    );
    let statement = began.and(prepared).map_err(|error| database(&error));
    let forgotten = match &statement {
        Ok(statement) if job.pooled && asked(statement) => forgets(client, &job.sql).await?,
        _ => String::new(),
    };
    let line = match forgotten.is_empty() {
        true => Line::Clean,
        false => Line::Broken,
    };
    Ok(Begun {
        statement: statement.and_then(checked),
        forgotten,
        line,
    })
}

fn broken(error: Error) -> Done {
    Done {
        answer: Err(error),
        line: Line::Broken,
    }
}

fn asked(statement: &Statement) -> bool {
    let columns = statement.columns().iter().map(|column| column.type_());
    were_asked(columns.chain(statement.params()))
}

/// A constraint that is checked at the end may still refuse; a line that breaks there leaves it open.
fn uncommitted(error: &tokio_postgres::Error) -> Error {
    match database(error) {
        Error::Unavailable { message } => Error::unavailable(format!(
            "{message}; whether the change was made is not known. Look before you repeat it"
        )),
        error => error,
    }
}

fn checked(statement: Statement) -> Result<Statement, Error> {
    let strange = statement
        .columns()
        .iter()
        .find(|column| !is_known(column.type_()));
    match strange {
        None => Ok(statement),
        Some(column) => Err(Error::refused(format!(
            "a query that writes cannot return column `{name}` of type {of}; write `{name}::text`",
            name = column.name(),
            of = column.type_()
        ))),
    }
}

async fn run(client: &Client, statement: &Statement, job: &Job<'_>) -> Result<Answer, Error> {
    let stream = client
        .query_raw(statement, job.parameters.iter())
        .await
        .map_err(|error| database(&error))?;
    let mut stream = pin!(stream);
    let types: Vec<Type> = statement
        .columns()
        .iter()
        .map(|column| column.type_().clone())
        .collect();
    let mut writer = job.writer();
    writer.set_keys(Keys::new(
        statement.columns().iter().map(|column| column.name()),
    ));
    let mut more = More::Wanted;
    // Every row is read, wanted or not: the statement has to come to its end.
    while let Some(row) = stream.next().await {
        let row = row.map_err(|error| database(&error))?;
        if more == More::Enough || writer.begin_row() == More::Enough {
            more = More::Enough;
            continue;
        }
        push_row(&mut writer, &row, &types)?;
        more = writer.end_row()?;
    }
    let touched = stream.rows_affected().unwrap_or(0);
    if types.is_empty() {
        return Ok(affected(touched));
    }
    let answer = writer.finish();
    Ok(Answer {
        affected: Some(touched),
        ..answer
    })
}
