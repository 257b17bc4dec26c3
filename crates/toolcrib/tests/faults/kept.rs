//! Connections that are kept open and used again: by a client, and by a proxy towards the servers behind it. Neither sends
//! anything twice: what was sent and not answered is lost.

use crate::proxy::is_ready;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

/// One message with its body, as it came.
struct Message {
    head: String,
    body: Vec<u8>,
}

impl Message {
    /// None where the connection ended before it began.
    fn read(from: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut head = String::new();
        loop {
            let before = head.len();
            if from.read_line(&mut head)? == 0 {
                let is_cut = !head.is_empty();
                return is_cut.then(|| Err(cut())).transpose();
            }
            if head[before..].trim().is_empty() {
                break;
            }
        }
        let mut message = Message {
            head,
            body: Vec::new(),
        };
        let length = message
            .header("content-length")
            .and_then(|it| it.parse().ok());
        message.body = vec![0; length.unwrap_or(0)];
        from.read_exact(&mut message.body)?;
        Ok(Some(message))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let mut found = lines.filter(|(it, _)| it.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim())
    }

    fn closes(&self) -> bool {
        let says = self.header("connection");
        says.is_some_and(|it| it.eq_ignore_ascii_case("close"))
    }

    fn write(&self, to: &mut TcpStream) -> io::Result<()> {
        to.write_all(&[self.head.as_bytes(), &self.body].concat())
    }
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the answer was cut off")
}

/// A connection and what was read of it.
struct Line(BufReader<TcpStream>);

impl Line {
    fn open(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Line(BufReader::new(stream)))
    }

    /// Whether the other side has not closed it: clients see that before they use one again.
    fn is_open(&self) -> bool {
        let stream = self.0.get_ref();
        let looked = stream
            .set_nonblocking(true)
            .and_then(|()| stream.peek(&mut [0]));
        let is_idle = looked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        is_idle && stream.set_nonblocking(false).is_ok()
    }

    fn ask(&mut self, request: &Message) -> io::Result<Message> {
        request.write(self.0.get_mut())?;
        Message::read(&mut self.0)?.ok_or_else(cut)
    }
}

/// A client that keeps its connection for as long as it may.
#[derive(Default)]
pub(crate) struct Kept {
    line: Option<Line>,
    /// How many it has opened.
    pub(crate) opened: usize,
}

impl Kept {
    pub(crate) fn request(
        &mut self,
        (address, key): (&str, &str),
        (method, path): (&str, &str),
        body: &Value,
    ) -> io::Result<(u16, Value)> {
        let body = body.to_string().into_bytes();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut line = match self.line.take().filter(Line::is_open) {
            Some(line) => line,
            None => {
                self.opened += 1;
                Line::open(address)?
            }
        };
        let answer = line.ask(&Message { head, body })?;
        if !answer.closes() {
            self.line = Some(line);
        }
        let status = answer.head.split(' ').nth(1).and_then(|it| it.parse().ok());
        let body = serde_json::from_slice(&answer.body).unwrap_or_default();
        Ok((status.ok_or_else(cut)?, body))
    }
}

#[derive(Default)]
struct Shared {
    /// Each server, and the connections to it that nobody uses now, the oldest first.
    servers: Mutex<Vec<(String, VecDeque<Line>)>>,
    turn: AtomicUsize,
    stop: AtomicBool,
}

/// A proxy that keeps connections to its servers open. Whether one is ready it asks only before it opens another: what it keeps
/// is closed by the server's own answers.
pub(crate) struct Pooling {
    pub(crate) address: String,
    shared: Arc<Shared>,
}

impl Pooling {
    pub(crate) fn start(servers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound").to_string();
        let shared = Arc::new(Shared::default());
        let proxy = Pooling {
            address,
            shared: Arc::clone(&shared),
        };
        for (place, server) in servers.iter().enumerate() {
            proxy.put(place, server);
        }
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.stop.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || pass(&shared, client));
            }
        });
        proxy
    }

    /// This server takes that place from now on.
    pub(crate) fn put(&self, place: usize, address: &str) {
        let mut servers = self.shared.servers();
        let server = (address.to_owned(), VecDeque::new());
        match servers.get_mut(place) {
            Some(old) => *old = server,
            None => servers.push(server),
        }
    }
}

impl Drop for Pooling {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Whoever waits for a connection sees it.
        let _ = TcpStream::connect(&self.address);
    }
}

impl Shared {
    fn servers(&self) -> std::sync::MutexGuard<'_, Vec<(String, VecDeque<Line>)>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection to the next server that takes one.
    fn line(&self) -> Option<(String, Line)> {
        let count = self.servers().len();
        let first = self.turn.fetch_add(1, Ordering::Relaxed);
        (0..count).find_map(|more| {
            let place = (first + more) % count;
            let (address, kept) = {
                let (address, idle) = &mut self.servers()[place];
                let kept = std::iter::from_fn(|| idle.pop_front()).find(Line::is_open);
                (address.clone(), kept)
            };
            let new = || is_ready(&address).then(|| Line::open(&address).ok());
            let line = kept.or_else(|| new().flatten());
            line.map(|line| (address, line))
        })
    }

    fn keep(&self, address: &str, line: Line) {
        let mut servers = self.servers();
        if let Some((_, idle)) = servers.iter_mut().find(|(it, _)| it == address) {
            idle.push_back(line);
        }
    }
}

fn pass(shared: &Shared, client: TcpStream) {
    let Ok(mut back) = client.try_clone() else {
        return;
    };
    let mut from = BufReader::new(client);
    while let Ok(Some(mut request)) = Message::read(&mut from) {
        // What the client says of its own connection is not for the next one.
        let is_last = request.closes();
        request.head = request.head.replace("Connection: close\r\n", "");
        let Some((address, mut line)) = shared.line() else {
            return;
        };
        let Ok(mut answer) = line.ask(&request) else {
            return;
        };
        if !answer.closes() {
            shared.keep(&address, line);
        }
        let lines = answer.head.split_inclusive("\r\n");
        let is_own = |line: &&str| !line.to_ascii_lowercase().starts_with("connection:");
        answer.head = lines.filter(is_own).collect();
        if answer.write(&mut back).is_err() || is_last {
            return;
        }
    }
}
