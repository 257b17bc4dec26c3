//! Stands between a server and its PostgreSQL and does what networks do: a line falls silent and nobody is told, or it breaks
//! before the answer to a commit comes.

use crate::skipping::postgres_url;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct Between {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    lines: Mutex<Vec<Arc<Line>>>,
    /// How many lines began to listen to what others tell.
    listeners: AtomicUsize,
    /// Whether nothing passes on lines that begin to listen.
    is_deaf: AtomicBool,
    loses_commits: AtomicBool,
    lost_commits: AtomicUsize,
    is_away: AtomicBool,
    /// How many lines were refused while it was away.
    refused: AtomicUsize,
    gone: tokio::sync::Notify,
}

#[derive(Default)]
struct Line {
    listens: AtomicBool,
    is_silent: AtomicBool,
    is_committing: AtomicBool,
}

impl Between {
    /// Nothing where there is no PostgreSQL.
    pub(crate) async fn start() -> Option<Between> {
        let there = address(&postgres_url()?);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::<State>::default();
        let seen = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if seen.is_away.load(Ordering::SeqCst) {
                    seen.refused.fetch_add(1, Ordering::SeqCst);
                    continue;
                }
                let Ok(server) = TcpStream::connect(&there).await else {
                    return;
                };
                let line = Arc::<Line>::default();
                seen.lines.lock().unwrap().push(Arc::clone(&line));
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let state = Arc::clone(&seen);
                let out = outwards(
                    from_client,
                    to_server,
                    Arc::clone(&line),
                    Arc::clone(&state),
                );
                let back = backwards(from_server, to_client, line, Arc::clone(&state));
                // Whichever ends takes the other along.
                tokio::spawn(async move {
                    tokio::select! {
                        () = out => {}
                        () = back => {}
                        () = state.gone.notified() => {}
                    }
                });
            }
        });
        Some(Between { port, state })
    }

    /// The same database by the way through here.
    pub(crate) fn url(&self, database: &str) -> String {
        let url = postgres_url().unwrap();
        let (before, _) = url.rsplit_once('/').unwrap();
        let before = before.replace(&address(&url), &format!("127.0.0.1:{}", self.port));
        format!("{before}/{database}")
    }

    pub(crate) fn listeners(&self) -> usize {
        self.state.listeners.load(Ordering::SeqCst)
    }

    /// The same, and new ones are silent from the moment at which they want to listen.
    pub(crate) fn deafen(&self) {
        self.state.is_deaf.store(true, Ordering::SeqCst);
        self.silence_listeners();
    }

    /// From now on nothing passes on the lines that listen, and nobody is told.
    pub(crate) fn silence_listeners(&self) {
        for line in self.state.lines.lock().unwrap().iter() {
            let listens = line.listens.load(Ordering::SeqCst);
            line.is_silent.fetch_or(listens, Ordering::SeqCst);
        }
    }

    /// Whether the database is away: all lines break, and there are no new ones.
    pub(crate) fn go_away(&self, is_away: bool) {
        self.state.is_away.store(is_away, Ordering::SeqCst);
        if is_away {
            self.state.gone.notify_waiters();
        }
    }

    pub(crate) fn refused(&self) -> usize {
        self.state.refused.load(Ordering::SeqCst)
    }

    /// Whether the line breaks before the answer to a commit comes.
    pub(crate) fn lose_commits(&self, loses: bool) {
        self.state.loses_commits.store(loses, Ordering::SeqCst);
    }

    pub(crate) fn lost_commits(&self) -> usize {
        self.state.lost_commits.load(Ordering::SeqCst)
    }
}

/// Host and port of a URL.
fn address(url: &str) -> String {
    let rest = url.split_once("://").unwrap().1;
    let place = rest.split(['/', '?']).next().unwrap();
    place.rsplit('@').next().unwrap().to_owned()
}

async fn outwards(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    line: Arc<Line>,
    state: Arc<State>,
) {
    let mut bytes = vec![0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let said = &bytes[..count];
        let says = |word: &[u8]| said.windows(word.len()).any(|part| part == word);
        if says(b"LISTEN \"") && !line.listens.swap(true, Ordering::SeqCst) {
            state.listeners.fetch_add(1, Ordering::SeqCst);
            let is_deaf = state.is_deaf.load(Ordering::SeqCst);
            line.is_silent.fetch_or(is_deaf, Ordering::SeqCst);
        }
        if says(b"COMMIT") && state.loses_commits.load(Ordering::SeqCst) {
            line.is_committing.store(true, Ordering::SeqCst);
        }
        if !line.is_silent.load(Ordering::SeqCst) && to.write_all(said).await.is_err() {
            return;
        }
    }
}

async fn backwards(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    line: Arc<Line>,
    state: Arc<State>,
) {
    let mut bytes = vec![0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        if line.is_committing.load(Ordering::SeqCst) {
            // It is done there, and nobody hears of it.
            state.lost_commits.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let is_silent = line.is_silent.load(Ordering::SeqCst);
        if !is_silent && to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
