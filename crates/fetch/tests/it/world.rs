//! A network that is made up: names and addresses are what a test says, and every address that can be reached is a
//! server on this machine.

use fetch::{Allowed, Answer, Error, Fetcher, Method, Network, Options, Reaching, Request, Trust};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;

/// Addresses out in the world.
pub(crate) const PUBLIC: &str = "93.184.216.34";
pub(crate) const PUBLIC_V6: &str = "2606:2800:220:1::1";

#[derive(Default)]
pub(crate) struct World {
    names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    routes: Mutex<HashMap<SocketAddr, Route>>,
    dials: Mutex<Vec<SocketAddr>>,
    lookups: Mutex<Vec<String>>,
}

#[derive(Clone, Copy)]
enum Route {
    To(SocketAddr),
    Silent,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What a name stands for, each time it is asked for; the last answer stays.
    pub(crate) fn name(&self, name: &str, answers: &[&[&str]]) {
        let parse = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let answers = answers.iter().map(parse).collect();
        self.names.lock().unwrap().insert(name.to_owned(), answers);
    }

    /// Lets a server on this machine stand at an address.
    pub(crate) fn route(&self, address: &str, port: u16, to: SocketAddr) {
        assert!(to.ip().is_loopback());
        let at = SocketAddr::new(address.parse().unwrap(), port);
        self.routes.lock().unwrap().insert(at, Route::To(to));
    }

    /// Whoever dials this waits.
    pub(crate) fn silent(&self, address: &str, port: u16) {
        let at = SocketAddr::new(address.parse().unwrap(), port);
        self.routes.lock().unwrap().insert(at, Route::Silent);
    }

    pub(crate) fn dials(&self) -> Vec<String> {
        self.dials
            .lock()
            .unwrap()
            .iter()
            .map(SocketAddr::to_string)
            .collect()
    }

    pub(crate) fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }

    pub(crate) fn forget(&self) {
        self.dials.lock().unwrap().clear();
        self.lookups.lock().unwrap().clear();
    }

    pub(crate) fn fetcher(self: &Arc<Self>, allow: &str) -> Fetcher {
        Fetcher::new(self.options(allow))
    }

    pub(crate) fn options(self: &Arc<Self>, allow: &str) -> Options {
        Options {
            allow: Allowed::list(allow).unwrap(),
            network: Some(Arc::clone(self) as Arc<dyn Network>),
            ..Options::default()
        }
    }
}

impl Network for World {
    fn resolve<'a>(&'a self, name: &'a str) -> Reaching<'a, Vec<IpAddr>> {
        self.lookups.lock().unwrap().push(name.to_owned());
        let mut names = self.names.lock().unwrap();
        let found = match names.get_mut(name) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers[0].clone()),
            None => Err(io::Error::new(
                io::ErrorKind::NotFound,
                "internal text of the resolver",
            )),
        };
        Box::pin(std::future::ready(found))
    }

    fn dial(&self, to: SocketAddr) -> Reaching<'_, TcpStream> {
        self.dials.lock().unwrap().push(to);
        let route = self.routes.lock().unwrap().get(&to).copied();
        Box::pin(async move {
            match route {
                Some(Route::To(here)) => TcpStream::connect(here).await,
                Some(Route::Silent) => std::future::pending().await,
                None => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        })
    }
}

pub(crate) fn get(url: &str) -> Request {
    let mut request = Request::new(Method::GET, url, Trust::Guarded);
    request.limits.total = Duration::from_secs(20);
    request
}

pub(crate) async fn fetched(fetcher: &Fetcher, url: &str) -> Result<Answer, Error> {
    fetcher.send(get(url)).await
}
