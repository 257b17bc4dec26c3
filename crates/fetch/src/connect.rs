//! From a host to a connection, and the only place where one is made: resolve once, judge every address, dial exactly
//! those that were judged. What was resolved is not kept and never asked for twice, so there is nothing to rebind.

use crate::Trust;
use crate::error::{Error, Phase};
use crate::guard::Guard;
use crate::network::Network;
use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::Verifier;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

/// All of a host's addresses are judged; so many are dialled.
const DIALS_MAX: usize = 6;

/// How long the first family of addresses is alone in being tried.
const HEAD_START: Duration = Duration::from_millis(250);

/// What is needed to connect to somewhere.
pub(crate) struct Outside {
    pub(crate) guard: Guard,
    pub(crate) network: Arc<dyn Network>,
    pub(crate) connect_timeout: Duration,
    pub(crate) roots: Vec<CertificateDer<'static>>,
    /// Made for the first https address: reading the system's certificates takes a while.
    pub(crate) tls: OnceCell<TlsConnector>,
}

/// A connection, with TLS or without.
pub(crate) type Stream = TokioIo<Box<dyn Io>>;

pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

impl Outside {
    pub(crate) async fn connect(
        &self,
        uri: &Uri,
        place: &str,
        trust: Trust,
    ) -> Result<Stream, Error> {
        let connected = timeout(self.connect_timeout, self.open(uri, place, trust)).await;
        connected.unwrap_or_else(|_| Err(self.late(place)))
    }

    fn late(&self, place: &str) -> Error {
        Error::Timeout {
            place: place.to_owned(),
            phase: Phase::Connection,
            after: self.connect_timeout,
        }
    }

    async fn open(&self, uri: &Uri, place: &str, trust: Trust) -> Result<Stream, Error> {
        let is_tls = uri.scheme_str() == Some("https");
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let addresses = self.addresses(host).await?;
        let judged = self.guard.admit(trust, host, port, &addresses);
        judged.map_err(|refusal| Error::Refused {
            place: place.to_owned(),
            refusal,
        })?;
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::TimedOut => self.late(place),
            _ => Error::Connect {
                place: place.to_owned(),
                source: Arc::new(source),
            },
        };
        let stream = self.dial(&addresses, port).await.map_err(failed)?;
        // Small requests must not wait for the acknowledgement of the one before.
        stream.set_nodelay(true).map_err(failed)?;
        if !is_tls {
            return Ok(TokioIo::new(Box::new(stream)));
        }
        let untrusted = |source: io::Error| Error::Tls {
            place: place.to_owned(),
            why: fault(&source),
            source: Arc::new(source),
        };
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error| untrusted(io::Error::other(error)))?;
        let tls = self
            .tls
            .get_or_try_init(|| tls(self.roots.clone()))
            .await
            .map_err(untrusted)?;
        let stream = tls.connect(name, stream).await.map_err(untrusted)?;
        Ok(TokioIo::new(Box::new(stream)))
    }

    /// What a host stands for. An address is taken as such: asking for it would be asking somebody else to read it.
    async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, Error> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![address.to_canonical()]);
        }
        let unknown = |source: io::Error| Error::Resolve {
            host: host.to_owned(),
            source: Arc::new(source),
        };
        let found = self.network.resolve(host).await.map_err(unknown)?;
        if found.is_empty() {
            return Err(unknown(io::ErrorKind::NotFound.into()));
        }
        Ok(found)
    }

    /// In the order in which they were given; when the first family is slow, the other begins beside it.
    async fn dial(&self, addresses: &[IpAddr], port: u16) -> io::Result<TcpStream> {
        let is_first = |address: &&IpAddr| {
            addresses
                .first()
                .is_some_and(|first| first.is_ipv4() == address.is_ipv4())
        };
        let (mut first, mut second): (Vec<IpAddr>, Vec<IpAddr>) =
            addresses.iter().partition(is_first);
        first.truncate(DIALS_MAX / 2);
        second.truncate(DIALS_MAX / 2);
        if second.is_empty() {
            return self.dial_each(&first, port).await;
        }
        let mut ahead = std::pin::pin!(self.dial_each(&first, port));
        tokio::select! {
            done = &mut ahead => match done {
                Ok(stream) => return Ok(stream),
                Err(_) => return self.dial_each(&second, port).await,
            },
            () = sleep(HEAD_START) => {}
        }
        let mut behind = std::pin::pin!(self.dial_each(&second, port));
        tokio::select! {
            done = &mut ahead => match done {
                Ok(stream) => Ok(stream),
                Err(_) => behind.await,
            },
            done = &mut behind => match done {
                Ok(stream) => Ok(stream),
                Err(_) => ahead.await,
            },
        }
    }

    /// One after the other, each with its share of the time.
    async fn dial_each(&self, addresses: &[IpAddr], port: u16) -> io::Result<TcpStream> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        let share = self.connect_timeout / u32::try_from(addresses.len().max(1)).unwrap_or(1);
        for address in addresses {
            match timeout(share, self.network.dial(SocketAddr::new(*address, port))).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = error,
                Err(_) => last = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(last)
    }
}

/// Trusts what the system trusts, and the operator's own roots.
async fn tls(roots: Vec<CertificateDer<'static>>) -> io::Result<TlsConnector> {
    let made = tokio::task::spawn_blocking(move || {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = Verifier::new_with_extra_roots(roots, Arc::clone(&provider))
            .map_err(io::Error::other)?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    });
    made.await.map_err(io::Error::other)?
}

/// What to look at, in words; the cause itself speaks of our insides.
fn fault(error: &io::Error) -> &'static str {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(error)) => match error {
            rustls::CertificateError::Expired | rustls::CertificateError::ExpiredContext { .. } => {
                "its certificate has expired"
            }
            rustls::CertificateError::NotValidForName
            | rustls::CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another name"
            }
            rustls::CertificateError::UnknownIssuer => {
                "nobody known here has signed its certificate"
            }
            _ => "its certificate is not valid",
        },
        _ => "it speaks no TLS that is understood here",
    }
}
