//! A real ChromaDB server on this machine, with a folder of its own; killed when dropped.

use crate::crib::until;
use crate::programs::program;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

/// The program `chroma` without the client library around it.
const RUN: &str =
    "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(['chroma', *sys.argv[1:]])";

pub(crate) struct Chroma {
    child: Child,
    pub(crate) port: String,
    _folder: tempfile::TempDir,
}

impl Chroma {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // It cannot be told to choose a port itself.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port().to_string();
        drop(free);
        let child = Command::new(program("chroma/bin/python"))
            .args(["-c", RUN, "run", "--host", "127.0.0.1", "--port", &port])
            .arg("--path")
            .arg(folder.path())
            .env("ANONYMIZED_TELEMETRY", "False")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let chroma = Chroma {
            child,
            port,
            _folder: folder,
        };
        // It says nothing when it listens, so it is asked until it answers.
        until("ChromaDB answers", || chroma.beats().then_some(()));
        chroma
    }

    fn beats(&self) -> bool {
        let ask = || {
            let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port))?;
            stream.write_all(
                b"GET /api/v2/heartbeat HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            )?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            std::io::Result::Ok(answer)
        };
        ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    }
}

impl Drop for Chroma {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
