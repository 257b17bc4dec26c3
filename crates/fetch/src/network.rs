//! The two things that reach outside: asking what a name stands for, and opening a connection. They are behind one
//! trait so that tests can put something else there, and count what would have gone out.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

pub type Reaching<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// The system's network, or what a test puts in its place.
pub trait Network: Send + Sync {
    fn resolve<'a>(&'a self, name: &'a str) -> Reaching<'a, Vec<IpAddr>>;
    fn dial(&self, to: SocketAddr) -> Reaching<'_, TcpStream>;
}

/// Names that may be asked for at a time. Each takes a thread until the system's resolver gives up, even where nobody
/// waits for it any more.
const LOOKUPS_MAX: usize = 32;

/// The system's resolver and its sockets.
pub(crate) struct System {
    lookups: Arc<Semaphore>,
}

impl Default for System {
    fn default() -> Self {
        let lookups = Arc::new(Semaphore::new(LOOKUPS_MAX));
        System { lookups }
    }
}

impl Network for System {
    fn resolve<'a>(&'a self, name: &'a str) -> Reaching<'a, Vec<IpAddr>> {
        Box::pin(async move {
            let permit = Arc::clone(&self.lookups).acquire_owned().await;
            let name = name.to_owned();
            let lookup = tokio::task::spawn_blocking(move || {
                let _until_done = permit;
                let found = (name.as_str(), 0).to_socket_addrs()?;
                Ok(found.map(|address| address.ip()).collect())
            });
            lookup.await.map_err(io::Error::other)?
        })
    }

    fn dial(&self, to: SocketAddr) -> Reaching<'_, TcpStream> {
        Box::pin(TcpStream::connect(to))
    }
}
