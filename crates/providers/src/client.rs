//! Asking a provider.

use crate::error::{Class, Error};
use crate::request::Request;
use crate::target::Target;
use crate::turn::{Delta, Turn};
use fetch::Fetcher;

/// The client of all providers.
#[derive(Clone)]
pub struct Client {
    fetcher: Fetcher,
}

impl Client {
    pub fn new(fetcher: Fetcher) -> Self {
        Client { fetcher }
    }

    /// Asks once more of the model: whole turn or error. What fails in passing is tried again in here, but not after
    /// anything of a call was handed to `on`. Dropping this closes the connection.
    pub async fn turn(
        &self,
        _target: &Target,
        _request: &Request,
        _on: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Turn, Error> {
        let _ = &self.fetcher;
        Err(Error::new(Class::Protocol, "No wire format is written yet"))
    }
}
