//! Connections that are kept, and who gets one.

use super::again::Statements;
use super::driver::Driver;
use super::socket::Dialer;
use crate::error::Error;
use crate::shares::{Share, Shares};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

/// Connections beyond the fewest that are kept close after being idle for this long.
const IDLE_MAX: Duration = Duration::from_secs(300);
/// After this long a connection is made anew, so that none keeps what a server has collected for it.
const AGE_MAX: Duration = Duration::from_secs(1800);
/// How long asking the server to stop a query may take.
const CANCEL_MAX: Duration = Duration::from_secs(2);
/// How long the end of a query that was told to stop is waited for before the server is asked about it; twice as long each
/// time, up to the second.
const END_WAIT: Duration = Duration::from_secs(1);
const END_WAIT_MAX: Duration = Duration::from_secs(30);
const PID: &str = "SELECT pg_catalog.pg_backend_pid()";

/// What every session is set to before its first query, and again after every write. Nothing else can change it, because
/// every transaction that reads is rolled back.
pub(super) const SESSION: &[(&str, &str)] = &[
    ("standard_conforming_strings", "on"),
    ("backslash_quote", "safe_encoding"),
    ("datestyle", "'ISO, YMD'"),
    ("intervalstyle", "'postgres'"),
    ("bytea_output", "'hex'"),
    ("extra_float_digits", "1"),
    ("cursor_tuple_fraction", "1.0"),
    ("client_min_messages", "error"),
    // Between two messages of ours nothing is waited for: who is silent for so long is gone.
    ("idle_in_transaction_session_timeout", "30000"),
    // Compiling a large query to machine code cannot be stopped, so that its deadline would not hold.
    ("jit", "off"),
    ("default_transaction_read_only", "on"),
];

const UTC: [&str; 4] = ["UTC", "Etc/UTC", "GMT", "Etc/GMT"];

#[derive(Debug)]
pub(super) struct Pool {
    config: Config,
    dialer: Dialer,
    shares: Arc<Shares>,
    connections_min: usize,
    /// Behind PgBouncer a session is nobody's: settings go into each transaction instead.
    session: Option<String>,
    idle: Mutex<Vec<Idle>>,
}

/// Whose text a session runs. A function that the text names, or that stands behind what it names, can leave something in
/// the session that no rollback takes away: a statement under the name of one that was prepared for a tool, say. So what
/// has run callers' text serves callers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serves {
    Tools,
    Callers,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Instant,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    driver: Driver,
    pub(super) serves: Serves,
    pub(super) statements: Statements,
    /// The session's times are those of UTC, as they are in their binary form.
    pub(super) is_utc: bool,
    /// When the session stops a query, in milliseconds; 0 where that is not known.
    pub(super) stops_after_ms: AtomicU64,
    too_large: Arc<AtomicBool>,
    made: Instant,
    /// What the server calls the session; behind a pooler that changes.
    pid: Option<i32>,
}

/// A connection that somebody uses. Dropped, it is closed; only `give_back` keeps it.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) connection: Connection,
    /// It was used before, so it may be dead without anybody having noticed.
    pub(super) used: bool,
    share: Share,
}

impl Pool {
    pub(super) fn new(
        config: Config,
        dialer: Dialer,
        (connections_min, connections_max): (usize, usize),
        session: Option<String>,
    ) -> Pool {
        Pool {
            config,
            dialer,
            shares: Shares::new(connections_max),
            connections_min,
            session,
            idle: Mutex::default(),
        }
    }

    /// Waits for a place and gives it a connection. Has no deadline of its own: its caller drops it.
    pub(super) async fn lease(
        &self,
        tool: &Arc<str>,
        serves: Serves,
        has_place: &AtomicBool,
    ) -> Result<Lease, Error> {
        let share = self.shares.take(tool).await;
        has_place.store(true, Ordering::Relaxed);
        // Behind a pooler a session is nobody's, whoever it served.
        let serves = match &self.session {
            Some(_) => serves,
            None => Serves::Tools,
        };
        if let Some(connection) = self.take_idle(serves) {
            return Ok(Lease {
                connection,
                used: true,
                share,
            });
        }
        self.make_room();
        Ok(Lease {
            connection: Box::pin(self.connect(serves)).await?,
            used: false,
            share,
        })
    }

    pub(super) fn give_back(&self, lease: Lease) {
        let Lease {
            connection, share, ..
        } = lease;
        if !connection.client.is_closed() && connection.made.elapsed() < AGE_MAX {
            let mut idle = self.lock();
            idle.push(Idle {
                connection,
                since: Instant::now(),
            });
            // The oldest lie at the front, because the newest are taken first.
            let old = idle
                .iter()
                .take_while(|idle| idle.since.elapsed() > IDLE_MAX);
            let spare = old
                .count()
                .min(idle.len().saturating_sub(self.connections_min));
            idle.drain(..spare);
        }
        drop(share);
    }

    /// Makes a session what it was when it was new.
    pub(super) fn session_again(&self) -> String {
        match &self.session {
            Some(session) => {
                format!("RESET SESSION AUTHORIZATION; RESET ALL; UNLISTEN *; {session}")
            }
            None => String::new(),
        }
    }

    /// Closes what lies idle: one dead connection is seldom alone.
    pub(super) fn forget_idle(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_idle(&self, serves: Serves) -> Option<Connection> {
        let mut idle = self.lock();
        let newest = |idle: &[Idle]| idle.iter().rposition(|it| it.connection.serves == serves);
        while let Some(at) = newest(&idle) {
            let Idle { connection, .. } = idle.remove(at);
            if !connection.client.is_closed() && connection.made.elapsed() < AGE_MAX {
                return Some(connection);
            }
        }
        None
    }

    /// Closes idle connections that would be too many beside a new one: those that serve others.
    fn make_room(&self) {
        let mut idle = self.lock();
        while !idle.is_empty() && self.shares.are_exceeded_by(idle.len()) {
            idle.remove(0);
        }
    }

    async fn connect(&self, serves: Serves) -> Result<Connection, Error> {
        let too_large = Arc::new(AtomicBool::new(false));
        let line = self.dialer.dial(&too_large).await?;
        let (client, driver) = self
            .config
            .connect_raw(line, NoTls)
            .await
            .map_err(|error| refused(&error))?;
        let zone = driver.parameter("TimeZone");
        let is_utc = zone.is_some_and(|zone| UTC.contains(&zone));
        let mut connection = Connection {
            client,
            driver: Driver::new(driver),
            serves,
            statements: Statements::default(),
            is_utc,
            stops_after_ms: AtomicU64::new(0),
            too_large,
            made: Instant::now(),
            pid: None,
        };
        if let Some(session) = &self.session {
            let said = connection.asked(&format!("{session}{PID}")).await?;
            connection.pid = said.iter().find_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
                _ => None,
            });
        }
        Ok(connection)
    }

    /// Asks the server to stop what runs on the connection, which is closed afterwards: a late request must not hit
    /// what somebody else runs there. Its place is free only when the server is done: a single step of some functions
    /// takes long and cannot be stopped, and such queries must not become more than there are places.
    ///
    /// `answered`: the line was alive when the query began.
    pub(super) async fn stop(&self, lease: Lease, answered: bool) {
        let token = lease.connection.client.cancel_token();
        let ask = async {
            let line = self.dialer.dial(&Arc::new(AtomicBool::new(false))).await?;
            token
                .cancel_query_raw(line, NoTls)
                .await
                .map_err(|error| Error::unavailable(error.to_string()))
        };
        match timeout(CANCEL_MAX, ask).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "a query could not be stopped at its database")
            }
            Err(_) => tracing::warn!("a query could not be stopped at its database in time"),
        }
        let Lease {
            connection, share, ..
        } = lease;
        if answered {
            self.wait_for_end(connection).await;
        }
        drop(share);
    }

    async fn wait_for_end(&self, connection: Connection) {
        let Connection {
            client,
            driver,
            pid,
            ..
        } = connection;
        // Without a client the driver ends as soon as everything that was asked is answered.
        drop(client);
        let mut end = pin!(driver.end());
        let mut wait = END_WAIT;
        while timeout(wait, end.as_mut()).await.is_err() {
            // Perhaps the line is cut, and nothing will ever come.
            if !self.has_session(pid).await {
                return;
            }
            wait = (wait * 2).min(END_WAIT_MAX);
        }
    }

    /// Whether the server still has a session, as far as can be told; where it cannot be asked, it may.
    async fn has_session(&self, pid: Option<i32>) -> bool {
        let Some(pid) = pid else {
            return false;
        };
        let sql = format!("SELECT 1 FROM pg_catalog.pg_stat_activity WHERE pid = {pid}");
        let ask = async {
            let connection = self.connect(Serves::Tools).await?;
            connection.asked(&sql).await
        };
        match timeout(CANCEL_MAX, ask).await {
            Ok(Ok(said)) => said
                .iter()
                .any(|message| matches!(message, SimpleQueryMessage::Row(_))),
            Ok(Err(_)) | Err(_) => true,
        }
    }
}

impl Connection {
    /// What is asked of the client goes out, and its answers come in, only while somebody waits for this.
    pub(super) async fn driven<T>(&self, work: impl Future<Output = T>) -> T {
        self.driver.drive(work).await
    }

    /// What the server says to a text of our own.
    async fn asked(&self, sql: &str) -> Result<Vec<SimpleQueryMessage>, Error> {
        let said = self.driven(self.client.simple_query(sql)).await;
        said.map_err(|error| super::errors::database(&error))
    }

    /// Whether it broke because a single message was too large.
    pub(super) fn was_too_large(&self) -> bool {
        self.too_large.load(Ordering::Acquire)
    }
}

fn refused(error: &tokio_postgres::Error) -> Error {
    match error.as_db_error() {
        // The words of the server name the role and the database, never the password.
        Some(said) => Error::unavailable(format!(
            "the database refused the connection: {}",
            said.message()
        )),
        None => Error::unavailable(format!("the database did not take the connection: {error}")),
    }
}
