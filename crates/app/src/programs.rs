//! Tools that run programs: they do it as the server's own user, so what they may do, the server may. Only admins put
//! such tools on the database shelf, and they run only as long as an admin owns them. So it is with queries that write.

use crate::App;
use crate::error::{Error, Result};
use catalog::auth::Reference;
use catalog::caller::{Caller, Scope};
use catalog::secret::Secret;
use catalog::tool::{Definition, KindName, Shelf, Tool};
use executor::Failure;
use serde_json::Value;
use uuid::Uuid;

impl App {
    /// Whether this definition may be stored, or tried out, and could run: asked of its kind, which makes ready what
    /// its calls need. One that is switched off may be as broken as it is.
    pub(crate) async fn check_runs(
        &self,
        caller: &Caller,
        shelf: Shelf,
        owner: Uuid,
        definition: &Definition,
    ) -> Result<()> {
        if shelf == Shelf::Database && runs_programs(definition) {
            let what = match definition.kind {
                KindName::Builtin => "without its sandbox".to_owned(),
                kind => format!("of kind {}", kind.as_str()),
            };
            if !caller.scopes.allow(Scope::Admin) {
                return Err(Error::Forbidden(format!(
                    "Only an admin may store a tool {what}: it runs programs as the server's own user. Ask an admin, or use an expression or http tool"
                )));
            }
            if !self.is_trusted(owner) {
                return Err(Error::invalid(format!(
                    "The tool belongs to '{}', who is no admin, so it may not run programs as the server's own user",
                    self.user_name(owner)
                )));
            }
        }
        if shelf == Shelf::Database {
            self.check_trust(caller, owner, definition)?;
        }
        if !definition.is_active {
            return Ok(());
        }
        let checked = self.executor.check(definition).await;
        checked.map_err(|failure| Error::invalid(failure.message))
    }

    /// What else a kind keeps for admins, such as a query that writes.
    fn check_trust(&self, caller: &Caller, owner: Uuid, definition: &Definition) -> Result<()> {
        let Some(why) = self.executor.needs_trust(definition) else {
            return Ok(());
        };
        if !caller.scopes.allow(Scope::Admin) {
            return Err(Error::Forbidden(format!(
                "Only an admin may store this tool. {why}. Ask an admin"
            )));
        }
        if !self.is_trusted(owner) {
            return Err(Error::invalid(format!(
                "The tool belongs to '{}', who is no admin. {why}",
                self.user_name(owner)
            )));
        }
        Ok(())
    }
}

/// Whether nothing stands between what this tool runs and the server's user.
fn runs_programs(definition: &Definition) -> bool {
    match definition.kind {
        KindName::Shell | KindName::Python => true,
        // code_execution without its walls.
        KindName::Builtin => definition
            .config
            .get("sandbox")
            .is_some_and(|set| set == "off"),
        _ => false,
    }
}

/// What tools are given when they run. The words of a refusal are for whoever made the tool: they name no value.
impl executor::Keyring for App {
    fn open(&self, tool: &Tool, reference: &Value) -> std::result::Result<Secret, Failure> {
        self.open_secret(tool, reference).map_err(|error| {
            if let Error::Internal(text) = &error {
                tracing::error!(error = %text, "internal error");
            }
            let how = match (&error, Reference::of(reference)) {
                (Error::NotFound { .. }, Some(Reference::Secret(name))) => {
                    format!("; `toolcrib secrets set {name}` sets it")
                }
                _ => String::new(),
            };
            Failure::new(executor::Code::NotConfigured, format!("{error}{how}"))
        })
    }

    fn trusts(&self, tool: &Tool) -> bool {
        tool.shelf != Shelf::Database || self.is_trusted(tool.owner)
    }

    fn absent(&self, caller: &Caller, tool: &str) -> Option<Failure> {
        self.down_server(caller, tool)
    }
}
