//! `toolcrib serve`: opens the workspace, listens on the port and on the owner's socket, stops gracefully.

use crate::cli::Serve;
use crate::client::{OWNER_PATIENCE, connect_owner};
use crate::config::{Config, Origin};
use crate::context::{Context, edge, limits, mcp, start_failure};
use crate::out::{Failure, Result};
use crate::workspace::{Place, SocketPath, create_starter};
use app::App;
use app::keys::NewKey;
use server::{Edge, Listeners, Server};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;
use telemetry::Telemetry;
use telemetry::logs::ToCollector;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a stopping server waits for the collector.
const TELEMETRY_WITHIN: Duration = Duration::from_secs(2);

pub(crate) async fn run(context: &Context, serve: Serve) -> Result {
    let place = context.place()?;
    let mut flags = Vec::new();
    if let Some(listen) = serve.listen.as_deref() {
        flags.push(("server.listen", "--listen", listen));
    }
    if let Some(url) = serve.database.as_deref() {
        flags.push(("database.url", "--database", url));
    }
    let config = context.config(&place, flags)?;
    let logs = context.start_logging(&config, true);
    let telemetry = start_telemetry(&config, &logs);
    let served = until_stopped(context, &serve, &place, &config, telemetry.as_ref()).await;
    if let Some(telemetry) = telemetry {
        // Whoever looks there does not see our stderr.
        if let Err(failure) = &served {
            tracing::error!(error = failure.errors.join("; "), "the server ended");
        }
        telemetry.flush(TELEMETRY_WITHIN).await;
    }
    served
}

async fn until_stopped(
    context: &Context,
    serve: &Serve,
    place: &Place,
    config: &Config,
    telemetry: Option<&Arc<Telemetry>>,
) -> Result {
    let listen = config.listen();
    if serve.dev && !listen.ip().is_loopback() {
        return Err(Failure::usage(format!(
            "--dev needs no key, so it may not listen on {listen}"
        ))
        .hint("leave --dev out, or listen on a loopback address such as 127.0.0.1:8787"));
    }
    if place.is_default && !place.workspace.exists() {
        create_starter(&place.workspace)
            .await
            .map_err(|e| Failure::failed(format!("{}: {e}", place.workspace.display())))?;
        context.out.say(format!(
            "made a starter workspace in {}",
            place.workspace.display()
        ));
    }
    let mut signals = Signals::new()?;
    let app = open(context, place, config, telemetry).await?;
    let started = start(context, &app, place, config, serve).await;
    let grace = config.duration("server.grace_seconds");
    let started = match started {
        Ok(started) => started,
        Err(failure) => {
            app.stop(grace).await;
            return Err(failure);
        }
    };
    let stop = CancellationToken::new();
    let edge = Edge {
        listens: Some(reachable(started.address)),
        ..edge(config)
    };
    let url = edge.url.as_ref().or(edge.listens.as_ref());
    let url = url.cloned().unwrap_or_default();
    let server = Server::new(
        Arc::clone(&app),
        limits(config),
        edge,
        mcp(config),
        serve.dev,
    );
    let serving = server::serve(server, started.listeners, stop.clone(), grace);
    let serving = tokio::spawn(serving);
    let advertised = advertised(config, started.address).await;
    let is_reached = advertised.is_some();
    if let Err(error) = app.advertise(advertised).await {
        context.out.warn(format!(
            "other servers on this database were not told of this one yet: {error}"
        ));
    }
    if !is_reached && app.replicas.others() > 0 {
        context.out.warn("other servers on this database cannot reach this one, so MCP sessions that begin here are lost behind a proxy: set server.advertise to an address such as http://10.0.0.5:8787");
    }
    // Requests are answered already: making a link takes its time.
    introduce(context, &app, started.first_key, url.trim_end_matches('/')).await;
    let times = Times {
        drain: config.duration("server.drain_seconds"),
        drains_alone: config.setting("server.drain_seconds").origin != Origin::Default,
        grace,
    };
    let stopped = serve_until_told(&app, serving, stop, times, &mut signals).await;
    if let Ok(socket) = SocketPath::new(&place.data) {
        let _ = std::fs::remove_file(&socket.path);
    }
    stopped
}

/// Where traces and logs go, if somewhere.
fn start_telemetry(config: &Config, logs: &ToCollector) -> Option<Arc<Telemetry>> {
    // The collector is the operator's, wherever it is.
    let fetcher = fetch::Fetcher::new(fetch::Options::default());
    let telemetry = Telemetry::start(config.telemetry()?, fetcher);
    logs.tell(Arc::clone(&telemetry));
    Some(telemetry)
}

/// A short command may have the workspace for a moment; a server has it for good.
async fn open(
    context: &Context,
    place: &Place,
    config: &Config,
    telemetry: Option<&Arc<Telemetry>>,
) -> Result<Arc<App>> {
    let give_up = Instant::now() + OWNER_PATIENCE;
    loop {
        let mut options = context.app_options(place, config, true);
        options.executor.telemetry = telemetry.cloned();
        match App::open(options).await {
            Err(app::StartError::Owned(_))
                if Instant::now() < give_up && connect_owner(place).await.is_err() =>
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            opened => return opened.map_err(|error| start_failure(error, place)),
        }
    }
}

/// A server of nobody but those who have the workspace's socket; no port is opened.
pub(crate) struct Owned {
    app: Arc<App>,
    serving: JoinHandle<()>,
    stop: CancellationToken,
    grace: Duration,
    place: Place,
}

impl Owned {
    /// None: somebody else owns the workspace.
    pub(crate) async fn start(context: &Context, place: &Place) -> Result<Option<Self>> {
        let config = context.config(place, Vec::new())?;
        let app = match App::open(context.app_options(place, &config, true)).await {
            Ok(app) => app,
            Err(app::StartError::Owned(_)) => return Ok(None),
            Err(error) => return Err(start_failure(error, place)),
        };
        let unix = match bind_socket(place) {
            Ok(unix) => unix,
            Err(error) => {
                // Upstream servers are connected by now, and the lock is ours.
                app.stop(config.duration("server.grace_seconds")).await;
                let why = format!(
                    "cannot listen on the socket in {}: {error}",
                    place.data.display()
                );
                return Err(Failure::failed(why));
            }
        };
        let listeners = Listeners {
            tcp: None,
            unix: Some(unix),
        };
        let server = Server::new(
            Arc::clone(&app),
            limits(&config),
            edge(&config),
            mcp(&config),
            false,
        );
        let (stop, grace) = (
            CancellationToken::new(),
            config.duration("server.grace_seconds"),
        );
        let serving = server::serve(server, listeners, stop.clone(), grace);
        Ok(Some(Owned {
            serving: tokio::spawn(serving),
            app,
            stop,
            grace,
            place: place.clone(),
        }))
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let _ = self.serving.await;
        self.app.stop(self.grace).await;
        if let Ok(socket) = SocketPath::new(&self.place.data) {
            let _ = std::fs::remove_file(&socket.path);
        }
    }
}

/// A server that is ready.
struct Started {
    listeners: Listeners,
    address: SocketAddr,
    /// The key that was made because there was none.
    first_key: Option<NewKey>,
}

/// Everything between the open workspace and the line that says we are ready.
async fn start(
    context: &Context,
    app: &Arc<App>,
    place: &Place,
    config: &Config,
    serve: &Serve,
) -> Result<Started> {
    let listen = config.listen();
    warn_about(context, config);
    if !listen.ip().is_loopback() && !has_key(app, config) {
        return Err(Failure::failed(format!("there is no key yet, so the server does not listen on {listen}"))
            .hint("set TOOLCRIB_ADMIN_KEY, or make a key first with `toolcrib keys create NAME --scopes admin`"));
    }
    let tcp = TcpListener::bind(listen).await.map_err(|error| {
        Failure::failed(format!("cannot listen on {listen}: {error}"))
            .hint("another program may have the port; --listen 127.0.0.1:0 takes a free one")
    })?;
    let address = tcp.local_addr().unwrap_or(listen);
    let unix = bind_socket(place).map_err(|error| {
        Failure::failed(format!(
            "cannot listen on the socket in {}: {error}",
            place.data.display()
        ))
    })?;
    let first_key = app
        .bootstrap_key()
        .await
        .map_err(|error| Failure::failed(format!("the first key could not be made: {error}")))?;
    if serve.dev {
        context
            .out
            .warn("--dev: everybody on this machine may do everything, without a key");
    }
    context.out.line(format!("listening on http://{address}"));
    Ok(Started {
        listeners: Listeners {
            tcp: Some(tcp),
            unix: Some(unix),
        },
        address,
        first_key,
    })
}

fn warn_about(context: &Context, config: &Config) {
    if config.yes("policy.enforced") && config.names("policy.whitelist").is_empty() {
        context.out.warn("the policy is enforced but its whitelist is empty, which allows all tools; set TOOL_WHITELIST");
    }
    if !config.yes("policy.enforced") && !config.names("policy.whitelist").is_empty() {
        context.out.warn("there is a whitelist, but it is not enforced, so all tools may be called; set FEATURE_TOOLS_POLICY=true");
    }
    let secret_key = config.secret_key.as_deref();
    if secret_key.is_some_and(app::sealing_keys::holds_plain_text) {
        context.out.warn("TOOLCRIB_SECRET_KEY holds a plain text, which may be guessed; put a random key before it (k2:$(openssl rand -base64 32),TEXT) and run `toolcrib secrets rotate`");
    }
    if config
        .admin_key
        .as_ref()
        .is_some_and(|key| key.chars().count() < 16)
    {
        context.out.warn(
            "TOOLCRIB_ADMIN_KEY is short and may be guessed; take 32 random characters or more",
        );
    }
}

fn has_key(app: &App, config: &Config) -> bool {
    let now = app.clock.now();
    let access = app.access.load();
    let mut keys = access.live_keys();
    config.admin_key.is_some() || keys.any(|(row, _)| row.expires_at.is_none_or(|end| end > now))
}

/// The lock is ours, so a socket that lies there is a dead one's.
fn bind_socket(place: &Place) -> std::io::Result<UnixListener> {
    let socket = SocketPath::new(&place.data)?;
    match std::fs::remove_file(&socket.path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&socket.path)?;
    // The data folder is closed to others already; this holds even where it was made by hand.
    std::fs::set_permissions(&socket.path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// What listens everywhere has no name of its own; here it is this one.
fn reachable(address: SocketAddr) -> String {
    match address.ip().is_unspecified() {
        true => format!("http://localhost:{}", address.port()),
        false => format!("http://{address}"),
    }
}

/// Where other servers on the same database reach this one. What listens everywhere is reached where the database sees it; what
/// listens to this machine only is reached by nobody where the database, and so perhaps the others, are elsewhere.
async fn advertised(config: &Config, address: SocketAddr) -> Option<String> {
    let written = config.text("server.advertise").trim_end_matches('/');
    let database = config.text("database.url");
    if !written.is_empty() || database.is_empty() {
        return Some(written.to_owned()).filter(|it| !it.is_empty());
    }
    let ip = match address.ip() {
        ip if ip.is_unspecified() => store::replicas::way_to(database).await?,
        ip if ip.is_loopback() => {
            let way = store::replicas::way_to(database).await?;
            Some(ip).filter(|_| way.is_loopback())?
        }
        ip => ip,
    };
    Some(format!("http://{}", SocketAddr::new(ip, address.port())))
}

/// What the first start says: the key where one was made, and a link that opens the page, also where the key comes from
/// the environment.
async fn introduce(context: &Context, app: &App, key: Option<NewKey>, url: &str) {
    let out = &context.out;
    if let Some(key) = &key {
        out.say("This is the admin key of this server. It is shown only now; keep it:");
        out.say(format!("\n    {}\n", key.key));
    }
    match app.first_login_link().await {
        Ok(None) => {}
        Ok(Some(link)) => {
            out.say("This link logs you in as admin in a browser, once, within 15 minutes:");
            out.say(format!("\n    {url}{}\n", link.path));
        }
        Err(error) => out.warn(format!(
            "the login link could not be made: {error}; `toolcrib users login-link admin` makes one"
        )),
    }
    if let Some(key) = &key {
        out.say("Try it:");
        out.say(format!(
            "\n    curl -s {url}/api/v1/tools/calculator/call -H 'X-API-Key: {}' -H 'Content-Type: application/json' -d '{{\"arguments\":{{\"expression\":\"12.5% of 340\"}}}}'\n",
            key.key
        ));
    }
}

/// How long to wait for what, once it is told to stop.
struct Times {
    /// For a proxy to send requests elsewhere.
    drain: Duration,
    /// Also where nobody else is known: whoever sets the time means it.
    drains_alone: bool,
    /// For calls under way.
    grace: Duration,
}

/// Serves; at the first signal finishes what is under way, at the second goes at once.
async fn serve_until_told(
    app: &Arc<App>,
    serving: JoinHandle<()>,
    stop: CancellationToken,
    times: Times,
    signals: &mut Signals,
) -> Result {
    let uses = tokio::spawn(store_key_uses(Arc::clone(app)));
    signals.next().await;
    uses.abort();
    tracing::info!("stopping; a second signal ends it at once");
    let finish = async {
        app.replicas.leave();
        if times.drains_alone || app.replicas.others() > 0 {
            tokio::time::sleep(times.drain).await;
        }
        let until = Instant::now() + times.grace;
        stop.cancel();
        let _ = serving.await;
        app.stop(until.saturating_duration_since(Instant::now()))
            .await;
    };
    tokio::select! {
        () = finish => {
            tracing::info!("stopped");
            Ok(())
        }
        () = signals.next() => Err(Failure::failed("stopped by a second signal; calls under way were given up")),
    }
}

/// When keys were last used is stored each minute, and once more at the end.
async fn store_key_uses(app: Arc<App>) {
    let mut minutes = tokio::time::interval(Duration::from_secs(60));
    loop {
        minutes.tick().await;
        if let Err(error) = app.store_key_uses().await {
            tracing::warn!(%error, "when keys were last used could not be stored");
        }
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        let failed =
            |error: std::io::Error| Failure::failed(format!("signals cannot be received: {error}"));
        Ok(Signals {
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
