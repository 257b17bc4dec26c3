//! On whose behalf a run works: stored with it, and asked again each time somebody takes it up. A right that was taken away
//! meanwhile is gone for the run, too.

use crate::App;
use crate::access::role_of;
use agent::entry::RunError;
use catalog::caller::{Caller, Scopes, Transport};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::runs::RunRow;
use uuid::Uuid;

/// What somebody showed when they began a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Warrant {
    scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    toolset: Option<String>,
}

impl Warrant {
    pub(crate) fn of(caller: &Caller) -> Self {
        let names = caller.scopes.names();
        Warrant {
            scopes: names.into_iter().map(str::to_owned).collect(),
            key_id: caller.key_id,
            key: caller.key.as_deref().map(str::to_owned),
            toolset: caller.toolset.as_deref().map(str::to_owned),
        }
    }

    fn scopes(&self) -> Scopes {
        let names = self.scopes.iter();
        names
            .filter_map(|name| catalog::caller::Scope::from_name(name))
            .collect()
    }
}

impl App {
    /// Who a run calls tools as, with the rights that they have now.
    pub(crate) fn caller_of_run(&self, row: &RunRow) -> Result<Arc<Caller>, RunError> {
        let gone = |what: &str| {
            RunError::new(
                "forbidden",
                format!("{what} has lost the right to go on with this run"),
            )
        };
        let warrant: Warrant = serde_json::from_str(&row.warrant)
            .map_err(|_| RunError::new("internal", "The run's rights cannot be read"))?;
        let access = self.access.load();
        let user = access.user(row.owner_id);
        let user = user.filter(|user| user.deleted_at.is_none());
        let user = user.ok_or_else(|| gone("Whoever began it"))?;
        let role = role_of(user);
        let mut now = role.scopes();
        if let Some(id) = warrant.key_id {
            let key = access.key(id).filter(|(key, _)| {
                let is_over = key.expires_at.is_some_and(|end| end <= self.clock.now());
                key.revoked_at.is_none() && !is_over
            });
            let (_, holder) = key.ok_or_else(|| gone("The key it was begun with"))?;
            now = holder.scopes;
        }
        let own = Caller::of_user(user.id, &user.name, role, Transport::Agent);
        Ok(Arc::new(Caller {
            key: warrant.key.as_deref().map(Into::into),
            key_id: warrant.key_id,
            toolset: warrant.toolset.as_deref().map(Into::into),
            scopes: warrant.scopes().within(now),
            agent: row.agent_id,
            run: Some(row.id),
            ..own
        }))
    }
}
