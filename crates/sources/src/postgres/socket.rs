//! The line to a PostgreSQL server: TCP, TLS or a Unix socket, and a watch on how large a single message may be.
//!
//! The driver reads a message whole before anybody sees it, so one row of a gigabyte would be a gigabyte here. The watch
//! counts on the way in and breaks the line instead.

use crate::error::Error;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::Verifier;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::OnceCell;
use tokio_postgres::config::Host;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// When the line is encrypted. Where it is, the certificate is always checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tls {
    Never,
    /// If the server offers it, unless it is on this machine.
    Prefer,
    Always,
}

pub(super) struct Dialer {
    pub(super) hosts: Vec<(Host, u16)>,
    pub(super) tls: Tls,
    /// Certificates to trust besides the system's.
    pub(super) roots: Option<PathBuf>,
    pub(super) message_bytes_max: usize,
    pub(super) connector: OnceCell<TlsConnector>,
}

impl std::fmt::Debug for Dialer {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Dialer")
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

impl Dialer {
    /// Connects to the first host that answers. The flag is raised when a message was too large.
    pub(super) async fn dial(&self, too_large: &Arc<AtomicBool>) -> Result<Line, Error> {
        let mut last = Error::source("the source names no host");
        for (host, port) in &self.hosts {
            match self.dial_one(host, *port).await {
                Ok(socket) => {
                    return Ok(Line {
                        socket,
                        frame: Frame::new(self.message_bytes_max),
                        too_large: Arc::clone(too_large),
                    });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn dial_one(&self, host: &Host, port: u16) -> Result<Socket, Error> {
        let name = match host {
            Host::Tcp(name) => name,
            Host::Unix(folder) => {
                let path = folder.join(format!(".s.PGSQL.{port}"));
                let stream = UnixStream::connect(&path).await.map_err(|error| {
                    // Where it is concerns who runs the server, not who calls a tool.
                    tracing::warn!(path = %path.display(), %error, "the socket of a source cannot be reached");
                    Error::unavailable(format!("its socket cannot be reached: {error}"))
                })?;
                return Ok(Socket::Unix(stream));
            }
        };
        let failed = |error: io::Error| Error::unavailable(format!("{name}:{port}: {error}"));
        let mut stream = TcpStream::connect((name.as_str(), port))
            .await
            .map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let local = stream.peer_addr().map_err(failed)?.ip().is_loopback();
        if self.tls == Tls::Never || (self.tls == Tls::Prefer && local) {
            return Ok(Socket::Plain(stream));
        }
        if !offers_tls(&mut stream).await.map_err(failed)? {
            return match self.tls {
                Tls::Always => Err(Error::unavailable(format!(
                    "{name}:{port} offers no TLS, which sslmode demands"
                ))),
                _ => Ok(Socket::Plain(stream)),
            };
        }
        let server = server_name(name)?;
        let stream = self.connector().await?.connect(server, stream).await;
        let stream = stream.map_err(|error| {
            Error::unavailable(format!(
                "{name}:{port}: TLS failed: {error}. If its certificate is your own, name it with sslrootcert"
            ))
        })?;
        Ok(Socket::Tls(Box::new(stream)))
    }

    async fn connector(&self) -> Result<&TlsConnector, Error> {
        let roots = self.roots.clone();
        let make = || async {
            let made = tokio::task::spawn_blocking(move || connector(roots));
            made.await
                .map_err(|error| Error::source(error.to_string()))?
        };
        self.connector.get_or_try_init(make).await
    }
}

fn connector(roots: Option<PathBuf>) -> Result<TlsConnector, Error> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::source(format!("the certificates to trust cannot be read: {error}"))
    };
    let mut extra = Vec::new();
    if let Some(path) = roots {
        let certificates = CertificateDer::pem_file_iter(&path).map_err(|error| failed(&error))?;
        for certificate in certificates {
            extra.push(certificate.map_err(|error| failed(&error))?);
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra, Arc::clone(&provider))
        .map_err(|error| failed(&error))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn server_name(name: &str) -> Result<ServerName<'static>, Error> {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(ServerName::from(address));
    }
    ServerName::try_from(name.to_owned())
        .map_err(|_| Error::source(format!("`{name}` is not the name of a server")))
}

/// Asks for TLS in the protocol's own way; one byte comes back.
async fn offers_tls(stream: &mut TcpStream) -> io::Result<bool> {
    const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
    stream.write_all(&SSL_REQUEST).await?;
    let mut answer = [0u8; 1];
    stream.read_exact(&mut answer).await?;
    Ok(answer[0] == b'S')
}

enum Socket {
    Plain(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A line that the driver reads and writes.
pub(super) struct Line {
    socket: Socket,
    frame: Frame,
    too_large: Arc<AtomicBool>,
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = match &mut self.socket {
            Socket::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Socket::Unix(stream) => Pin::new(stream).poll_read(context, into),
            Socket::Tls(stream) => Pin::new(stream).poll_read(context, into),
        };
        if matches!(read, Poll::Ready(Ok(()))) && !self.frame.fits(&into.filled()[before..]) {
            self.too_large.store(true, Ordering::Release);
            let message = "a message of the database is larger than allowed";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        read
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Plain(stream) => Pin::new(stream).poll_flush(context),
            Socket::Unix(stream) => Pin::new(stream).poll_flush(context),
            Socket::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Unix(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

/// Follows the messages of the protocol: a letter, four bytes of length, the body.
struct Frame {
    header: [u8; 5],
    have: usize,
    body_left: usize,
    bytes_max: usize,
}

impl Frame {
    fn new(bytes_max: usize) -> Frame {
        Frame {
            header: [0; 5],
            have: 0,
            body_left: 0,
            bytes_max,
        }
    }

    fn fits(&mut self, mut bytes: &[u8]) -> bool {
        while let Some(first) = bytes.first() {
            if self.body_left > 0 {
                let passed = self.body_left.min(bytes.len());
                self.body_left -= passed;
                bytes = &bytes[passed..];
                continue;
            }
            self.header[self.have] = *first;
            self.have += 1;
            bytes = &bytes[1..];
            if self.have == self.header.len() {
                let [_, a, b, c, d] = self.header;
                let length = u32::from_be_bytes([a, b, c, d]);
                self.body_left = usize::try_from(length)
                    .unwrap_or(usize::MAX)
                    .saturating_sub(4);
                self.have = 0;
                if self.body_left > self.bytes_max {
                    return false;
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_followed_however_they_are_cut() {
        let mut stream = vec![b'D', 0, 0, 0, 14];
        stream.extend([7; 10]);
        stream.extend([b'Z', 0, 0, 0, 5, b'I']);
        for step in 1..stream.len() {
            let mut frame = Frame::new(10);
            assert!(stream.chunks(step).all(|part| frame.fits(part)));
            let mut frame = Frame::new(9);
            assert!(!stream.chunks(step).all(|part| frame.fits(part)));
        }
    }
}
