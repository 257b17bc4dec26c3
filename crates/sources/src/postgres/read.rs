//! Reading: `BEGIN READ ONLY`, a cursor over the query, as many rows as are wanted, `ROLLBACK`, sent in two goes.
//!
//! `DECLARE … CURSOR FOR` is the best filter there is: PostgreSQL's own grammar takes nothing there but one query, and
//! refuses one that changes data. Rows are fetched by the simple protocol, which gives every type as text; their types come
//! from describing the same FETCH.

use super::again::are_readable;
use super::errors::database;
use super::parameter::Parameter;
use super::pool::Connection;
use super::pooler::{forgets, were_asked};
use super::run::{Done, Job, Line};
use super::text::push_text;
use crate::answer::{Answer, Keys, More, Writer, affected};
use crate::error::Error;
use futures_util::StreamExt;
use std::pin::pin;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryStream};
use tokio_util::sync::CancellationToken;

/// What a session can keep over a rollback is locks.
pub(super) const END: &str = "ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()";
const CURSOR: &str = "DECLARE _toolcrib NO SCROLL CURSOR FOR ";

/// `fits`, where it is asked for: whether the query may be read without a cursor from now on.
pub(super) async fn by_cursor(
    connection: &Connection,
    begin: &str,
    job: &Job<'_>,
    fits: Option<&mut bool>,
) -> Done {
    let client = &connection.client;
    let writer = job.writer();
    let declare = format!("{CURSOR}{}", job.sql);
    // Whether one row is all that there is shows only if another is asked for.
    let rows_wanted = match fits {
        Some(_) => writer.rows_wanted().max(2),
        None => writer.rows_wanted(),
    };
    let fetch = format!("FETCH FORWARD {rows_wanted} FROM _toolcrib");
    let parameters = typed(&job.parameters);
    // The types have to be known before the first row comes: learning of one may take another question to the server,
    // whose answer would wait behind rows that nobody reads yet.
    let (began, declared, described) = tokio::join!(
        biased;
        job.begin(client, begin),
        client.execute_typed(&declare, &parameters),
        client.prepare(&fetch),
    );
    // What was wrong is what went wrong first: after that the server refuses everything.
    if let Some(error) = first_error([began.err(), declared.err()]) {
        return Done::new(Err(error), &client.batch_execute(END).await);
    }
    let statement = match described {
        Ok(statement) => statement,
        Err(error) => return Done::new(Err(database(&error)), &client.batch_execute(END).await),
    };
    let columns: Vec<(String, Type)> = statement
        .columns()
        .iter()
        .map(|column| (column.name().to_owned(), column.type_().clone()))
        .collect();
    // Closed while the transaction is open: behind a pooler it would be looked for elsewhere afterwards.
    drop(statement);
    let asked = job.pooled && were_asked(columns.iter().map(|(_, of)| of));
    let forgets = match asked {
        true => match forgets(client, &fetch).await {
            Ok(forgets) => forgets,
            Err(error) => return Done::new(Err(error), &client.batch_execute(END).await),
        },
        false => String::new(),
    };
    let (fetched, line) = rows(
        client,
        (&fetch, &columns),
        writer,
        &format!("{END}{forgets}"),
    )
    .await;
    if let (Some(fits), Ok((_, rest))) = (fits, &fetched) {
        *fits = *rest == Rest::None && are_readable(connection, columns.iter().map(|(_, of)| of));
    }
    Done {
        answer: fetched.map(|(answer, _)| answer),
        // The driver would use what is no longer there.
        line: if asked && line == Line::Clean {
            Line::Broken
        } else {
            line
        },
    }
}

/// Fetches the rows and ends the transaction, unless there is no room for the rest of them.
async fn rows(
    client: &Client,
    (fetch, columns): (&str, &[(String, Type)]),
    writer: Writer,
    end: &str,
) -> (Result<(Answer, Rest), Error>, Line) {
    let cut = CancellationToken::new();
    let rows = async {
        let stream = client.simple_query_raw(fetch).await;
        let collected = match stream {
            Ok(stream) => collect(stream, columns, writer).await,
            Err(error) => Err(database(&error)),
        };
        if matches!(
            collected,
            Ok((_, Rest::Unread)) | Err(Error::TooLarge { .. })
        ) {
            cut.cancel();
        }
        collected
    };
    let end = async {
        tokio::select! {
            biased;
            ended = client.batch_execute(end) => Some(ended),
            () = cut.cancelled() => None,
        }
    };
    let (collected, ended) = tokio::join!(biased; rows, end);
    let line = match ended {
        Some(Ok(())) => Line::Clean,
        Some(Err(_)) => Line::Broken,
        None => Line::Busy,
    };
    (collected, line)
}

/// Rows that the answer does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    None,
    Read,
    /// The server still sends them.
    Unread,
}

/// Rows as JSON, and whether there was no room for the rest of them.
async fn collect(
    stream: SimpleQueryStream,
    columns: &[(String, Type)],
    mut writer: Writer,
) -> Result<(Answer, Rest), Error> {
    let mut stream = pin!(stream);
    writer.set_keys(Keys::new(columns.iter().map(|(name, _)| name.as_str())));
    let mut rest = Rest::None;
    while let Some(message) = stream.next().await {
        let row = match message.map_err(|error| database(&error))? {
            SimpleQueryMessage::Row(row) if rest == Rest::None => row,
            _ => continue,
        };
        if writer.begin_row() == More::Enough {
            rest = Rest::Read;
            continue;
        }
        for (index, (_, of)) in columns.iter().enumerate() {
            let value = row.try_get(index).map_err(|error| database(&error))?;
            writer.value(value.map_or(4, str::len), |out| match value {
                Some(text) => push_text(out, of, text),
                None => out.push_str("null"),
            });
        }
        if writer.end_row()? == More::Enough {
            return Ok((writer.finish(), Rest::Unread));
        }
    }
    Ok((writer.finish(), rest))
}

/// Has the server read the text as a query, and runs nothing: for what we cannot make out, so that its own words go back.
pub(super) async fn prepare(client: &Client, begin: &str, job: &Job<'_>) -> Done {
    let declare = format!("{CURSOR}{}", job.sql);
    let (began, prepared) = tokio::join!(
        biased;
        job.begin(client, begin),
        client.prepare(&declare),
    );
    // What was prepared is closed before the transaction ends.
    let prepared = prepared.map(drop);
    let ended = client.batch_execute(END).await;
    let answer = match first_error([began.err(), prepared.err()]) {
        Some(error) => Err(error),
        None => Err(Error::refused(
            "the query was not run because it cannot be told what it does; expected one SELECT, WITH, VALUES or TABLE",
        )),
    };
    Done::new(answer, &ended)
}

/// The plan as JSON. The query is explained as a cursor's, which filters it the same way; it is never run.
pub(super) async fn explain(client: &Client, begin: &str, job: &Job<'_>) -> Done {
    let explain = format!("EXPLAIN (FORMAT JSON) {CURSOR}{}", job.sql);
    let plan = async {
        let parameters = job.parameters.iter().map(|value| (value, Type::UNKNOWN));
        let stream = client
            .query_typed_raw(&explain, parameters)
            .await
            .map_err(|error| database(&error))?;
        let mut stream = pin!(stream);
        let mut json = String::new();
        while let Some(row) = stream.next().await {
            let row = row.map_err(|error| database(&error))?;
            let super::binary::Raw(bytes) = row.try_get(0).map_err(|error| database(&error))?;
            json.push_str(&String::from_utf8_lossy(bytes.unwrap_or_default()));
        }
        Ok(json)
    };
    let (began, plan, ended) = tokio::join!(
        biased;
        job.begin(client, begin),
        plan,
        client.batch_execute(END),
    );
    let answer = match first_error([began.err(), None]) {
        Some(error) => Err(error),
        None => plan.map(|json| Answer {
            json,
            affected: None,
            ..affected(0)
        }),
    };
    Done::new(answer, &ended)
}

fn typed<'p>(parameters: &'p [Parameter<'_>]) -> Vec<(&'p (dyn ToSql + Sync), Type)> {
    let typed = parameters.iter();
    typed
        .map(|parameter| (parameter as &(dyn ToSql + Sync), Type::UNKNOWN))
        .collect()
}

fn first_error(errors: [Option<tokio_postgres::Error>; 2]) -> Option<Error> {
    errors
        .into_iter()
        .flatten()
        .next()
        .map(|error| database(&error))
}
