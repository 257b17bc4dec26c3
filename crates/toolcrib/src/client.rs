//! How a command reaches its server: over HTTP, through the socket of the process that owns the workspace,
//! or, when nobody owns it, by opening the workspace itself. The request is the same REST request each time.

use crate::command::call::refused;
use crate::config::Config;
use crate::context::{Context, limits, mcp, start_failure};
use crate::out::{Cause, Document, Failure, Result};
use crate::workspace::{Place, SocketPath};
use app::App;
use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;
use server::Server;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::Instant;

mod address;
mod streamed;
mod way;

use address::split_url;
pub(crate) use address::{query, several};
pub(crate) use kinds::http::percent as encode;
use streamed::Streamed;
pub(crate) use way::Way;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a command waits for another short command on the same workspace.
pub(crate) const OWNER_PATIENCE: Duration = Duration::from_secs(10);
/// How long a call of our own may go on after Ctrl-C.
const LOCAL_GRACE: Duration = Duration::from_secs(2);

pub(crate) enum Client {
    Http {
        authority: String,
        base: String,
        key: Option<String>,
    },
    Socket(Place),
    Local(Local),
}

/// This process, where it has opened the workspace itself.
pub(crate) struct Local {
    server: Arc<Server>,
    /// Ctrl-C ends a request, and is an error like another. Not where whoever asks hears it and knows what it means.
    ends_on_interrupt: bool,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// Members of an object, each as it was written.
pub(crate) type Members = BTreeMap<String, Box<RawValue>>;

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as it came, and its members.
    pub(crate) fn written(&self) -> (&str, Members) {
        let text = std::str::from_utf8(&self.body).unwrap_or_default();
        (text, serde_json::from_str(text).unwrap_or_default())
    }

    /// The body of a success; the error of anything else.
    pub(crate) fn ok(self) -> Result<Value> {
        if self.is_success() {
            return Ok(self.value());
        }
        Err(self.failure())
    }

    pub(crate) fn failure(&self) -> Failure {
        let body = self.value();
        let error = &body["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let problems = error["details"]["problems"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let code = text("code");
        // What the server would call a wrong request, we call wrong usage: the table of codes says which.
        let cause = match executor::Code::from_name(&code).map(|code| code.row().exit) {
            Some(2) => Cause::Usage,
            _ => Cause::Failed,
        };
        if code.is_empty() {
            let why = format!("the server answered with status {}", self.status);
            return Failure::failed(why).hint("is it a toolcrib server? check the address");
        }
        let mut failure = Failure::new(cause, format!("{code}: {}", text("message")));
        if problems.len() > 1 {
            failure.errors = problems.iter().map(problem_line).collect();
        }
        if let Some(seconds) = error["details"]["retry_after_seconds"].as_u64() {
            failure = failure.hint(format!("try again in {seconds} s"));
        }
        if self.status == 401 {
            failure = failure.hint("give a valid key with --key or TOOLCRIB_KEY");
        }
        failure.document = Document::Answer(Box::new(body));
        failure
    }
}

/// One problem of a document; a place it does not have is left out.
pub(crate) fn problem_line(problem: &Value) -> String {
    let text = |name: &str| problem[name].as_str().unwrap_or_default();
    let place = match (&problem["line"], &problem["column"]) {
        (Value::Number(line), Value::Number(column)) => format!(":{line}:{column}"),
        _ => String::new(),
    };
    format!(
        "{}{place}: at {}: expected {}, found {}. {}",
        text("file"),
        text("path"),
        text("expected"),
        text("found"),
        text("remedy")
    )
}

impl Client {
    /// The server of `--url` or, without one, whoever has the workspace.
    pub(crate) async fn open(context: &Context) -> Result<Self> {
        if let Some(url) = context.server_url() {
            let key = context.global.key.as_deref();
            let key = key.or_else(|| context.environment.filled("TOOLCRIB_KEY"));
            let (authority, base) = split_url(url)?;
            return Ok(Client::Http {
                authority,
                base,
                key: key.map(str::to_owned),
            });
        }
        if context.global.key.is_some() {
            // Taking it for nothing would let the command do what the key may not.
            return Err(
                Failure::usage("--key is for a server that is named by its address")
                    .hint("add --url or TOOLCRIB_URL; on a workspace of your own no key is needed"),
            );
        }
        let place = context.place()?;
        let config = match context.config(&place, Vec::new()) {
            Ok(config) => config,
            // Its owner goes by the configuration it was started with and needs nothing of ours.
            Err(failure) if connect_owner(&place).await.is_ok() => {
                for error in failure.errors {
                    context
                        .out
                        .warn(format!("{error}; the server runs on as it was started"));
                }
                return Ok(Client::Socket(place));
            }
            Err(failure) => return Err(failure),
        };
        let _ = context.start_logging(&config, false);
        Self::of_workspace(context, place, &config).await
    }

    /// One that asks what this process has opened.
    pub(crate) fn local(app: Arc<App>, config: &Config) -> Self {
        let edge = server::Edge::default();
        Client::Local(Local {
            server: Server::new(app, limits(config), edge, mcp(config), false),
            ends_on_interrupt: true,
        })
    }

    /// Its requests go on whatever is pressed: whoever asks hears Ctrl-C.
    pub(crate) fn undisturbed(mut self) -> Self {
        if let Client::Local(local) = &mut self {
            local.ends_on_interrupt = false;
        }
        self
    }

    async fn of_workspace(context: &Context, place: Place, config: &Config) -> Result<Self> {
        let give_up = Instant::now() + OWNER_PATIENCE;
        let mut pause = Duration::from_millis(20);
        loop {
            if connect_owner(&place).await.is_ok() {
                return Ok(Client::Socket(place));
            }
            match App::open(context.app_options(&place, config, false)).await {
                Ok(app) => return Ok(Client::local(app, config)),
                // Another short command, or a server that is just starting or stopping.
                Err(app::StartError::Owned(_)) if Instant::now() < give_up => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_millis(500));
                }
                Err(app::StartError::Owned(_)) => {
                    let why = format!(
                        "{} owns {} and does not answer",
                        place.owner(),
                        place.data.display()
                    );
                    return Err(Failure::new(Cause::Unreachable, why)
                        .hint("wait until it is done, or stop it; `toolcrib doctor` says more"));
                }
                Err(error) => return Err(start_failure(error, &place)),
            }
        }
    }

    /// Runs one command's requests and closes again, however they end.
    pub(crate) async fn with<T>(
        context: &Context,
        work: impl AsyncFnOnce(&Client) -> Result<T>,
    ) -> Result<T> {
        let client = Client::open(context).await?;
        let mut done = work(&client).await;
        client.end(context, &mut done).await;
        done
    }

    /// Explains what went wrong, and closes.
    pub(crate) async fn end<T>(self, context: &Context, done: &mut Result<T>) {
        if let Err(failure) = done {
            self.explain(context, failure).await;
        }
        self.close().await;
    }

    /// Sees to it that a tool can be called that is of an upstream server. Whoever serves has them all connected.
    pub(crate) async fn reach(&self, tool: &str) -> Result<()> {
        let Client::Local(local) = self else {
            return Ok(());
        };
        let reached = local.server.app.reach_upstream(tool).await;
        reached
            .map_err(|error| refused(&error).hint("its entry in mcp.json says how it is reached"))
    }

    /// What else to say about a tool that is not there.
    async fn explain(&self, context: &Context, failure: &mut Failure) {
        let Document::Answer(answer) = &failure.document else {
            return;
        };
        let error = &answer["error"];
        // One that is ambiguous has told what could be meant.
        if error["code"] != "tool_not_found" || error["details"]["candidates"].is_array() {
            return;
        }
        let name = error["message"]
            .as_str()
            .and_then(|it| it.split('\'').nth(1));
        let near = match name {
            Some(name) => self.near(name).await,
            None => None,
        };
        if let (Some(near), Some(first)) = (near, failure.errors.first_mut()) {
            first.push_str(&format!("; did you mean '{near}'?"));
        }
        failure.hints.extend(context.elsewhere());
    }

    /// The tool whose name is nearest to one that is not there, of those that this caller may see.
    pub(crate) async fn near(&self, name: &str) -> Option<String> {
        let tools = crate::command::tools::all(self, &[], usize::MAX)
            .await
            .ok()?;
        let names = tools.iter().filter_map(|tool| tool["name"].as_str());
        crate::config::nearest(name, names).map(str::to_owned)
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        self.request("GET", path, None).await?.ok()
    }

    pub(crate) async fn request(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Result<Answer> {
        self.way().await?.request(method, path, body).await
    }

    /// With a body that is sent as it is, so that problems in it keep their lines.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Answer> {
        self.send_matching(method, path, None, body).await
    }

    /// A change of what is still at this version; whatever somebody changed since is refused.
    pub(crate) async fn send_matching(
        &self,
        method: &str,
        path: &str,
        if_match: Option<i64>,
        body: Option<Vec<u8>>,
    ) -> Result<Answer> {
        let asked = self.ask(method, path, if_match, body).await?;
        asked.collected().await
    }

    /// An answer that may be long, line by line as it comes. False from `take` ends it before its end.
    pub(crate) async fn each_line(&self, path: &str, take: impl FnMut(&str) -> bool) -> Result<()> {
        let asked = self.ask("GET", path, None, None).await?;
        asked.each_line(take).await
    }

    async fn ask(
        &self,
        method: &str,
        path: &str,
        if_match: Option<i64>,
        body: Option<Vec<u8>>,
    ) -> Result<Streamed> {
        self.way().await?.ask(method, path, if_match, body).await
    }

    /// A way to whoever answers: nothing was sent on it yet.
    pub(crate) async fn way(&self) -> Result<Way<'_>> {
        Ok(match self {
            Client::Http {
                authority,
                base,
                key,
            } => Way::Http {
                stream: connect(authority).await?,
                authority,
                base,
                key: key.as_deref(),
            },
            Client::Socket(place) => {
                let stream = connect_owner(place).await.map_err(|error| {
                    let why = format!("{} stopped answering on its socket: {error}", place.owner());
                    Failure::new(Cause::Unreachable, why)
                })?;
                Way::Socket(stream)
            }
            Client::Local(local) => Way::Local(local),
        })
    }

    /// Closes what this process has opened itself.
    pub(crate) async fn close(self) {
        if let Client::Local(local) = self {
            local.server.app.stop(LOCAL_GRACE).await;
        }
    }
}

pub(crate) async fn connect_owner(place: &Place) -> std::io::Result<UnixStream> {
    let socket = SocketPath::new(&place.data)?;
    UnixStream::connect(&socket.path).await
}

async fn connect(authority: &str) -> Result<TcpStream> {
    let unreachable = |why: String| {
        Failure::new(
            Cause::Unreachable,
            format!("no server answers at http://{authority}: {why}"),
        )
        .hint("start one with `toolcrib serve`, or check --url and TOOLCRIB_URL")
    };
    match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(authority)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(unreachable(error.to_string())),
        Err(_) => Err(unreachable("it did not answer in time".to_owned())),
    }
}
