//! An address as the wire wants it: read once by whoever asks there often.

use crate::error::Error;
use crate::guard::{self, place};
use crate::request::Trust;
use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};
use std::sync::Arc;
use url::Url;

/// Where a request goes. Whether it may is judged when a connection is made, every time.
#[derive(Debug, Clone)]
pub struct Target {
    pub(crate) trust: Trust,
    pub(crate) uri: Uri,
    /// What a server is asked for, and whom it is asked as.
    pub(crate) path: Uri,
    pub(crate) host: HeaderValue,
    /// Scheme, host and port.
    pub(crate) place: Arc<str>,
}

impl Target {
    pub fn new(url: &str, trust: Trust) -> Result<Self, Error> {
        Target::of(&guard::read(url)?, trust)
    }

    /// The same place, asked for this.
    #[must_use]
    pub fn asked_for(mut self, path: PathAndQuery) -> Self {
        self.path = path.into();
        self
    }

    pub(crate) fn of(url: &Url, trust: Trust) -> Result<Self, Error> {
        let bad = || Error::BadUrl {
            why: "its host is no name".to_owned(),
        };
        let uri = uri(url)?;
        let path = uri.path_and_query().cloned();
        let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
        let authority = uri.authority().map(http::uri::Authority::as_str);
        let host = HeaderValue::from_str(authority.ok_or_else(bad)?).map_err(|_| bad())?;
        Ok(Target {
            trust,
            path: path.into(),
            host,
            place: place(url).into(),
            uri,
        })
    }
}

/// The address as the connection will read it. Were the two readers ever of different opinions, one would judge a host
/// and the other call another.
fn uri(url: &Url) -> Result<Uri, Error> {
    let bad = |why: &str| Error::BadUrl {
        why: why.to_owned(),
    };
    let uri = Uri::try_from(url.as_str())
        .map_err(|_| bad("it is too long, or holds what no address may"))?;
    let is_same = uri.host() == url.host_str()
        && uri.port_u16() == url.port()
        && uri.scheme_str() == Some(url.scheme());
    match is_same {
        true => Ok(uri),
        false => Err(bad("its host can be read in more than one way")),
    }
}
