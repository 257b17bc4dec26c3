//! What the tests share: upstreams with short limits, the programs of others, and ways to ask.

use catalog::mcp_file::{ServerConfig, read_servers};
use fetch::Fetcher;
use mcp::upstream::{
    Credentials, Listener, Notice, Options, Params, Saying, Settings, State, Talk, Upstream,
    UpstreamError, Upstreams,
};
use process::Spawner;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Nothing here takes so long, even on a slow machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) upstreams: Arc<Upstreams>,
    pub(crate) notices: mpsc::UnboundedReceiver<Notice>,
    pub(crate) folder: tempfile::TempDir,
}

/// Where the programs of others are.
pub(crate) fn programs() -> PathBuf {
    let folder = std::env::var_os("TOOLCRIB_TEST_MCP");
    let folder = folder.expect(
        "TOOLCRIB_TEST_MCP names no folder: run the tests with TOOLCRIB_TEST_MCP=$(scripts/mcp-programs)",
    );
    PathBuf::from(folder)
}

pub(crate) fn program(path: &str) -> String {
    let path = programs().join(path);
    assert!(path.exists(), "{} is missing", path.display());
    path.into_os_string().into_string().unwrap()
}

/// Limits for tests: no long waits, but patience with slow programs.
pub(crate) fn settings() -> Settings {
    Settings {
        connect_timeout: LONG,
        backoff_base: Duration::from_millis(20),
        stable: Duration::from_secs(3600),
        refresh_gap: Duration::from_millis(50),
        close_grace: Duration::from_millis(500),
        ..Settings::default()
    }
}

impl World {
    pub(crate) fn new(settings: Settings) -> Self {
        World::made(settings, fetch::Options::default(), None)
    }

    /// One that calls out as it is told.
    pub(crate) fn calling(settings: Settings, calls: fetch::Options) -> Self {
        World::made(settings, calls, None)
    }

    pub(crate) fn with(settings: Settings, credentials: Option<Arc<dyn Credentials>>) -> Self {
        World::made(settings, fetch::Options::default(), credentials)
    }

    fn made(
        settings: Settings,
        calls: fetch::Options,
        credentials: Option<Arc<dyn Credentials>>,
    ) -> Self {
        let tests = std::env::current_exe().unwrap();
        let target = tests.parent().and_then(Path::parent).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let (sender, notices) = mpsc::unbounded_channel();
        let options = Options {
            // Cargo builds examples before it runs tests, beside them.
            spawner: Arc::new(Spawner::of(target.join("examples/supervisor"))),
            fetcher: Fetcher::new(calls),
            environment: vec![
                ("PATH".into(), path),
                ("HOME".into(), folder.path().into()),
                ("BASE".into(), "base".into()),
                ("BOTH".into(), "base".into()),
            ],
            folder: folder.path().to_owned(),
            settings,
            notices: sender,
            credentials,
            node: None,
        };
        World {
            upstreams: Upstreams::new(options),
            notices,
            folder,
        }
    }

    /// Makes these the servers; `servers` is what stands under `mcpServers`.
    pub(crate) fn set(&self, servers: &Value) {
        self.upstreams.set(configs(servers));
    }

    /// One server, when it is connected.
    pub(crate) async fn one(&mut self, server: Value) -> Arc<Upstream> {
        self.set(&json!({ "one": server }));
        let upstream = self.upstreams.get("one").unwrap();
        self.until(&upstream, |state| *state == State::Connected)
            .await;
        upstream
    }

    /// Waits for a state, and shows what there was instead if it does not come.
    pub(crate) async fn until(&mut self, upstream: &Upstream, wanted: impl Fn(&State) -> bool) {
        let wait = async {
            while !wanted(&upstream.status().state) {
                self.notices.recv().await.unwrap();
            }
        };
        if tokio::time::timeout(LONG, wait).await.is_err() {
            panic!("{}: {:?}", upstream.name(), upstream.status());
        }
    }

    /// Waits for a notice.
    pub(crate) async fn notice(&mut self, wanted: impl Fn(&Notice) -> bool) {
        let wait = async { while !wanted(&self.notices.recv().await.unwrap()) {} };
        tokio::time::timeout(LONG, wait).await.expect("no notice");
    }
}

pub(crate) fn configs(servers: &Value) -> Vec<ServerConfig> {
    let text = json!({ "mcpServers": servers }).to_string();
    let file = read_servers("mcp.json", &text, &|_| None);
    file.unwrap_or_else(|problems| panic!("{problems:?}"))
        .servers
}

pub(crate) fn talk() -> Talk {
    Talk::until(Instant::now() + LONG)
}

/// A talk and the other end of it.
pub(crate) fn talk_with(capabilities: Value) -> (Talk, mpsc::Receiver<Saying>) {
    let (events, said) = mpsc::channel(100);
    let talk = Talk {
        listener: Some(Listener::new(move |saying| {
            let _ = events.try_send(saying);
        })),
        wants_progress: true,
        capabilities: Arc::new(capabilities),
        ..talk()
    };
    (talk, said)
}

pub(crate) async fn call(
    upstream: &Upstream,
    tool: &str,
    arguments: Value,
    talk: Talk,
) -> Result<Value, UpstreamError> {
    let params = Params::Call {
        name: tool,
        arguments: &arguments,
    };
    let result = upstream.request("tools/call", params, talk).await;
    result.map(|raw| serde_json::from_str(raw.get()).unwrap())
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
}

pub(crate) fn names(list: &[Value]) -> Vec<&str> {
    list.iter()
        .map(|item| item["name"].as_str().unwrap())
        .collect()
}

/// A server of others that listens on this machine, until it is dropped.
pub(crate) struct Listening {
    _child: tokio::process::Child,
    pub(crate) port: u16,
}

impl Listening {
    /// Starts a program and waits until it takes connections; `PORT` in its arguments and environment is its port.
    pub(crate) async fn start(program: &str, args: &[&str]) -> Self {
        Listening::start_with(program, args, free_port(), &[]).await
    }

    pub(crate) async fn start_with(
        program: &str,
        args: &[&str],
        port: u16,
        env: &[(&str, &str)],
    ) -> Self {
        let args = args
            .iter()
            .map(|arg| arg.replace("PORT", &port.to_string()));
        let child = tokio::process::Command::new(program)
            .args(args)
            .env("PORT", port.to_string())
            .envs(env.iter().copied())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let listens = async {
            while tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .is_err()
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(LONG, listens).await;
        waited.unwrap_or_else(|_| panic!("{program} does not listen"));
        Listening {
            _child: child,
            port,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn free_port() -> u16 {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

/// A file beside the tests.
pub(crate) fn script(name: &str) -> String {
    format!("{}/tests/it/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Our own server that does everything wrong, and the file where it writes what it ran.
pub(crate) struct Fake {
    era: &'static str,
    note: PathBuf,
}

impl Fake {
    pub(crate) fn new(world: &World, era: &'static str) -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static LAST: AtomicU32 = AtomicU32::new(0);
        let name = format!("note{}", LAST.fetch_add(1, Ordering::Relaxed));
        let note = world.folder.path().join(name);
        std::fs::write(&note, "").unwrap();
        Fake { era, note }
    }

    pub(crate) fn stdio(&self) -> Value {
        let args = json!([script("fake.py"), self.era, "stdio", self.note]);
        json!({"command": "python3", "args": args, "env": {"BOTH": "own"}})
    }

    /// Starts it as a server over the oldest transport.
    pub(crate) async fn listen_sse(&self, env: &[(&str, &str)]) -> Listening {
        self.starts("sse", free_port(), env).await
    }

    /// Starts it as a server over HTTP.
    pub(crate) async fn listen(&self) -> Listening {
        self.listens(free_port(), &[]).await
    }

    pub(crate) async fn listen_with(&self, env: &[(&str, &str)]) -> Listening {
        self.listens(free_port(), env).await
    }

    pub(crate) async fn listen_at(&self, port: u16) -> Listening {
        self.listens(port, &[]).await
    }

    async fn listens(&self, port: u16, env: &[(&str, &str)]) -> Listening {
        self.starts("http", port, env).await
    }

    async fn starts(&self, transport: &str, port: u16, env: &[(&str, &str)]) -> Listening {
        let note = self.note.to_str().unwrap();
        let args = [&script("fake.py"), self.era, transport, note, "PORT"];
        Listening::start_with("python3", &args, port, env).await
    }

    /// Lets its tool "wait" come to an end.
    pub(crate) fn release(&self) {
        let mut go = self.note.clone().into_os_string();
        go.push(".go");
        std::fs::write(go, "").unwrap();
    }

    /// All that it ran.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.note).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// How often it ran something; a start is noted with its id.
    pub(crate) fn count(&self, what: &str) -> usize {
        let lines = self.lines();
        let is = |line: &&String| **line == what || (what == "start" && line.starts_with("start "));
        lines.iter().filter(is).count()
    }

    /// Waits until it has run something so often.
    pub(crate) async fn until(&self, what: &str, times: usize) {
        let wait = async {
            while self.count(what) < times {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(LONG, wait).await;
        waited.unwrap_or_else(|_| panic!("{what}: {:?}", self.lines()));
    }

    /// Waits until every process of it is gone.
    pub(crate) async fn all_gone(&self) {
        let lines = self.lines();
        let pids = lines.iter().filter_map(|line| line.strip_prefix("start "));
        let wait = async {
            for pid in pids {
                while Path::new(&format!("/proc/{pid}")).exists() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        };
        tokio::time::timeout(LONG, wait).await.expect("one is left");
    }
}
