//! One piece of work on one connection. Whoever asked may go away at any time: the query is stopped at the server then, and
//! no connection is used again that is in the middle of something.

use super::again::{Unfit, Way};
use super::errors::{lost_statement, named, was_stopped};
use super::parameter::Parameter;
use super::pool::{Connection, Lease, Serves};
use super::{Postgres, PostgresConfig, again, read, write};
use crate::answer::{Answer, Shape, Writer, too_large};
use crate::error::Error;
use crate::memo::Memo;
use crate::source::Call;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_postgres::Client;

/// A server that lives answers `BEGIN` at once, whatever comes after it. A line that lay idle and is silent for this long
/// has been cut somewhere on the way, which nobody tells its ends.
const SILENT_MAX: Duration = Duration::from_millis(1500);

/// With the path of the role, an operator that somebody made for two names would be taken for one of the server's.
const OWN_PATH: &str = "SET LOCAL search_path = pg_catalog, pg_temp; ";

#[derive(Clone, Copy, Debug)]
pub(super) enum Work<'m> {
    Read(Reading<'m>),
    Write,
    Explain,
    /// Have the server read the text, and run nothing.
    Prepare,
    /// The same for text that may write.
    LookAtWrite,
}

impl Work<'_> {
    /// Whose text it is.
    fn serves(self) -> Serves {
        match self {
            // Reading a text runs functions already: those that make values of its constants.
            Work::Prepare | Work::Read(Reading::Asked) => Serves::Callers,
            _ => Serves::Tools,
        }
    }
}

/// What is known of a text that is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading<'m> {
    /// It is not expected again, so that nothing is learned of it.
    Once,
    /// The same, of a text that a caller wrote.
    Asked,
    /// A question of ours about the catalog, in which every name and operator is the server's own.
    Ours,
    /// It will come again, and how it is best read shows now.
    First {
        /// It may leave a lock with the session, which outlives the transaction.
        may_lock: bool,
        memo: &'m Memo,
    },
    Again {
        way: Way,
        memo: &'m Memo,
    },
}

#[derive(Debug)]
pub(super) struct Job<'j> {
    pub(super) work: Work<'j>,
    pub(super) sql: Cow<'j, str>,
    pub(super) parameters: Vec<Parameter<'j>>,
    pub(super) shape: Shape,
    pub(super) rows_max: u64,
    pub(super) bytes_max: usize,
    /// The session is shared with others, by a pooler.
    pub(super) pooled: bool,
    /// It is its turn: whatever is waited for from here on is the server.
    pub(super) has_place: AtomicBool,
    /// The server has answered at least once: the line is alive.
    pub(super) answered: AtomicBool,
}

impl Job<'_> {
    /// The server was asked, and has not said a word.
    pub(super) fn met_silence(&self) -> bool {
        self.has_place.load(Ordering::Relaxed) && !self.answered.load(Ordering::Relaxed)
    }

    pub(super) fn writer(&self) -> Writer {
        Writer::new(self.shape, self.rows_max, self.bytes_max)
    }

    /// Begins the transaction, and notes that there was an answer.
    pub(super) async fn begin(
        &self,
        client: &Client,
        begin: &str,
    ) -> Result<(), tokio_postgres::Error> {
        let began = client.batch_execute(begin).await;
        self.answered.store(began.is_ok(), Ordering::Relaxed);
        began
    }
}

/// How the connection is after the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// As good as new.
    Clean,
    /// The server is still sending what nobody wants: it has to be stopped.
    Busy,
    /// Unknown, so of no more use.
    Broken,
}

pub(super) struct Done {
    pub(super) answer: Result<Answer, Error>,
    pub(super) line: Line,
}

impl Done {
    /// `ended`: how the end of the transaction went.
    pub(super) fn new(
        answer: Result<Answer, Error>,
        ended: &Result<(), tokio_postgres::Error>,
    ) -> Done {
        let line = match ended {
            Ok(()) => Line::Clean,
            Err(_) => Line::Broken,
        };
        Done { answer, line }
    }
}

/// A connection at work. If whoever waits goes away, the server is told to stop.
struct Held<'j> {
    source: Arc<Postgres>,
    lease: Option<Lease>,
    /// The server has answered at least once.
    answered: &'j AtomicBool,
}

impl Held<'_> {
    fn lease(&self) -> &Lease {
        self.lease
            .as_ref()
            .expect("it is taken out only at the end")
    }

    fn take(mut self) -> Lease {
        self.lease.take().expect("it is taken out only here")
    }

    /// Has the server stop what runs. Nobody waits for that.
    fn stop(self) {}
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            let source = Arc::clone(&self.source);
            let answered = self.answered.load(Ordering::Relaxed);
            // With the runtime gone the connection is closed, which stops the query as well.
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(async move { source.pool.stop(lease, answered).await });
            }
        }
    }
}

/// How long the work may take, for the server's clock.
#[derive(Clone, Copy)]
pub(super) struct Time<'t> {
    config: &'t PostgresConfig,
    pub(super) left: Duration,
}

impl Time<'_> {
    pub(super) fn begin_read(self) -> String {
        self.config.begin("READ ONLY", self.left.as_millis())
    }

    fn begin_write(self) -> String {
        self.config.begin("READ WRITE", self.left.as_millis())
    }
}

struct Task<'t> {
    source: &'t Arc<Postgres>,
    job: &'t Job<'t>,
    call: &'t Call,
}

pub(super) async fn run(
    source: &Arc<Postgres>,
    call: &Call,
    job: &Job<'_>,
) -> Result<Answer, Error> {
    let task = Task { source, job, call };
    let mut retried = false;
    loop {
        let held = Held {
            source: Arc::clone(source),
            lease: Some(task.lease().await?),
            answered: &job.answered,
        };
        let Some(done) = task.perform(held.lease()).await else {
            held.stop();
            if call.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            // A line on which nothing came back is dead, and so are those beside it.
            if !job.answered.load(Ordering::Relaxed) {
                source.pool.forget_idle();
            }
            return Err(Error::Deadline);
        };
        if !retried && task.is_stale(held.lease(), &done) {
            retried = true;
            drop(held.take());
            source.pool.forget_idle();
            continue;
        }
        return task.end(held, done);
    }
}

impl Task<'_> {
    async fn lease(&self) -> Result<Lease, Error> {
        tokio::select! {
            biased;
            leased = self.source.pool.lease(&self.call.tool, self.job.work.serves(), &self.job.has_place) => leased,
            () = self.call.cancel.cancelled() => Err(Error::Cancelled),
            () = sleep_until(self.call.deadline) => Err(Error::Deadline),
        }
    }

    /// Nothing if it was not done in time.
    async fn perform(&self, lease: &Lease) -> Option<Done> {
        let Call {
            deadline, cancel, ..
        } = self.call;
        let work = async {
            let connection = &lease.connection;
            let (client, job) = (&connection.client, self.job);
            let time = Time {
                config: &self.source.config,
                left: deadline.saturating_duration_since(Instant::now()),
            };
            match job.work {
                Work::Read(reading) => self.read(connection, time, reading).await,
                // In boxes, so that a query that comes again does not carry their room about.
                Work::Explain => Box::pin(read::explain(client, &time.begin_read(), job)).await,
                Work::Prepare => Box::pin(read::prepare(client, &time.begin_read(), job)).await,
                Work::LookAtWrite => Box::pin(write::look(client, &time.begin_read(), job)).await,
                Work::Write => {
                    // What it sets may stay with the session.
                    connection.stops_after_ms.store(0, Ordering::Relaxed);
                    let session = self.source.pool.session_again();
                    Box::pin(write::write(client, &time.begin_write(), job, &session)).await
                }
            }
        };
        tokio::select! {
            biased;
            done = lease.connection.driven(work) => Some(done),
            () = cancel.cancelled() => None,
            done = self.time_is_up(lease) => done,
        }
    }

    async fn read(&self, connection: &Connection, time: Time<'_>, reading: Reading<'_>) -> Done {
        let (source, job) = (self.source.number, self.job);
        match reading {
            Reading::First { may_lock, memo } => {
                let mut fits = false;
                let begin = time.begin_read();
                let first = read::by_cursor(connection, &begin, job, Some(&mut fits));
                let done = Box::pin(first).await;
                if done.answer.is_ok() {
                    let way = match fits {
                        true => Way::Prepared { may_lock },
                        false => Way::Cursor,
                    };
                    way.note(memo, source);
                }
                return done;
            }
            Reading::Again {
                way: Way::Prepared { may_lock },
                memo,
            } => match again::read(connection, may_lock, time, job).await {
                Ok(done) => return done,
                Err(Unfit(done)) => {
                    Way::Cursor.note(memo, source);
                    if let Some(done) = done {
                        return done;
                    }
                }
            },
            Reading::Ours => {
                let begin = time.begin_read() + OWN_PATH;
                return Box::pin(read::by_cursor(connection, &begin, job, None)).await;
            }
            Reading::Once | Reading::Asked | Reading::Again { .. } => {}
        }
        Box::pin(read::by_cursor(connection, &time.begin_read(), job, None)).await
    }

    /// Ends at the deadline with nothing, or before it if a line that was used before does not answer at all.
    async fn time_is_up(&self, lease: &Lease) -> Option<Done> {
        let deadline = self.call.deadline;
        if lease.used {
            sleep_until(deadline.min(Instant::now() + SILENT_MAX)).await;
        }
        if !lease.used || self.job.answered.load(Ordering::Relaxed) || Instant::now() >= deadline {
            sleep_until(deadline).await;
            return None;
        }
        // Nothing but the beginning was sent, so that even a write has not happened.
        Some(Done {
            answer: Err(Error::unavailable(
                "the connection to the database was silent",
            )),
            line: Line::Broken,
        })
    }

    /// The connection had died unseen while it lay idle, or its prepared statements lie elsewhere; nothing was done yet.
    fn is_stale(&self, lease: &Lease, done: &Done) -> bool {
        let Err(error) = &done.answer else {
            return false;
        };
        let writes = matches!(self.job.work, Work::Write);
        let repeatable = !writes || !self.job.answered.load(Ordering::Relaxed);
        let dead = matches!(error, Error::Unavailable { .. })
            && done.line == Line::Broken
            && !lease.connection.was_too_large();
        let elsewhere = self.source.config.pgbouncer && lost_statement(error);
        // What other callers left in the session is in the way of the driver's own statements.
        let spoilt = lease.connection.serves == Serves::Callers
            && (lost_statement(error) || matches!(error, Error::Unavailable { .. }));
        repeatable && lease.used && (dead || elsewhere || spoilt)
    }

    fn end(&self, held: Held<'_>, done: Done) -> Result<Answer, Error> {
        let too_long = held.lease().connection.was_too_large();
        match done.line {
            Line::Clean => self.source.pool.give_back(held.take()),
            Line::Busy => held.stop(),
            Line::Broken => drop(held.take()),
        }
        match done.answer {
            Err(_) if too_long => Err(too_large(self.job.bytes_max)),
            // The server's clock is as good as ours.
            Err(error) if was_stopped(&error) && self.call.cancel.is_cancelled() => {
                Err(Error::Cancelled)
            }
            Err(error) if was_stopped(&error) => Err(Error::Deadline),
            Err(error) => Err(named(error, &self.job.parameters)),
            answer => answer,
        }
    }
}
