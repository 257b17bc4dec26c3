//! The upstream MCP servers as they are shown: how each is doing, and what it offers.

use crate::App;
use crate::error::{Error, Result};
use crate::sign_in::SignInView;
use catalog::caller::{Caller, Scope};
use mcp::upstream::{State, Talk, Upstream, UpstreamError};
use mcp::wire::Era;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use utoipa::ToSchema;

/// How long a resource may take to be read.
const READ_WITHIN: Duration = Duration::from_secs(60);

/// A server as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServerView {
    pub name: String,
    /// stdio, http or sse.
    pub transport: &'static str,
    /// disabled, starting, connected, degraded, reconnecting, auth_required or failed.
    pub state: &'static str,
    /// Which try it is, while it reconnects.
    pub attempt: Option<u32>,
    pub attempts_max: Option<u32>,
    /// Why it is not simply connected.
    pub cause: Option<String>,
    /// legacy or modern, once that is known.
    #[schema(value_type = Option<String>)]
    pub era: Option<Era>,
    pub protocol_version: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub server_info: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub capabilities: Option<Value>,
    pub instructions: Option<String>,
    pub connected_seconds: Option<u64>,
    /// How many it offers; the last that is known while it is down.
    pub tools: usize,
    pub resources: usize,
    pub prompts: usize,
    /// The end of what its program wrote to stderr, for those who may operate servers.
    pub stderr: Option<String>,
    /// What it is shown of who asks, where it takes OAuth.
    pub sign_in: Option<SignInView>,
}

/// What a server offers besides its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    Tools,
    Resources,
    Prompts,
}

impl App {
    pub fn list_servers(&self, caller: &Caller) -> Vec<ServerView> {
        let mut all = self.upstreams.all();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all.iter()
            .map(|server| self.shown(server, caller))
            .collect()
    }

    pub fn get_server(&self, caller: &Caller, name: &str) -> Result<ServerView> {
        Ok(self.shown(&*self.server(name)?, caller))
    }

    fn shown(&self, server: &Upstream, caller: &Caller) -> ServerView {
        ServerView {
            sign_in: self.sign_in_view(server, caller),
            ..view(server, caller)
        }
    }

    pub(crate) fn server(&self, name: &str) -> Result<Arc<Upstream>> {
        let found = self.upstreams.get(name);
        found.ok_or_else(|| not_found("MCP server", name))
    }

    /// Drops the connection and makes a new one.
    pub fn reconnect_server(&self, caller: &Caller, name: &str) -> Result<ServerView> {
        let server = self.server(name)?;
        server.reconnect();
        Ok(self.shown(&server, caller))
    }

    /// What a server offers, as it says it, as far as the caller may use it.
    pub fn server_offers(
        &self,
        caller: &Caller,
        name: &str,
        offered: Offered,
    ) -> Result<Vec<Value>> {
        let server = self.server(name)?;
        let lists = server.lists();
        let (key, items) = match offered {
            Offered::Tools => ("name", lists.tools.iter().collect::<Vec<_>>()),
            Offered::Prompts => ("name", lists.prompts.iter().collect()),
            Offered::Resources => {
                let all = lists.resources.iter().chain(&lists.templates);
                ("uri", all.collect())
            }
        };
        let may = |item: &&&Value| {
            let own = item[key].as_str().or_else(|| item["uriTemplate"].as_str());
            self.may_use(caller, &format!("{name}.{}", own.unwrap_or_default()))
        };
        Ok(items.iter().filter(may).map(|&item| item.clone()).collect())
    }

    /// Reads a resource of a server.
    pub async fn read_server_resource(
        &self,
        caller: &Caller,
        name: &str,
        uri: &str,
    ) -> Result<Value> {
        let server = self.server(name)?;
        if !self.may_use(caller, &format!("{name}.{uri}")) {
            return Err(not_found("Resource", uri));
        }
        let params = Map::from_iter([("uri".to_owned(), uri.into())]);
        let talk = Talk {
            may_repeat: true,
            ..Talk::until(Instant::now() + READ_WITHIN)
        };
        let unavailable =
            |error: UpstreamError| Error::Unavailable(format!("MCP server '{name}': {error}"));
        let own = self.upstreams.of_user(&server, caller.user);
        let read = own.map_err(unavailable)?;
        let read = read.request("resources/read", params, talk).await;
        read.map_err(|error| match error {
            UpstreamError::Rpc(_) => not_found("Resource", uri),
            other => unavailable(other),
        })
    }
}

fn not_found(what: &'static str, name: &str) -> Error {
    Error::NotFound {
        what,
        name: name.to_owned(),
    }
}

fn view(server: &Upstream, caller: &Caller) -> ServerView {
    let (status, lists) = (server.status(), server.lists());
    let may_operate = caller.scopes.allow(Scope::Operate);
    let (attempt, attempts_max) = match status.state {
        State::Reconnecting { n, of } => (Some(n), Some(of)),
        _ => (None, None),
    };
    ServerView {
        name: server.name().to_owned(),
        transport: server.config().transport.as_str(),
        state: status.state.as_str(),
        attempt,
        attempts_max,
        cause: status.cause.filter(|_| may_operate),
        era: status.era,
        protocol_version: status.protocol_version,
        server_info: status.server_info,
        capabilities: status.capabilities,
        instructions: status.instructions,
        connected_seconds: status.connected_at.map(|it| it.elapsed().as_secs()),
        tools: lists.tools.len(),
        resources: lists.resources.len() + lists.templates.len(),
        prompts: lists.prompts.len(),
        stderr: Some(status.stderr).filter(|it| may_operate && !it.is_empty()),
        sign_in: None,
    }
}
