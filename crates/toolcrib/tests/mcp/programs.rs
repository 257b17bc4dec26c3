//! The programs of others, and how they are run: to their end, or as upstream servers until they are dropped.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Programs of others take seconds to start, and longer where everything starts at once.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A program that `scripts/mcp-programs` has installed.
pub(crate) fn program(path: &str) -> String {
    let folder = std::env::var_os("TOOLCRIB_TEST_MCP");
    let folder = folder.expect(
        "TOOLCRIB_TEST_MCP names no folder: run the tests with TOOLCRIB_TEST_MCP=$(scripts/mcp-programs)",
    );
    let path = PathBuf::from(folder).join(path);
    assert!(path.exists(), "{} is missing", path.display());
    path.into_os_string().into_string().unwrap()
}

/// One that npm has installed.
pub(crate) fn npm(name: &str) -> String {
    program(&format!("npm/node_modules/.bin/{name}"))
}

/// A Python program of ours.
pub(crate) fn script(name: &str) -> String {
    format!("{}/tests/mcp/clients/{name}", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn root() -> &'static Path {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.parent().unwrap()
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) is_good: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program to its end with a text on its stdin; one that goes on for too long is killed, and the test fails.
pub(crate) fn run(command: Command, stdin: &str) -> Ended {
    run_within(LONG, command, stdin)
}

/// The same for one that may take longer.
pub(crate) fn run_within(patience: Duration, mut command: Command, stdin: &str) -> Ended {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // One that reads nothing and ends early breaks the pipe; its exit code says more.
    let _ = pipe.write_all(stdin.as_bytes());
    drop(pipe);
    let pid = child.id();
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(patience) else {
        kill(pid);
        panic!("{command:?} did not end: {:?}", ended.recv());
    };
    let output = output.unwrap();
    Ended {
        is_good: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// An upstream server that listens on this machine until it is dropped.
pub(crate) struct Listening {
    child: Child,
    pub(crate) url: String,
}

impl Listening {
    /// One of the two Python servers, which say where they listen.
    pub(crate) fn fixture(server: &Fixture, transport: &str) -> Self {
        let mut child = Command::new(program(server.python))
            .args([&script(server.script), "--transport", transport])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let url = announced(&mut child);
        Listening { url, child }
    }

    /// The authorization server, which knows one program and registers others.
    pub(crate) fn authorization_server() -> Self {
        Listening::authorization_server_for(300)
    }

    /// One whose tokens live for so many seconds.
    pub(crate) fn authorization_server_for(seconds: u32) -> Self {
        let mut child = Command::new("node")
            .arg(script("authorization_server.mjs"))
            .arg(program("npm/node_modules"))
            .env("TTL", seconds.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let url = announced(&mut child);
        Listening { url, child }
    }

    /// server-everything, which is told its port.
    pub(crate) fn everything(mode: &str, path: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = Command::new(npm("mcp-server-everything"))
            .arg(mode)
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let listening = Listening {
            child,
            url: format!("http://127.0.0.1:{port}{path}"),
        };
        crate::crib::until("server-everything listens", || {
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        listening
    }
}

/// What a program says first.
fn announced(child: &mut Child) -> String {
    let mut line = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ");
    url.unwrap_or_else(|| panic!("unexpected first line: {line}"))
        .to_owned()
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An upstream of ours: its program and what it runs with.
pub(crate) struct Fixture {
    pub(crate) python: &'static str,
    pub(crate) script: &'static str,
}

/// It speaks both eras, so we speak the modern one with it where the transport can.
pub(crate) const MODERN: Fixture = Fixture {
    python: "py/bin/python",
    script: "server.py",
};

pub(crate) const LEGACY: Fixture = Fixture {
    python: "py1/bin/python",
    script: "server_legacy.py",
};

impl Fixture {
    /// As it stands in mcp.json, started by us.
    pub(crate) fn stdio(&self, more: &[&str]) -> Value {
        let args: Vec<String> = std::iter::once(script(self.script))
            .chain(more.iter().map(|it| (*it).to_owned()))
            .collect();
        json!({"command": program(self.python), "args": args})
    }
}
