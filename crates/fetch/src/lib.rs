//! The one way this program calls out over HTTP on behalf of somebody else. Addresses are judged before anything is
//! sent, at every hop; time and size are bounded; nothing is tried twice.

mod address;
mod allow;
mod connect;
mod decode;
mod error;
pub mod events;
mod guard;
mod multipart;
mod network;
mod patience;
mod pool;
mod redirect;
mod request;
mod streaming;
mod target;
mod words;

pub use address::{Block, not_global};
pub use allow::Allowed;
pub use bytes::Bytes;
pub use error::{Error, Part, Phase, Refusal};
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use network::{Network, Reaching};
pub use patience::retry_after;
pub use request::{Answer, Body, Limits, Overflow, Piece, Request, Trust, is_ours};
pub use rustls::pki_types::CertificateDer;
pub use streaming::Streaming;
pub use target::Target;
pub use url::Url;
pub use words::quoted;

use connect::Outside;
use decode::{ACCEPTED, Intake, Taken};
use guard::{Guard, place};
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, USER_AGENT};
use http_body_util::Full;
use pool::{Pool, Reading};
use redirect::Hop;
use std::sync::Arc;
use std::time::Duration;

/// What all requests share.
pub struct Options {
    /// What may be called although it is not public.
    pub allow: Vec<Allowed>,
    /// The system's, unless a test has its own.
    pub network: Option<Arc<dyn Network>>,
    /// Certificates that are trusted beside the system's.
    pub roots: Vec<CertificateDer<'static>>,
    pub user_agent: HeaderValue,
    /// For the name, the connection and TLS.
    pub connect_timeout: Duration,
    /// Connections that are kept for each host when nobody uses them.
    pub idle_connections_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            allow: Vec::new(),
            network: None,
            roots: Vec::new(),
            user_agent: HeaderValue::from_static(concat!("toolcrib/", env!("CARGO_PKG_VERSION"))),
            connect_timeout: Duration::from_secs(3),
            idle_connections_max: 32,
        }
    }
}

/// The client. One for the whole program: it keeps connections.
#[derive(Clone)]
pub struct Fetcher {
    operator: Pool,
    guarded: Pool,
    user_agent: HeaderValue,
}

impl Fetcher {
    pub fn new(options: Options) -> Self {
        let outside = Arc::new(Outside {
            guard: Guard::new(options.allow),
            network: options
                .network
                .unwrap_or_else(|| Arc::new(network::System::default())),
            connect_timeout: options.connect_timeout,
            roots: options.roots,
            tls: Default::default(),
        });
        let pool = |trust| Pool::new(trust, Arc::clone(&outside), options.idle_connections_max);
        Fetcher {
            operator: pool(Trust::Operator),
            guarded: pool(Trust::Guarded),
            user_agent: options.user_agent,
        }
    }

    /// The same client for those whom nobody trusts: every address is judged, whoever is said to have chosen it.
    #[must_use]
    pub fn guarded(&self) -> Self {
        Fetcher {
            operator: self.guarded.clone(),
            ..self.clone()
        }
    }

    /// Sends a request and takes in the answer, whatever its status. Dropping this ends it.
    pub async fn send(&self, request: Request) -> Result<Answer, Error> {
        request::check_headers(&request.headers)?;
        let url = guard::read(&request.url)?;
        let after = request.limits.total;
        let place = place(&url);
        let answered = tokio::time::timeout(after, self.follow(url, request)).await;
        answered.unwrap_or(Err(Error::Timeout {
            place,
            phase: Phase::Answer,
            after,
        }))
    }

    async fn follow(&self, url: Url, request: Request) -> Result<Answer, Error> {
        let Request {
            method,
            mut headers,
            body,
            trust,
            limits,
            ..
        } = request;
        let body = body.write(&mut headers);
        let add = |headers: &mut HeaderMap, name: HeaderName, value: HeaderValue| {
            headers.entry(name).or_insert(value);
        };
        add(&mut headers, USER_AGENT, self.user_agent.clone());
        add(&mut headers, ACCEPT, HeaderValue::from_static("*/*"));
        add(
            &mut headers,
            ACCEPT_ENCODING,
            HeaderValue::from_static(ACCEPTED),
        );
        let first = url.clone();
        let mut hop = Hop {
            method,
            url,
            headers,
            body,
        };
        for _ in 0..=limits.redirects_max {
            let target = Target::of(&hop.url, trust_in(&hop.url, &first, trust))?;
            let Hop {
                method,
                headers,
                body,
                ..
            } = hop.clone();
            let response = self.exchange(&target, method, headers, body).await?;
            let next = match limits.redirects_max {
                0 => None,
                _ => hop.next(response.status(), response.headers())?,
            };
            match next {
                Some(next) => hop = next,
                None => return take(response, hop, &limits).await,
            }
        }
        Err(Error::TooManyRedirects {
            place: place(&first),
            max: limits.redirects_max,
        })
    }

    /// One request on the wire, until its headers are here. Not async itself: what it is made of need not be carried.
    fn exchange(
        &self,
        target: &Target,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> impl Future<Output = Result<http::Response<Reading>, Error>> {
        let mut request = http::Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        let pool = match target.trust {
            Trust::Operator => &self.operator,
            Trust::Guarded => &self.guarded,
        };
        pool.request(request, target)
    }
}

/// An operator's trust is in the host and port that were written down; the step from http to https is no other place.
fn trust_in(url: &Url, first: &Url, trust: Trust) -> Trust {
    let port = |url: &Url| url.port_or_known_default();
    let upgraded = port(first) == Some(80) && port(url) == Some(443);
    let is_same = url.host() == first.host() && (port(url) == port(first) || upgraded);
    match trust {
        Trust::Operator if is_same => Trust::Operator,
        _ => Trust::Guarded,
    }
}

/// Takes in the body, as far as it is wanted.
async fn take(
    response: http::Response<Reading>,
    hop: Hop,
    limits: &Limits,
) -> Result<Answer, Error> {
    let (head, mut body) = response.into_parts();
    let max = limits.body_bytes_max;
    let place = || place(&hop.url);
    let protocol = |why| Error::Protocol {
        place: place(),
        why,
        source: None,
    };
    let too_large = || Error::TooLarge {
        place: place(),
        part: Part::Body,
        max,
    };
    let encodings = head.headers.get_all(CONTENT_ENCODING).iter();
    let encodings: Vec<&str> = encodings
        .map(|value| value.to_str().unwrap_or("?"))
        .collect();
    let mut intake = Intake::new(&encodings.join(","), max)
        .ok_or_else(|| protocol("its answer is compressed in a way that was not offered"))?;
    let length = head
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if limits.overflow == Overflow::Refuse
        && hop.method != Method::HEAD
        && length.is_some_and(|length| length > max)
    {
        return Err(too_large());
    }
    let mut taken = Taken::All;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(error, place()))?;
        taken = frame
            .data_ref()
            .map_or(Taken::All, |piece| intake.take(piece));
        if taken != Taken::All {
            break;
        }
        // A little of the wire can be much to decompress; others want to run too.
        tokio::task::yield_now().await;
    }
    if taken == Taken::All {
        taken = intake.finish();
    }
    match taken {
        Taken::Full if limits.overflow == Overflow::Refuse => return Err(too_large()),
        Taken::Garbled => return Err(protocol("its answer is not compressed the way it says")),
        Taken::All | Taken::Full => {}
    }
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        url: hop.url,
        body: intake.into_bytes().into(),
        is_cut: taken == Taken::Full,
    })
}

fn broken(error: hyper::Error, place: String) -> Error {
    Error::Protocol {
        place,
        why: "its answer broke off",
        source: Some(Arc::new(error)),
    }
}
