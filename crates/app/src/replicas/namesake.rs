//! Whether another process has the name of this installation. One that is gone is what ran here before; one that lives works on
//! a copy of the data folder, and each would take the other's calls for those of its own dead predecessor.

use crate::App;
use crate::open::StartError;
use catalog::tool::Millis;
use std::collections::HashMap;
use std::time::Duration;
use store::Db;
use store::replicas::ReplicaRow;

/// Longer than a process that lives is silent (`HEARTBEAT`).
const SILENT_MS: Millis = 3_000;

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Waits until whoever had this name before has been silent for long enough. Where it goes on to say that it is there, this
/// process does not start.
pub(crate) async fn wait_for_silence(store: &Db, node: &str) -> Result<(), StartError> {
    let mut heard: HashMap<String, Millis> = HashMap::new();
    loop {
        let mut all = store.replicas().await?;
        all.retain(|row| row.node == node);
        for row in &all {
            let before = heard.insert(row.instance.clone(), row.seen_ms_ago);
            if before.is_some_and(|before| row.seen_ms_ago < before) {
                return Err(copied(row));
            }
        }
        if all.iter().all(|row| row.seen_ms_ago >= SILENT_MS) {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn copied(row: &ReplicaRow) -> StartError {
    StartError::Copied {
        node: row.node.clone(),
        address: row.address.clone(),
    }
}

impl App {
    /// Of two that start at the same moment the later one gives way. This process has said that it is there.
    pub(super) async fn give_way(&self) -> Result<(), StartError> {
        let all = self.store.replicas().await?;
        let own = all
            .iter()
            .find(|row| row.instance == self.replicas.instance);
        let age = |row: &ReplicaRow| (-row.started_ms_ago, row.instance.clone());
        let mut others = all.iter().filter(|row| {
            row.node == self.node
                && row.instance != self.replicas.instance
                && row.seen_ms_ago < SILENT_MS
        });
        match others.find(|row| own.is_none_or(|own| age(row) < age(own))) {
            Some(first) => Err(copied(first)),
            None => Ok(()),
        }
    }
}
