//! Whether this server can do its work, and what is wrong where it cannot.

use crate::App;
use crate::status::ShelfStatus;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct Readiness {
    /// `ready`, or `degraded` while the files on disk are not valid and the old catalogue serves, or differ from those of another
    /// server on the same PostgreSQL.
    pub status: &'static str,
    pub tools: usize,
    pub epoch: u64,
    pub engine: &'static str,
    pub running_calls: usize,
    /// False while the execution log cannot be written: then no call is answered.
    pub log_works: bool,
    pub log: LogView,
    #[schema(value_type = Object)]
    pub files: ShelfStatus,
    pub servers: Vec<String>,
    /// Of several servers on one PostgreSQL.
    pub replicas: ReplicasView,
}

/// What the execution log takes on disk, as it was looked at within the last minute.
#[derive(Debug, Serialize, ToSchema)]
pub struct LogView {
    pub bytes: u64,
    /// Days that have a file, or on PostgreSQL a partition.
    pub days: u64,
    /// What it may take (log.retention_megabytes); null where that has no bound.
    pub bytes_max: Option<u64>,
    /// Today alone takes more than that. It is not deleted: give it more room, or have less logged.
    pub exceeded: bool,
}

/// What is known of other servers on the same PostgreSQL.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReplicasView {
    /// This process among them.
    pub instance: String,
    /// The others that were heard of lately.
    pub others: Vec<ReplicaView>,
    /// What others have stored and this one cannot read, such as what only a later version knows. What it knew before counts on.
    pub unread: Vec<&'static str>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ReplicaView {
    pub instance: String,
    pub node: String,
    /// Where it is reached.
    pub address: Option<String>,
    pub version: String,
    /// Whether its tools.json and mcp.json are the same as here. Where they are not, both servers are `degraded`: what a client
    /// gets depends on where a proxy sends it.
    pub same_files: bool,
    /// Whether what it seals opens here. Where it does not, give all servers the same TOOLCRIB_SECRET_KEY.
    pub same_keys: bool,
}

impl App {
    fn log_view(&self) -> LogView {
        let room = self.executor.log.room();
        LogView {
            bytes: room.bytes,
            days: room.days,
            bytes_max: Some(room.bytes_max).filter(|bytes| *bytes > 0),
            exceeded: room.is_exceeded,
        }
    }

    /// Why no new work should come here, where that is so.
    pub async fn readiness(&self) -> Result<Readiness, &'static str> {
        if self.replicas.is_leaving() {
            return Err("The server is stopping");
        }
        let ping = self.store.ping().await;
        ping.map_err(|_| "The registry database does not answer")?;
        // What cannot be read is in the status then.
        let _ = self.skills().await;
        let files = ShelfStatus::clone(&self.status.load());
        let catalogue = self.executor.catalogue.load();
        let replicas = self.replicas.view();
        let is_sound = files.is_clean()
            && self.executor.log_works()
            && replicas.unread.is_empty()
            && replicas
                .others
                .iter()
                .all(|it| it.same_files && it.same_keys);
        Ok(Readiness {
            log_works: self.executor.log_works(),
            log: self.log_view(),
            status: if is_sound { "ready" } else { "degraded" },
            tools: catalogue.len(),
            epoch: catalogue.epoch,
            engine: self.store.engine(),
            running_calls: self.executor.running(),
            servers: self.server_names(),
            files,
            replicas,
        })
    }
}
