//! A token is renewed by one server at a time: to many who give them, a refresh token that comes twice is a stolen one.

use super::{Tokens, Whose};
use oauth::{Grant, Turn};
use std::sync::Arc;
use std::time::Duration;
use store::Db;

/// How long another server may take to renew the same token.
const PATIENCE: Duration = Duration::from_secs(30);

/// Renewals at a time, each of which keeps a line to the database.
pub(super) const AT_A_TIME: usize = 8;

impl Tokens {
    /// Waits until no other server renews the same token, and looks what is stored then.
    pub(super) async fn turn(&self, whose: &Whose) -> Result<Turn, String> {
        let permit = Arc::clone(&self.renewals).acquire_owned().await;
        let permit = permit.map_err(|_| "the server stops")?;
        let what = format!("token/{}/{}", whose.1, whose.0);
        let alone = self.store.alone(&what, PATIENCE).await;
        let alone = alone.map_err(|error| error.to_string())?;
        let alone = alone.ok_or("another server renews it and does not come to an end")?;
        let kept = self.stored_elsewhere(whose).await?;
        Ok(Turn {
            kept,
            alone: Box::new((alone, permit)),
        })
    }

    /// What other servers may have stored since this one looked; none where there are no others.
    async fn stored_elsewhere(&self, whose: &Whose) -> Result<Option<Grant>, String> {
        if let Db::Sqlite(..) = self.store {
            return Ok(None);
        }
        let _one_at_a_time = self.vault.changes.lock().await;
        let row = self.store.server_token(&whose.0, whose.1).await;
        let row = row.map_err(|error| error.to_string())?;
        let row = row.ok_or("they have signed out")?;
        let secrets = self.store.secrets_by_id(&[row.secret_id]).await;
        self.vault.put(&secrets.map_err(|error| error.to_string())?);
        let grant = self.open(&row);
        self.put(row);
        Ok(grant)
    }
}
