//! Limits that hold for all servers on one PostgreSQL: the executor leases its shares here.

use crate::App;
use catalog::clock::Clock;
use catalog::tool::Millis;
use executor::leases::{Answer, LeaseFuture, Leases, Request, Share};
use serde_json::{Value, json};
use std::sync::{Arc, Weak};

impl Leases for App {
    fn lease<'a>(&'a self, request: &'a Request) -> LeaseFuture<'a, Answer> {
        Box::pin(async move {
            let mut request = serde_json::to_value(request).map_err(|error| error.to_string())?;
            request["instance"] = self.replicas.instance.as_str().into();
            request["node"] = self.node.as_str().into();
            request["live"] = (self.replicas.others() + 1).into();
            let answer = self.store.lease(&request).await;
            read(answer)
        })
    }

    fn used<'a>(&'a self, now: Option<Millis>, shares: &'a [Share]) -> LeaseFuture<'a, Vec<u64>> {
        Box::pin(async move {
            let instance = &self.replicas.instance;
            let request = json!({"instance": instance, "now": now, "shares": shares});
            read(self.store.leases_used(&request).await)
        })
    }
}

fn read<T: serde::de::DeserializeOwned>(answer: store::Result<Value>) -> Result<T, String> {
    let answer = answer.map_err(|error| error.to_string())?;
    serde_json::from_value(answer).map_err(|error| error.to_string())
}

impl App {
    /// On SQLite one process counts by itself. On PostgreSQL another may come at any moment.
    pub(crate) async fn share_limits(self: &Arc<Self>) -> store::Result<()> {
        if self.store.engine() != "postgres" {
            return Ok(());
        }
        let instance = &self.replicas.instance;
        self.store.drop_places(&self.node, instance).await?;
        let leases: Weak<dyn Leases> = Arc::downgrade(&(Arc::clone(self) as _));
        self.executor.set_leases(leases);
        Ok(())
    }

    pub(crate) async fn forget_leases(&self) {
        let now = match &self.clock {
            Clock::System => None,
            Clock::Manual(_) => Some(self.clock.now()),
        };
        if let Err(error) = self.store.forget_leases(now).await {
            tracing::warn!(%error, "old counts of limits could not be removed");
        }
    }
}
