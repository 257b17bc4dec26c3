//! Reading again: a query that a cursor took before is prepared on its connection, and goes to the server in one go with the
//! beginning and the end of its transaction.
//!
//! The cursor has shown that the text is one query that changes nothing, and that its rows are few and of types we read in
//! their binary form. The first stays true of a text. Where the rest does not, the query goes back to the cursor.

use super::binary::{is_known, push_row};
use super::errors::{database, outlived_statement};
use super::pool::Connection;
use super::read::END;
use super::run::{Done, Job, Line, Time};
use super::settings::TIME_MS_MAX;
use crate::answer::{Answer, Keys, More, Writer};
use crate::error::Error;
use crate::memo::{Memo, SourceNumber};
use futures_util::StreamExt;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_postgres::types::{Kind, Type};
use tokio_postgres::{Client, RowStream, Statement};
use tokio_util::sync::CancellationToken;

/// How many statements a connection keeps; each costs the server memory.
const STATEMENTS_MAX: usize = 64;
const BEGIN: &str = "BEGIN READ ONLY";
pub(super) const UNLOCK: &str = "SELECT pg_catalog.pg_advisory_unlock_all()";

/// How a text that comes again is best read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Prepared { may_lock: bool },
    Cursor,
}

impl Way {
    pub(super) fn of(memo: &Memo, source: SourceNumber) -> Option<Way> {
        match memo.of(source)? {
            0 => Some(Way::Prepared { may_lock: false }),
            1 => Some(Way::Prepared { may_lock: true }),
            _ => Some(Way::Cursor),
        }
    }

    pub(super) fn note(self, memo: &Memo, source: SourceNumber) {
        let learned = match self {
            Way::Prepared { may_lock } => i8::from(may_lock),
            Way::Cursor => 2,
        };
        memo.note(source, learned);
    }
}

/// The query is a cursor's from now on; what became of it, where it was done.
pub(super) struct Unfit(pub(super) Option<Done>);

/// Statements that were prepared on a connection, by their text.
#[derive(Default)]
pub(super) struct Statements(Mutex<HashMap<String, Arc<Kept>>>);

impl std::fmt::Debug for Statements {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Statements")
    }
}

struct Kept {
    query: Statement,
    unlock: Statement,
    types: Vec<Type>,
    keys: Keys,
}

impl Statements {
    fn get(&self, sql: &str) -> Option<Arc<Kept>> {
        self.lock().get(sql).cloned()
    }

    fn keep(&self, sql: &str, kept: &Arc<Kept>) {
        let mut all = self.lock();
        if all.len() >= STATEMENTS_MAX {
            // Whichever it is: it is prepared again when it is wanted.
            let one = all.keys().next().cloned();
            one.and_then(|one| all.remove(&one));
        }
        all.insert(sql.to_owned(), Arc::clone(kept));
    }

    fn forget(&self, sql: &str) {
        self.lock().remove(sql);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Kept>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether rows of these types are read in their binary form to the same JSON as by a cursor.
pub(super) fn are_readable<'t>(
    connection: &Connection,
    types: impl IntoIterator<Item = &'t Type>,
) -> bool {
    let mut types = types.into_iter();
    types.all(|of| is_known(of) && (connection.is_utc || !holds_zone(of)))
}

fn holds_zone(of: &Type) -> bool {
    match of.kind() {
        Kind::Domain(inner) => holds_zone(inner),
        _ => *of == Type::TIMESTAMPTZ,
    }
}

/// The transaction is over however it ends.
pub(super) async fn read(
    connection: &Connection,
    may_lock: bool,
    time: Time<'_>,
    job: &Job<'_>,
) -> Result<Done, Unfit> {
    let kept = match connection.statements.get(&job.sql) {
        Some(kept) => kept,
        None => match Box::pin(prepare(&connection.client, &time.begin_read(), job)).await {
            Ok(kept) => {
                let kept = Arc::new(kept);
                connection.statements.keep(&job.sql, &kept);
                kept
            }
            Err(done) => return Ok(done),
        },
    };
    if !are_readable(connection, &kept.types) {
        return Err(Unfit(None));
    }
    if let Err(error) = keep_time(connection, time.left).await {
        return Ok(Done::new(Err(database(&error)), &Err(error)));
    }
    let done = rows(&connection.client, (&kept, may_lock), job).await;
    // A cursor gives no more rows than are asked for, and knows of no types but today's.
    let outlived = matches!(&done.answer, Err(error) if outlived_statement(error));
    if done.line == Line::Busy || outlived {
        connection.statements.forget(&job.sql);
        let again = outlived && done.line == Line::Clean;
        return Err(Unfit((!again).then_some(done)));
    }
    Ok(done)
}

/// Has the server read the text, in a transaction of its own as any query.
async fn prepare(client: &Client, begin: &str, job: &Job<'_>) -> Result<Kept, Done> {
    let (began, query, unlock) = tokio::join!(
        biased;
        job.begin(client, begin),
        client.prepare(&job.sql),
        client.prepare(UNLOCK),
    );
    let ended = client.batch_execute(END).await;
    let prepared = began
        .and_then(|()| Ok((query?, unlock?)))
        .map_err(|error| Done::new(Err(database(&error)), &ended))?;
    let (query, unlock) = match ended {
        Ok(()) => prepared,
        Err(error) => return Err(Done::new(Err(database(&error)), &Err(error))),
    };
    let columns = query.columns().iter();
    Ok(Kept {
        types: columns
            .clone()
            .map(|column| column.type_().clone())
            .collect(),
        keys: Keys::new(columns.map(|column| column.name())),
        query,
        unlock,
    })
}

/// Has the session stop queries that take longer than this. The same call has the same time nearly always, so that it is
/// rounded up and set only where it changes: it is the second clock, for when our own word to stop does not arrive.
async fn keep_time(connection: &Connection, left: Duration) -> Result<(), tokio_postgres::Error> {
    let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
    let step = if left > 1000 { 1000 } else { 100 };
    let wanted = left.clamp(1, TIME_MS_MAX).next_multiple_of(step);
    if connection.stops_after_ms.load(Ordering::Relaxed) != wanted {
        let set = format!("SET statement_timeout = {wanted}");
        connection.client.batch_execute(&set).await?;
        connection.stops_after_ms.store(wanted, Ordering::Relaxed);
    }
    Ok(())
}

/// The whole transaction in one go.
async fn rows(client: &Client, (kept, may_lock): (&Kept, bool), job: &Job<'_>) -> Done {
    let cut = CancellationToken::new();
    let rows = async {
        let stream = client
            .query_raw(&kept.query, job.parameters.iter())
            .await
            .map_err(|error| database(&error))?;
        let collected = collect(stream, kept, job.writer()).await;
        if matches!(
            collected,
            Ok((_, More::Enough)) | Err(Error::TooLarge { .. })
        ) {
            cut.cancel();
        }
        collected
    };
    let end = async {
        let unlock = async {
            match may_lock {
                true => client.execute(&kept.unlock, &[]).await.map(drop),
                false => Ok(()),
            }
        };
        let ended = async {
            let (ended, unlocked) = tokio::join!(biased; client.batch_execute("ROLLBACK"), unlock);
            ended.and(unlocked)
        };
        tokio::select! {
            biased;
            ended = ended => Some(ended),
            () = cut.cancelled() => None,
        }
    };
    let (began, collected, ended) = tokio::join!(biased; job.begin(client, BEGIN), rows, end);
    let answer = match began {
        Ok(()) => collected.map(|(answer, _)| answer),
        Err(error) => Err(database(&error)),
    };
    match ended {
        Some(ended) => Done::new(answer, &ended),
        None => Done {
            answer,
            line: Line::Busy,
        },
    }
}

/// Rows as JSON, and whether some were left with the server.
async fn collect(
    stream: RowStream,
    kept: &Kept,
    mut writer: Writer,
) -> Result<(Answer, More), Error> {
    let mut stream = pin!(stream);
    writer.set_keys(kept.keys.clone());
    while let Some(row) = stream.next().await {
        let row = row.map_err(|error| database(&error))?;
        if writer.begin_row() == More::Enough {
            return Ok((writer.finish(), More::Enough));
        }
        push_row(&mut writer, &row, &kept.types)?;
        if writer.end_row()? == More::Enough {
            return Ok((writer.finish(), More::Enough));
        }
    }
    Ok((writer.finish(), More::Wanted))
}
