//! Whether this server can do its work, and what is wrong where it cannot.

use crate::App;
use crate::status::ShelfStatus;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct Readiness {
    /// `ready`, or `degraded` while the files on disk are not valid and the old catalogue serves.
    pub status: &'static str,
    pub tools: usize,
    pub epoch: u64,
    pub engine: &'static str,
    pub running_calls: usize,
    /// False while the execution log cannot be written: then no call is answered.
    pub log_works: bool,
    #[schema(value_type = Object)]
    pub files: ShelfStatus,
    pub servers: Vec<String>,
}

impl App {
    /// None: the registry database does not answer.
    pub async fn readiness(&self) -> Option<Readiness> {
        self.store.ping().await.ok()?;
        let files = ShelfStatus::clone(&self.status.load());
        let catalogue = self.executor.catalogue.load();
        Some(Readiness {
            log_works: self.executor.log_works(),
            status: if files.is_clean() && self.executor.log_works() {
                "ready"
            } else {
                "degraded"
            },
            tools: catalogue.len(),
            epoch: catalogue.epoch,
            engine: self.store.engine(),
            running_calls: self.executor.running(),
            servers: self.server_names(),
            files,
        })
    }
}
