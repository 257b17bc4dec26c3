//! A proxy as plain as they come: each request goes to the next server in turn, whoever sends it. It reads no more of a request
//! than its head, in which it asks for the connection to be closed, so that the next one comes over another.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct Proxy {
    pub(crate) address: String,
    shared: Arc<Shared>,
}

struct Shared {
    servers: Vec<String>,
    next: AtomicUsize,
}

impl Proxy {
    pub(crate) fn start(servers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            servers,
            next: AtomicUsize::new(0),
        });
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&own);
                std::thread::spawn(move || shared.pass(&client));
            }
        });
        Proxy { address, shared }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many requests have come so far.
    pub(crate) fn count(&self) -> usize {
        self.shared.next.load(Ordering::SeqCst)
    }
}

impl Shared {
    /// The next server that takes a connection.
    fn connect(&self) -> Option<TcpStream> {
        let servers = &self.servers;
        (0..servers.len()).find_map(|_| {
            let turn = self.next.fetch_add(1, Ordering::SeqCst);
            TcpStream::connect(&servers[turn % servers.len()]).ok()
        })
    }

    fn pass(&self, client: &TcpStream) -> Option<()> {
        client.set_nodelay(true).ok()?;
        let mut from_client = BufReader::new(client.try_clone().ok()?);
        let head = head(&mut from_client)?;
        let mut server = self.connect()?;
        server.set_nodelay(true).ok()?;
        server.write_all(head.as_bytes()).ok()?;
        let (mut back, mut to_client) = (server.try_clone().ok()?, client.try_clone().ok()?);
        let answers = std::thread::spawn(move || {
            copy(&mut back, &mut to_client);
            let _ = to_client.shutdown(Shutdown::Both);
        });
        copy(&mut from_client, &mut server);
        // Whoever hangs up on us hangs up on the server.
        let _ = server.shutdown(Shutdown::Both);
        let _ = answers.join();
        Some(())
    }
}

fn head(from: &mut impl BufRead) -> Option<String> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            head.push_str("Connection: close\r\n\r\n");
            return Some(head);
        }
        if !line.to_ascii_lowercase().starts_with("connection:") {
            head.push_str(&line);
        }
    }
}

/// What is there goes on at once.
fn copy(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = [0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}
