//! Work that only one of all servers on a database may do at a time.

use crate::db::{Db, Error, Result};
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnection;
use std::time::Duration;

/// Nobody else does the same while this is kept, nor when this process ends.
#[derive(Debug)]
pub struct Alone {
    /// The lock is the session's, and goes with it however it ends. None where there is nobody else.
    _line: Option<PgConnection>,
}

/// The database gave up waiting.
const LOCK_NOT_AVAILABLE: &str = "55P03";

impl Db {
    /// Waits until nobody else does this, for so long at most; none where somebody still does.
    pub async fn alone(&self, what: &str, patience: Duration) -> Result<Option<Alone>> {
        let Db::Postgres(pool, ..) = self else {
            return Ok(Some(Alone { _line: None }));
        };
        // A line of its own: those of the pool are too few to be kept for as long as the work takes.
        let options = pool.connect_options();
        let connecting = tokio::time::timeout(patience, options.connect());
        let Ok(line) = connecting.await else {
            return Err(Error::Unavailable(sqlx::Error::PoolTimedOut));
        };
        let mut line = line?;
        let bound = sqlx::query("SELECT set_config('lock_timeout', $1, false)");
        let bound = bound.bind(patience.as_millis().to_string());
        bound.execute(&mut line).await?;
        const LOCK: &str =
            "SELECT pg_advisory_lock(hashtextextended(current_schema() || '/alone/' || $1, 0))";
        let locked = sqlx::query(LOCK).bind(what).execute(&mut line).await;
        let is_busy = |error: &sqlx::Error| {
            let error = error.as_database_error();
            error.and_then(|error| error.code()).as_deref() == Some(LOCK_NOT_AVAILABLE)
        };
        match locked {
            Ok(_) => Ok(Some(Alone { _line: Some(line) })),
            Err(error) if is_busy(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
