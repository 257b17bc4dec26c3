//! Runs the real program in a folder of its own: commands to their end, servers until they are dropped.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The admin key of every server that is started with `Sandbox::serve`.
pub(crate) const ADMIN_KEY: &str = "an-admin-key-for-tests-only-0123456789";

/// What has not happened by then never will.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder with a home, a workspace and nothing of the environment of the one who runs the tests.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    /// Without a workspace.
    pub(crate) fn bare() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        Sandbox {
            folder,
            environment: Vec::new(),
        }
    }

    /// With the starter workspace.
    pub(crate) fn new() -> Self {
        let sandbox = Self::bare();
        let workspace = sandbox.workspace();
        let made = sandbox.run(&[
            "init",
            workspace.to_str().expect("temporary paths are UTF-8"),
        ]);
        assert_eq!(made.code, 0, "{made:?}");
        sandbox
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What `with` has set.
    pub(crate) fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.workspace()).expect("the workspace can be made");
        std::fs::write(self.workspace().join(name), text).expect("the workspace can be written");
    }

    /// The program with these arguments, in the workspace if there is one.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolcrib"));
        let workspace = self.workspace();
        let here = if workspace.exists() {
            workspace
        } else {
            self.folder().to_owned()
        };
        command
            .args(arguments)
            .current_dir(here)
            .env_clear()
            .env("HOME", self.folder())
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        finish(start(self.command(arguments)))
    }

    /// The same through a shell that does something first.
    pub(crate) fn run_through(&self, first: &str, arguments: &[&str]) -> Done {
        let plain = self.command(arguments);
        let mut command = Command::new("sh");
        let script = format!("{first}; exec \"$0\" \"$@\"");
        command
            .args(["-c", &script])
            .arg(plain.get_program())
            .args(plain.get_args());
        command.env_clear().stdin(Stdio::null());
        let set = plain
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        command.envs(set);
        command.current_dir(plain.get_current_dir().expect("it was set"));
        finish(start(command))
    }

    /// Runs a command that must succeed and gives what it printed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code, 0, "{arguments:?}: {done:?}");
        done.stdout
    }

    /// The same with `--json`.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).expect("--json prints JSON")
    }

    /// Runs a command with a text on its stdin.
    pub(crate) fn run_with_stdin(&self, arguments: &[&str], text: &str) -> Done {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped());
        let mut child = start(command);
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        stdin
            .write_all(text.as_bytes())
            .expect("the program reads its stdin");
        drop(stdin);
        finish(child)
    }

    /// A server on a free port, with `ADMIN_KEY`.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Running {
        let mut command =
            self.command(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
        command.env("TOOLCRIB_ADMIN_KEY", ADMIN_KEY);
        Running::start(command)
    }
}

fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program can be started")
}

/// Waits for a command's end; one that goes on for too long is killed, and the test fails.
fn finish(child: Child) -> Done {
    let pid = child.id();
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(PATIENCE) else {
        send(pid, rustix::process::Signal::KILL);
        panic!("the command did not end");
    };
    let output = output.expect("a child can be waited for");
    Done {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn send(pid: u32, signal: rustix::process::Signal) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    let pid = pid.expect("a child has a pid");
    rustix::process::kill_process(pid, signal).expect("the child is there");
}

/// One REST request to whoever listens there.
pub(crate) fn request_to(
    address: &str,
    key: &str,
    (method, path): (&str, &str),
    body: Option<&Value>,
) -> std::io::Result<(u16, Value)> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    request_with_head(address, &head, &body)
}

/// The same with a head of one's own.
pub(crate) fn request_with_head(
    address: &str,
    head: &str,
    body: &str,
) -> std::io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{head}{body}").as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let broken = || std::io::Error::other(format!("not an answer: {text:?}"));
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let body = serde_json::from_str(body).unwrap_or(Value::Null);
    Ok((status.ok_or_else(broken)?, body))
}

/// A server that runs; it is killed when dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) address: String,
    pub(crate) key: String,
    stderr: Mutex<Receiver<String>>,
}

impl Running {
    /// Starts a `serve` command and waits until it listens.
    pub(crate) fn start(command: Command) -> Self {
        let mut child = start(command);
        let stdout = lines(child.stdout.take().expect("stdout is a pipe"));
        let stderr = lines(child.stderr.take().expect("stderr is a pipe"));
        let Ok(line) = stdout.recv_timeout(PATIENCE) else {
            let _ = child.kill();
            let _ = child.wait();
            let said: Vec<String> = stderr.iter().collect();
            panic!("the server did not start: {said:?}");
        };
        let address = line.strip_prefix("listening on http://");
        let address = address
            .unwrap_or_else(|| panic!("unexpected first line: {line}"))
            .to_owned();
        Running {
            child,
            address,
            key: ADMIN_KEY.to_owned(),
            stderr: Mutex::new(stderr),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line on stderr that holds this text.
    pub(crate) fn said(&self, text: &str) -> String {
        let lines = self.stderr.lock().expect("no reader has panicked");
        loop {
            let line = lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("the server never said {text:?}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// One REST request with the key of this server; it must be answered.
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        self.try_request(method, path, body)
            .expect("the server answers")
    }

    /// The same where the server may be gone.
    pub(crate) fn try_request(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> std::io::Result<(u16, Value)> {
        self.try_request_as(&self.key, method, path, body)
    }

    /// The same with another key.
    pub(crate) fn try_request_as(
        &self,
        key: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> std::io::Result<(u16, Value)> {
        request_to(&self.address, key, (method, path), body)
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        send(self.pid(), signal);
    }

    /// Waits until it has ended by itself; gives its exit code (-1 for a signal).
    pub(crate) fn ended(mut self) -> i32 {
        let status = self.child.wait().expect("the child can be waited for");
        status.code().unwrap_or(-1)
    }

    /// SIGTERM, and everything on stderr that nobody has asked for.
    pub(crate) fn last_words(mut self) -> Vec<String> {
        self.signal(rustix::process::Signal::TERM);
        self.child.wait().expect("the child can be waited for");
        let lines = self.stderr.lock().expect("no reader has panicked");
        lines.iter().collect()
    }

    /// SIGTERM, and the exit code that follows.
    pub(crate) fn terminate(self) -> i32 {
        self.signal(rustix::process::Signal::TERM);
        self.ended()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that goes on printing JSON lines; it is killed when dropped.
pub(crate) struct Follower {
    child: Child,
    stdout: Receiver<String>,
}

impl Follower {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program can be started");
        let stdout = lines(child.stdout.take().expect("stdout is a pipe"));
        Follower { child, stdout }
    }

    pub(crate) fn next(&self) -> Value {
        let line = self.stdout.recv_timeout(PATIENCE);
        let line = line.expect("the command prints another line in time");
        serde_json::from_str(&line).expect("the line is JSON")
    }

    pub(crate) fn ended(mut self) -> i32 {
        let status = self.child.wait().expect("the child can be waited for");
        status.code().unwrap_or(-1)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
