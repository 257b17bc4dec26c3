//! A plain round-robin proxy: each connection goes to the next server that says it is ready, and to the one after it where it
//! cannot be reached.

use crate::harness::request_to;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often each server is asked whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(100);

struct Behind {
    address: String,
    is_ready: bool,
}

#[derive(Default)]
struct Shared {
    servers: Mutex<Vec<Behind>>,
    turn: AtomicUsize,
    stop: AtomicBool,
    /// Connections by the server that they were passed to.
    passed: Mutex<HashMap<String, Passed>>,
}

/// Connections that were passed to one server.
#[derive(Clone, Copy, Default)]
pub(crate) struct Passed {
    pub(crate) all: usize,
    /// Those that have not ended.
    pub(crate) open: usize,
}

pub(crate) struct Proxy {
    pub(crate) address: String,
    shared: Arc<Shared>,
}

impl Proxy {
    pub(crate) fn start(servers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound").to_string();
        let shared = Arc::new(Shared::default());
        let proxy = Proxy {
            address,
            shared: Arc::clone(&shared),
        };
        for (place, server) in servers.iter().enumerate() {
            proxy.put(place, server);
        }
        let asking = Arc::clone(&shared);
        std::thread::spawn(move || ask(&asking));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || pass(&shared, client));
            }
        });
        proxy
    }

    /// This server takes that place from now on.
    pub(crate) fn put(&self, place: usize, address: &str) {
        let mut servers = self.shared.servers();
        let behind = Behind {
            address: address.to_owned(),
            is_ready: is_ready(address),
        };
        match servers.get_mut(place) {
            Some(old) => *old = behind,
            None => servers.push(behind),
        }
    }
}

impl Proxy {
    pub(crate) fn passed(&self, address: &str) -> Passed {
        let passed = self.shared.passed.lock().unwrap();
        passed.get(address).copied().unwrap_or_default()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Whoever waits for a connection sees it.
        let _ = TcpStream::connect(&self.address);
    }
}

impl Shared {
    fn servers(&self) -> std::sync::MutexGuard<'_, Vec<Behind>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those to try, in turn.
    fn turn(&self) -> Vec<String> {
        let servers = self.servers();
        let ready = servers.iter().filter(|it| it.is_ready);
        let mut ready: Vec<String> = ready.map(|it| it.address.clone()).collect();
        if !ready.is_empty() {
            let first = self.turn.fetch_add(1, Ordering::Relaxed) % ready.len();
            ready.rotate_left(first);
        }
        ready
    }
}

pub(crate) fn is_ready(address: &str) -> bool {
    matches!(
        request_to(address, "", ("GET", "/readyz"), None),
        Ok((200, _))
    )
}

fn ask(shared: &Shared) {
    while !shared.stop.load(Ordering::Relaxed) {
        let servers = shared.servers();
        let addresses: Vec<String> = servers.iter().map(|it| it.address.clone()).collect();
        drop(servers);
        for address in addresses {
            let now = is_ready(&address);
            let mut servers = shared.servers();
            if let Some(behind) = servers.iter_mut().find(|it| it.address == address) {
                behind.is_ready = now;
            }
        }
        std::thread::sleep(ASK_EVERY);
    }
}

fn pass(shared: &Shared, client: TcpStream) {
    let count = |address: &str, by: fn(&mut Passed)| {
        by(shared
            .passed
            .lock()
            .unwrap()
            .entry(address.to_owned())
            .or_default());
    };
    let reached = shared.turn().into_iter().find_map(|address| {
        // Counted before: what is refused is not passed.
        count(&address, |it| (it.all, it.open) = (it.all + 1, it.open + 1));
        let server = TcpStream::connect(&address);
        if server.is_err() {
            count(&address, |it| (it.all, it.open) = (it.all - 1, it.open - 1));
        }
        Some((server.ok()?, address))
    });
    let Some((server, address)) = reached else {
        return;
    };
    let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else {
        return;
    };
    let up = std::thread::spawn(move || copy(from, to));
    let _ = copy(server, client);
    count(&address, |it| it.open -= 1);
    let _ = up.join();
}

/// Bytes as they come, until one side ends.
fn copy(mut from: TcpStream, mut to: TcpStream) -> io::Result<()> {
    let mut bytes = [0; 16 * 1024];
    loop {
        let read = from.read(&mut bytes).unwrap_or(0);
        if read == 0 {
            return to.shutdown(Shutdown::Write);
        }
        to.write_all(&bytes[..read])?;
    }
}
