//! How a connection begins: the transport, and in which era the server speaks. What was found out is tried first the
//! next time.

use super::connection::{Call, Connection, Loss, Peer, Wire};
use super::credentials::Bearer;
use super::exchange::{Answer, Exchange};
use super::fault::Fault;
use super::hooks::Hooks;
use super::http::{A_WEB_PAGE, Http, own_headers};
use super::message::CLIENT_INFO;
use super::params::Params;
use super::stdio::{self, Program};
use super::tail::Tail;
use super::talk::Talk;
use super::{Options, sse};
use crate::wire::{Era, LEGACY, META_NODE, META_SERVER, MODERN, RpcError, code, tree};
use catalog::mcp_file::{ServerConfig, Transport};
use fetch::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Messages over HTTP that nobody waits for.
const OUTBOX: usize = 64;

/// How long the stream for what an older server says unasked is waited for.
const STREAM: Duration = Duration::from_secs(1);

/// How a server wants to be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Modern,
    Legacy,
    /// The oldest transport, at an address that was said to be of the newer one.
    LegacySse,
}

pub(super) struct Target<'a> {
    pub(super) config: &'a ServerConfig,
    pub(super) options: &'a Options,
    pub(super) hooks: &'a Arc<Hooks>,
    pub(super) tail: &'a Arc<Tail>,
    pub(super) known: Option<Way>,
    pub(super) bearer: Bearer,
}

type Greeted = Result<(Arc<Connection>, Way), Fault>;

/// Its tools would come back as tools of a server, which it lists as well, and so on.
const OURSELVES: &str = "it is this very server, whose tools are all here already; take it out";

impl Target<'_> {
    pub(super) async fn connect(&self) -> Greeted {
        let (connection, way) = self.greet().await?;
        let node = connection.peer.get().and_then(|it| it.node.as_deref());
        if node.is_some() && node == self.options.node.as_deref() {
            connection.close().await;
            return Err(Fault::Protocol(OURSELVES.to_owned()));
        }
        Ok((connection, way))
    }

    async fn greet(&self) -> Greeted {
        match &self.config.transport {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => {
                let program = Program {
                    command,
                    args,
                    env,
                    cwd: cwd.as_deref(),
                };
                self.connect_stdio(&program).await
            }
            Transport::Sse { url, headers } => self.connect_sse(url, own_headers(headers)?).await,
            Transport::Http { url, headers } => {
                let own = own_headers(headers)?;
                match self.known {
                    Some(Way::LegacySse) => self.connect_sse(url, own).await,
                    _ => self.connect_http(url, own).await,
                }
            }
        }
    }

    async fn connect_stdio(&self, program: &Program<'_>) -> Greeted {
        let start = || stdio::start(program, self.options, self.hooks, self.tail);
        let connection = start().await?;
        if self.known == Some(Way::Legacy) {
            return self.initialized(connection, Way::Legacy).await;
        }
        match self.probe(&connection).await {
            Ok(Probed::Modern(peer)) => Ok(greeted(connection, peer, Way::Modern)),
            Ok(Probed::Legacy(peer)) => welcomed(connection, peer, Way::Legacy).await,
            Ok(Probed::Unknown) => self.initialized(connection, Way::Legacy).await,
            // Some end at a first message that they do not know. It is started again, and asked the older way.
            Err(Fault::Lost(cause)) => {
                tracing::debug!(server = %self.hooks.server, cause, "ended when it was asked whether it is modern");
                connection.close().await;
                self.initialized(start().await?, Way::Legacy).await
            }
            Err(fault) => Err(fault),
        }
    }

    /// Whether a program is modern. One that ponders too long is asked the older way as well, and what it answers
    /// first, counts.
    async fn probe(&self, connection: &Arc<Connection>) -> Result<Probed, Fault> {
        let discovered = discover(connection);
        tokio::pin!(discovered);
        let probe_timeout = self.options.settings.probe_timeout;
        let answer = match timeout(probe_timeout, &mut discovered).await {
            Ok(answer) => answer,
            Err(_) => tokio::select! {
                answer = &mut discovered => answer,
                peer = initialize(connection) => return peer.map(Probed::Legacy),
            },
        };
        match answer {
            Ok(result) => Ok(modern_peer(&tree(&result)).map_or(Probed::Unknown, Probed::Modern)),
            Err(fault @ (Fault::Lost(_) | Fault::NotSent(_))) => Err(fault),
            // Whatever it complains of, it does not know the question.
            Err(_) => Ok(Probed::Unknown),
        }
    }

    async fn initialized(&self, connection: Arc<Connection>, way: Way) -> Greeted {
        let peer = initialize(&connection).await?;
        welcomed(connection, peer, way).await
    }

    async fn connect_http(&self, url: &str, own: HeaderMap) -> Greeted {
        if self.known != Some(Way::Legacy) {
            let connection = self.http(url, own.clone())?;
            connection.1.set_version(MODERN);
            let probe_timeout = self.options.settings.probe_timeout;
            match timeout(probe_timeout, discover(&connection.0)).await {
                Ok(Ok(result)) => {
                    if let Some(peer) = modern_peer(&tree(&result)) {
                        return Ok(greeted(connection.0, peer, Way::Modern));
                    }
                }
                Ok(Err(fault @ (Fault::NotSent(_) | Fault::Auth(_) | Fault::Forbidden(_)))) => {
                    return Err(fault);
                }
                // It does not know the question, or does not answer what it does not know.
                Ok(Err(_)) | Err(_) => {}
            }
        }
        let (connection, http) = self.http(url, own.clone())?;
        let peer = match initialize(&connection).await {
            Ok(peer) => peer,
            Err(Fault::Status {
                status: status @ (400 | 404 | 405),
                error,
                ..
            }) => {
                let why = error.map(|error| error.to_string());
                let old = self.connect_sse(url, own).await;
                return old.map_err(|fault| match fault {
                    fault @ (Fault::NotSent(_) | Fault::Auth(_) | Fault::Forbidden(_)) => fault,
                    Fault::Protocol(page) if page == A_WEB_PAGE => Fault::Protocol(page),
                    _ => Fault::Protocol(why.unwrap_or_else(|| {
                        format!("there is no MCP server at its address (HTTP {status}); check the path, which often ends in /mcp or /sse")
                    })),
                });
            }
            Err(fault) => return Err(fault),
        };
        http.set_version(&peer.version);
        let (connection, way) = welcomed(connection, peer, Way::Legacy).await?;
        let (exchange, loss) = (
            Arc::clone(&connection.exchange),
            Arc::clone(&connection.loss),
        );
        let (opened, is_open) = oneshot::channel();
        connection.keep(async move { http.hearken(&exchange, &loss, opened).await });
        // What it says before there is a stream for it, nobody hears.
        let _ = timeout(STREAM, is_open).await;
        Ok((connection, way))
    }

    /// Who calls out: where the address was not chosen by whoever runs this machine, each one is judged first.
    fn fetcher(&self) -> fetch::Fetcher {
        match self.config.guarded {
            true => self.options.fetcher.guarded(),
            false => self.options.fetcher.clone(),
        }
    }

    fn http(&self, url: &str, own: HeaderMap) -> Result<(Arc<Connection>, Arc<Http>), Fault> {
        let settings = &self.options.settings;
        let fetcher = self.fetcher();
        let (bearer, bytes_max) = (self.bearer.clone(), settings.message_bytes_max);
        let http = Arc::new(Http::new(fetcher, url, own, bearer, bytes_max)?);
        let (outbox, letters) = mpsc::channel(OUTBOX);
        let exchange = Exchange::new(Arc::clone(self.hooks), outbox, settings.calls_max);
        let wire = Wire::Http(Arc::clone(&http));
        let connection = Connection::new(wire, Arc::new(exchange), Arc::new(Loss::default()));
        let postman = Arc::clone(&http);
        connection.keep(async move { postman.deliver(letters).await });
        Ok((Arc::new(connection), http))
    }

    async fn connect_sse(&self, url: &str, own: HeaderMap) -> Greeted {
        let settings = &self.options.settings;
        let fetcher = self.fetcher();
        let (bearer, bytes_max) = (self.bearer.clone(), settings.message_bytes_max);
        let (sse, stream) = sse::open(fetcher, url, own, bearer, bytes_max).await?;
        let sse = Arc::new(sse);
        let (outbox, letters) = mpsc::channel(OUTBOX);
        let exchange = Exchange::new(Arc::clone(self.hooks), outbox, settings.calls_max);
        let exchange = Arc::new(exchange);
        let loss = Arc::new(Loss::default());
        let wire = Wire::Sse(Arc::clone(&sse));
        let connection = Connection::new(wire, Arc::clone(&exchange), Arc::clone(&loss));
        connection.keep(async move { sse.deliver(letters).await });
        connection.keep(async move { stream.hear(&exchange, &loss).await });
        self.initialized(Arc::new(connection), Way::LegacySse).await
    }
}

/// What a program turned out to be.
enum Probed {
    Modern(Peer),
    /// It has answered the older way already.
    Legacy(Peer),
    Unknown,
}

/// The last step with an older server.
async fn welcomed(connection: Arc<Connection>, peer: Peer, way: Way) -> Greeted {
    let none = Map::new();
    let told = connection.notify("notifications/initialized", Params::Of(&none));
    told.await?;
    Ok(greeted(connection, peer, way))
}

fn greeted(connection: Arc<Connection>, peer: Peer, way: Way) -> (Arc<Connection>, Way) {
    let _ = connection.peer.set(peer);
    (connection, way)
}

/// Asks a modern server what it is. One that says that it knows our version after all is asked once more.
pub(super) async fn discover(connection: &Connection) -> Answer {
    let answer = discover_once(connection).await;
    let knows = |error: &RpcError| {
        let supported = error
            .data
            .as_ref()
            .and_then(|data| data.get("supported")?.as_array());
        error.code == code::UNSUPPORTED_VERSION
            && supported.is_some_and(|all| all.iter().any(|one| one == MODERN))
    };
    match &answer {
        Err(fault) if fault.rpc().is_some_and(knows) => discover_once(connection).await,
        _ => answer,
    }
}

async fn discover_once(connection: &Connection) -> Answer {
    let (none, talk) = (Map::new(), Talk::quiet());
    let call = Call {
        method: "server/discover",
        params: Params::Of(&none),
        extra: &none,
        era: Era::Modern,
        talk: &talk,
    };
    connection.call(call).await
}

/// None where it does not speak our version.
fn modern_peer(result: &Value) -> Option<Peer> {
    let versions = result.get("supportedVersions")?.as_array()?;
    if !versions.iter().any(|version| version == MODERN) {
        return None;
    }
    let info = result.get("_meta").and_then(|meta| meta.get(META_SERVER));
    let info = info.or_else(|| result.get("serverInfo"));
    Some(peer(result, Era::Modern, MODERN, info))
}

fn peer(result: &Value, era: Era, version: &str, info: Option<&Value>) -> Peer {
    let instructions = result.get("instructions").and_then(Value::as_str);
    let node = result.get("_meta").and_then(|meta| meta.get(META_NODE));
    Peer {
        node: node.and_then(Value::as_str).map(str::to_owned),
        era,
        version: version.to_owned(),
        info: info.cloned(),
        capabilities: result
            .get("capabilities")
            .cloned()
            .unwrap_or_else(|| json!({})),
        instructions: instructions.map(str::to_owned),
    }
}

/// The first exchange with an older server. What we can be asked depends on who calls, so all of it is offered.
async fn initialize(connection: &Connection) -> Result<Peer, Fault> {
    let params = json!({
        "protocolVersion": LEGACY[0],
        "capabilities": {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
        "clientInfo": CLIENT_INFO,
    });
    let (none, talk) = (Map::new(), Talk::quiet());
    let call = Call {
        method: "initialize",
        params: Params::Of(params.as_object().unwrap_or(&none)),
        extra: &none,
        era: Era::Legacy,
        talk: &talk,
    };
    let result = tree(&connection.call(call).await?);
    let Some(version) = result.get("protocolVersion").and_then(Value::as_str) else {
        let why = "its answer to 'initialize' names no version";
        return Err(Fault::Protocol(why.to_owned()));
    };
    Ok(peer(
        &result,
        Era::Legacy,
        version,
        result.get("serverInfo"),
    ))
}
