//! A real ChromaDB server on this machine, with a folder of its own; killed when dropped.

use crate::{fetcher, soon};
use fetch::{Body, Method, Request, Trust};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use vectors::chroma::Settings;
use vectors::{Chroma, Space};

/// The program `chroma` without the client library around it.
const RUN: &str =
    "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(['chroma', *sys.argv[1:]])";

pub(crate) struct ChromaServer {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl ChromaServer {
    pub(crate) async fn start() -> Self {
        let folder = std::env::var_os("TOOLCRIB_TEST_MCP").expect(
            "TOOLCRIB_TEST_MCP names no folder: run the tests with TOOLCRIB_TEST_MCP=$(scripts/mcp-programs)",
        );
        let python = PathBuf::from(folder).join("chroma/bin/python");
        assert!(python.exists(), "{} is missing", python.display());
        let data = tempfile::tempdir().unwrap();
        // It cannot be told to choose a port itself.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = Command::new(python)
            .args(["-c", RUN])
            .args([
                "run",
                "--host",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--path",
            ])
            .arg(data.path())
            .env("ANONYMIZED_TELEMETRY", "False")
            .current_dir(data.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = ChromaServer {
            child,
            port,
            _folder: data,
        };
        server.wait().await;
        server
    }

    /// It says nothing when it listens, so it is asked until it answers.
    async fn wait(&mut self) {
        let until = soon();
        while self
            .ask(Method::GET, "/api/v2/heartbeat", None)
            .await
            .is_none()
        {
            assert!(Instant::now() < until, "ChromaDB does not start");
            assert!(self.child.try_wait().unwrap().is_none(), "ChromaDB ended");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            ..Settings::default()
        }
    }

    pub(crate) fn client(&self) -> Chroma {
        Chroma::new(fetcher(), &self.settings()).unwrap()
    }

    /// Makes a collection whose index looks at everything, so that what it finds is exact.
    pub(crate) async fn create_exact(&self, name: &str, space: Space) {
        let hnsw = json!({"space": space, "ef_search": 5_500, "ef_construction": 200, "max_neighbors": 32});
        let body = json!({"name": name, "configuration": {"hnsw": hnsw}});
        let path = "/api/v2/tenants/default_tenant/databases/default_database/collections";
        let made = self.ask(Method::POST, path, Some(body)).await.unwrap();
        assert_eq!(made["name"], name, "{made}");
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Option<Value> {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let mut request = Request::new(method, url, Trust::Operator);
        request.body = body.map_or(Body::Empty, Body::Json);
        let answer = fetcher().send(request).await.ok()?;
        serde_json::from_slice(&answer.body).ok()
    }
}

impl Drop for ChromaServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
