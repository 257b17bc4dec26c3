//! The client as authorization servers know it, and how it asks them.

use crate::Result;
use crate::error::Error;
use crate::place::Around;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use catalog::clock::Clock;
use fetch::{Bytes, Fetcher, HeaderValue, Method, Request, StatusCode, header};
use serde_json::{Map, Value};

/// Asks authorization servers. One for the whole program.
#[derive(Clone)]
pub struct Client {
    pub(crate) fetcher: Fetcher,
    pub(crate) clock: Clock,
}

impl Client {
    pub fn new(fetcher: Fetcher, clock: Clock) -> Self {
        Client { fetcher, clock }
    }

    /// One that calls public addresses only, for a server that nobody who runs this machine has named.
    pub fn guarded(&self) -> Self {
        Client {
            fetcher: self.fetcher.guarded(),
            clock: self.clock.clone(),
        }
    }

    /// A document at an address; none where there is no such document.
    pub(crate) async fn document(
        &self,
        around: &Around,
        address: &str,
        what: &str,
    ) -> Result<Option<Map<String, Value>>> {
        let mut request = around.request(Method::GET, address, what)?;
        let json = HeaderValue::from_static("application/json");
        request.headers.insert(header::ACCEPT, json);
        let (status, body) = self.send(request, what).await?;
        match status.as_u16() {
            200 => Ok(Some(object(&body, what)?)),
            500.. => Err(Error::Unreachable(format!("{what}: HTTP {status}"))),
            _ => Ok(None),
        }
    }

    pub(crate) async fn send(&self, request: Request, what: &str) -> Result<(StatusCode, Bytes)> {
        let answer = self.fetcher.send(request).await;
        let answer = answer.map_err(|error| Error::Unreachable(format!("{what}: {error}")))?;
        Ok((answer.status, answer.body))
    }
}

pub(crate) fn object(body: &[u8], what: &str) -> Result<Map<String, Value>> {
    let read = serde_json::from_slice(body).ok();
    read.ok_or_else(|| Error::Unusable(format!("{what} is no JSON object")))
}

/// A text that nobody can guess.
pub(crate) fn random() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|_| Error::Unreachable("there are no random bytes".to_owned()))?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
