//! The upstream MCP servers, those of `mcp.json` and those kept over the API: how each is doing, and what it offers.

mod awaited;
mod changes;
mod down;
pub(crate) mod fits;
mod memory;
mod parts;
mod running;
mod stored;
mod views;

pub use changes::{Approval, ApprovedTool, ServerChange};

use crate::App;
use crate::error::{Error, Result};
use crate::page::{self, Part};
use crate::sign_in::SignInView;
use arc_swap::ArcSwap;
use catalog::caller::Caller;
use catalog::letters::shown;
use catalog::pinning::Pinning;
use catalog::tool::{Millis, Shelf, Tool};
use kinds::upstream::told_to;
use mcp::upstream::{Lists, Params, Talk, Upstream, UpstreamError};
use mcp::wire::{Era, tree};
use memory::Memory;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use store::Db;
use stored::Stored;
use tokio::sync::Notify;
use utoipa::ToSchema;
use uuid::Uuid;

/// How long a resource may take to be read.
const READ_WITHIN: Duration = Duration::from_secs(60);

/// What the configuration decides about servers.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The programs that servers kept over the API may start.
    pub commands_allowed: Vec<String>,
    /// For servers that do not say otherwise.
    pub pinning: Pinning,
}

/// What is remembered, by the server's name.
pub(crate) type Memories = BTreeMap<String, Memory>;

/// What people should know of a server's tools.
type Flags = BTreeMap<String, Vec<String>>;

/// What is kept about servers besides their connections.
pub(crate) struct Servers {
    settings: Settings,
    /// In the order of names.
    stored: ArcSwap<Vec<Arc<Stored>>>,
    memory: Mutex<Memories>,
    flags: ArcSwap<HashMap<String, Flags>>,
    /// One change after the other: what is stored, what runs and what is remembered fit together.
    pub(crate) changes: tokio::sync::Mutex<()>,
    /// Somebody's role is another: what may run has to be looked at again.
    pub(crate) doubted: Arc<Notify>,
    /// Whether servers are connected at all; a short command needs none of them.
    is_live: AtomicBool,
    awaited: awaited::Awaited,
}

impl Servers {
    pub(crate) async fn load(store: &Db, settings: Settings, now: Millis) -> store::Result<Self> {
        let (stored, memory) = stored::load(store, now).await?;
        Ok(Servers {
            settings,
            stored: ArcSwap::from_pointee(stored),
            memory: Mutex::new(memory),
            flags: ArcSwap::default(),
            changes: tokio::sync::Mutex::default(),
            doubted: Arc::default(),
            is_live: AtomicBool::new(false),
            awaited: awaited::Awaited::default(),
        })
    }
}

/// A server as it is shown.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct ServerView {
    pub name: String,
    /// file (mcp.json) or database.
    pub source: &'static str,
    /// stdio, http or sse.
    pub transport: &'static str,
    /// disabled, starting, connected, degraded, reconnecting, auth_required or failed (also where a variable that it names
    /// is not set); of one that does not run: hidden (mcp.json has one of that name), refused (it may not run, or cannot)
    /// or stopped (nobody serves this workspace).
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
    /// How many tools are not listed, because it has named more than can be held.
    pub tools_left_out: usize,
    /// None where everybody has their own: what somebody has is for them to list.
    pub resources: usize,
    /// Addresses of resources with places to fill in.
    pub resource_templates: usize,
    pub prompts: usize,
    /// The end of what its program wrote to stderr, and of what the one before it did, for those who may operate servers.
    pub stderr: Option<String>,
    /// off, flag or approve: what happens when it describes a tool anew.
    pub pinning_now: &'static str,
    /// Its tools that are described in another way than before; `changes` shows how.
    pub changed: Vec<String>,
    /// Its tools in whose definition there are letters that cannot be seen, such as `{"echo": ["U+E0041 ×3"]}`.
    #[schema(value_type = Object)]
    pub hidden_letters: BTreeMap<String, Vec<String>>,
    /// What it is shown of who asks, where it takes OAuth.
    pub sign_in: Option<SignInView>,
    #[serde(flatten)]
    pub stored: StoredPart,
}

/// What is shown of a server that is kept over the API, and the definition of any, which is for those who may operate
/// servers.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct StoredPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// Whether private addresses are refused: they are unless an admin chose the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_guarded: Option<bool>,
    /// What its author wrote, with a mask in place of each value that is sealed, or stands in mcp.json in the clear.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    pub definition: Map<String, Value>,
}

/// What a server offers besides its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    Tools,
    Resources,
    Prompts,
}

impl App {
    pub fn list_servers(
        &self,
        caller: &Caller,
        part: &Part,
    ) -> Result<(Vec<ServerView>, Option<String>)> {
        let live = self.upstreams.all();
        let mut all: Vec<ServerView> = live.iter().map(|it| self.live_view(it, caller)).collect();
        let file = Arc::clone(&self.servers.borrow());
        let is_live = |name: &str| live.iter().any(|it| it.name() == name);
        for config in file.servers.iter().filter(|it| !is_live(&it.name)) {
            all.push(self.file_view(config, caller));
        }
        for stored in self.kept_servers.stored.load().iter() {
            let is_hidden = file.servers.iter().any(|it| it.name == stored.row.name);
            if is_hidden || !is_live(&stored.row.name) {
                all.push(self.stored_view(stored, caller));
            }
        }
        // Of one name the one of the file comes first: it counts.
        page::cut(all, part, |it| {
            format!("{} {}", it.name, u8::from(it.source != "file"))
        })
    }

    pub fn get_server(&self, caller: &Caller, name_or_id: &str) -> Result<ServerView> {
        if let Some(server) = self.upstreams.get(name_or_id) {
            return Ok(self.live_view(&server, caller));
        }
        let file = Arc::clone(&self.servers.borrow());
        if let Some(config) = file.servers.iter().find(|it| it.name == name_or_id) {
            return Ok(self.file_view(config, caller));
        }
        let stored = self.stored_server(name_or_id);
        let stored = stored.ok_or_else(|| not_found("MCP server", name_or_id))?;
        Ok(self.stored_view(&stored, caller))
    }

    pub(crate) fn server(&self, name: &str) -> Result<Arc<Upstream>> {
        let found = self.upstreams.get(name);
        found.ok_or_else(|| not_found("MCP server", name))
    }

    /// Drops the connection and makes a new one.
    pub fn reconnect_server(&self, caller: &Caller, name: &str) -> Result<ServerView> {
        let Some(server) = self.upstreams.get(name) else {
            let known = self.get_server(caller, name)?;
            let state = known.state;
            let cause = known
                .cause
                .map_or_else(String::new, |cause| format!(" ({cause})"));
            return Err(Error::conflict(format!(
                "MCP server '{name}' has no connection that could be made anew: it is {state}{cause}"
            )));
        };
        server.reconnect();
        Ok(self.live_view(&server, caller))
    }

    /// What a server offers, as it says it, as far as the caller may use it.
    pub async fn server_offers(
        &self,
        caller: &Caller,
        name: &str,
        offered: Offered,
    ) -> Result<Vec<Value>> {
        let lists = match self.upstreams.get(name) {
            Some(server) if offered == Offered::Resources => {
                self.upstreams.listed_of(&server, caller.user).await
            }
            Some(server) => server.lists(),
            None => self.last_lists(name)?,
        };
        let (key, items) = match offered {
            Offered::Tools => ("name", self.judged(name)?.listed.clone()),
            Offered::Prompts => ("name", lists.prompts.clone()),
            Offered::Resources => {
                let all = lists.resources.iter().chain(&lists.templates);
                ("uri", all.cloned().collect())
            }
        };
        let may = |item: &Value| {
            let own = item[key].as_str().or_else(|| item["uriTemplate"].as_str());
            self.may_use(caller, &format!("{name}.{}", own.unwrap_or_default()))
        };
        Ok(items.into_iter().filter(may).collect())
    }

    /// What a server that nobody has connected offered last to everybody.
    fn last_lists(&self, name: &str) -> Result<Arc<Lists>> {
        let config = self.server_config(name)?;
        let mut lists = self.known_now(name).lists;
        if config.knows_people() {
            lists.keep_common();
        }
        Ok(Arc::new(lists))
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
            |error: UpstreamError| Error::Unavailable(told_to(caller, &server, &error));
        let own = self.upstreams.of_user(&server, caller.user);
        let own = own.map_err(unavailable)?;
        let method = "resources/read";
        let work = own.request(method, Params::Of(&params), talk);
        let read = self.noted(caller, name, method, params.clone(), work).await;
        let read = read.map_err(|unwritten| Error::Unavailable(unwritten.message))?;
        let read = read.map(|raw| tree(&raw));
        read.map_err(|error| match error {
            UpstreamError::Rpc(_) => not_found("Resource", uri),
            other => unavailable(other),
        })
    }

    /// What people should know of a tool of a server.
    pub(crate) fn flags_of(&self, tool: &Tool) -> Vec<String> {
        if tool.shelf != Shelf::Server {
            return Vec::new();
        }
        let name = |key: &str| tool.definition.config.get(key).and_then(Value::as_str);
        let flags = self.kept_servers.flags.load();
        let of_server = name("server_name").and_then(|server| flags.get(server));
        let found = of_server.and_then(|all| all.get(name("tool_name")?));
        found.cloned().unwrap_or_default()
    }

    /// Shows what people should know of a server's tools, and tells it to the log where that is something new.
    fn set_flags(&self, server: &str, flags: &Flags) {
        let before = self.kept_servers.flags.load_full();
        let before = before.get(server);
        for (tool, told) in flags {
            if before.and_then(|all| all.get(tool)) != Some(told) {
                let (tool, told) = (shown(tool), told.join("; "));
                tracing::warn!(
                    server,
                    tool,
                    told,
                    "a tool of this MCP server should be looked at"
                );
            }
        }
        self.keep_flags(server, flags);
    }

    fn keep_flags(&self, server: &str, flags: &Flags) {
        self.kept_servers.flags.rcu(|all| {
            let mut all = HashMap::clone(all);
            all.insert(server.to_owned(), flags.clone());
            all
        });
    }

    fn forget_flags(&self, server: &str) {
        self.kept_servers.flags.rcu(|all| {
            let mut all = HashMap::clone(all);
            all.remove(server);
            all
        });
    }
}

fn not_found(what: &'static str, name: &str) -> Error {
    Error::NotFound {
        what,
        name: name.to_owned(),
    }
}
