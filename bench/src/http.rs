//! The smallest HTTP/1.1 client that is still right: one keep-alive connection, bodies by length, in chunks or until the end.
//! Generic over the stream so that tests can split the bytes where they like.

use std::net::{SocketAddr, ToSocketAddrs};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Failure;

/// Bounds on what a server may make us keep.
const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Where requests go: `http://HOST[:PORT]/PATH`, the path with its query.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) authority: String,
    pub(crate) path: String,
}

impl Target {
    pub(crate) fn parse(url: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            format!(
                "--url {url}: {why}; expected something like http://127.0.0.1:8787/api/v1/tools"
            )
        };
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| wrong("only http:// is spoken here"))?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.is_empty() || path.contains([' ', '\r', '\n']) {
            return Err(wrong("no host, or white space in the path"));
        }
        let with_port = match authority.rsplit_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => authority.to_owned(),
            _ => format!("{authority}:80"),
        };
        let address = with_port
            .to_socket_addrs()
            .map_err(|e| wrong(&e.to_string()))?
            .next();
        Ok(Target {
            address: address.ok_or_else(|| wrong("the host has no address"))?,
            authority: authority.to_owned(),
            path: if path.is_empty() {
                "/".to_owned()
            } else {
                path.to_owned()
            },
        })
    }
}

pub(crate) struct Reply<'c> {
    pub(crate) status: u16,
    pub(crate) body: &'c [u8],
    /// False when the server will close this connection.
    pub(crate) keep_alive: bool,
}

pub(crate) struct Connection<S> {
    stream: S,
    received: Vec<u8>,
    /// A body that came in chunks, put together.
    joined: Vec<u8>,
    /// Bytes of `received` that belong to the reply handed out last.
    used: usize,
}

impl Connection<TcpStream> {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address)
            .await
            .map_err(|e| format!("cannot connect to {address}: {e}"))?;
        stream
            .set_nodelay(true)
            .map_err(|e| format!("cannot set TCP_NODELAY: {e}"))?;
        Ok(Connection::new(stream))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(crate) fn new(stream: S) -> Self {
        Connection {
            stream,
            received: Vec::with_capacity(16 * 1024),
            joined: Vec::new(),
            used: 0,
        }
    }

    /// Sends one request and reads its whole reply. After an error the connection is of no more use.
    pub(crate) async fn round_trip(&mut self, request: &[u8]) -> Result<Reply<'_>, Failure> {
        self.stream
            .write_all(request)
            .await
            .map_err(|e| format!("cannot send: {e}"))?;
        self.received.drain(..self.used);
        self.used = 0;
        let mut head = self.head().await?;
        // Answers of the 100s only announce the real one.
        while (100..200).contains(&head.status) {
            self.received.drain(..head.bytes);
            head = self.head().await?;
        }
        let from = head.bytes;
        self.joined.clear();
        let end = match head.body {
            BodyLength::Fixed(length) => {
                self.fill_to(from + length).await?;
                from + length
            }
            BodyLength::Chunked => self.chunks(from).await?,
            BodyLength::UntilClose => self.rest().await?,
        };
        self.used = end;
        let chunked = matches!(head.body, BodyLength::Chunked);
        Ok(Reply {
            status: head.status,
            body: if chunked {
                &self.joined
            } else {
                &self.received[from..end]
            },
            keep_alive: head.keep_alive && !matches!(head.body, BodyLength::UntilClose),
        })
    }

    async fn head(&mut self) -> Result<Head, Failure> {
        let end = self.line_end(0, b"\r\n\r\n", HEAD_BYTES_MAX).await?;
        Head::parse(&self.received[..end])
    }

    /// Reads chunks from `at` on into `joined`; gives back where the reply ends.
    async fn chunks(&mut self, mut at: usize) -> Result<usize, Failure> {
        loop {
            let end = self.line_end(at, b"\r\n", HEAD_BYTES_MAX).await?;
            let size = chunk_size(&self.received[at..end - 2])?;
            if self.joined.len() + size > BODY_BYTES_MAX {
                return Err(format!("the body is larger than {BODY_BYTES_MAX} bytes"));
            }
            at = end;
            if size == 0 {
                return self.trailers(at).await;
            }
            self.fill_to(at + size + 2).await?;
            self.joined.extend_from_slice(&self.received[at..at + size]);
            if &self.received[at + size..at + size + 2] != b"\r\n" {
                return Err("a chunk is longer than it said".to_owned());
            }
            at += size + 2;
        }
    }

    /// Reads past the lines behind the last chunk, up to the empty one.
    async fn trailers(&mut self, mut at: usize) -> Result<usize, Failure> {
        loop {
            let end = self.line_end(at, b"\r\n", HEAD_BYTES_MAX).await?;
            if end - at == 2 {
                return Ok(end);
            }
            at = end;
        }
    }

    /// Reads until the server closes; gives back where the bytes end.
    async fn rest(&mut self) -> Result<usize, Failure> {
        while self.read_some().await? > 0 {
            if self.received.len() > BODY_BYTES_MAX {
                return Err(format!("the body is larger than {BODY_BYTES_MAX} bytes"));
            }
        }
        Ok(self.received.len())
    }

    /// Where the first `mark` at or after `from` ends, reading as needed.
    async fn line_end(
        &mut self,
        from: usize,
        mark: &[u8],
        bytes_max: usize,
    ) -> Result<usize, Failure> {
        let mut look_from = from;
        loop {
            if let Some(place) = self.received[look_from..]
                .windows(mark.len())
                .position(|w| w == mark)
            {
                return Ok(look_from + place + mark.len());
            }
            if self.received.len() - from > bytes_max {
                return Err(format!(
                    "no end of the head or chunk line within {bytes_max} bytes"
                ));
            }
            // The mark may be split over two reads.
            look_from = from.max((self.received.len() + 1).saturating_sub(mark.len()));
            self.fill_to(self.received.len() + 1).await?;
        }
    }

    async fn fill_to(&mut self, length: usize) -> Result<(), Failure> {
        while self.received.len() < length {
            if self.read_some().await? == 0 {
                return Err("the server closed the connection in the middle of a reply".to_owned());
            }
        }
        Ok(())
    }

    async fn read_some(&mut self) -> Result<usize, Failure> {
        self.stream
            .read_buf(&mut self.received)
            .await
            .map_err(|e| format!("cannot receive: {e}"))
    }
}

#[derive(Debug, PartialEq)]
enum BodyLength {
    Fixed(usize),
    Chunked,
    UntilClose,
}

#[derive(Debug)]
struct Head {
    status: u16,
    body: BodyLength,
    keep_alive: bool,
    /// Length of the head with its empty line.
    bytes: usize,
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Self, Failure> {
        let wrong = || {
            format!(
                "not an HTTP/1.x reply: {:?}",
                crate::expect::short(&String::from_utf8_lossy(bytes))
            )
        };
        let mut lines = std::str::from_utf8(bytes)
            .map_err(|_| wrong())?
            .split("\r\n");
        let first = lines.next().ok_or_else(wrong)?;
        let (version, rest) = first
            .split_once(' ')
            .filter(|(v, _)| v.starts_with("HTTP/1."))
            .ok_or_else(wrong)?;
        let status = rest
            .get(..3)
            .and_then(|s| s.parse().ok())
            .filter(|s| (100..600).contains(s))
            .ok_or_else(wrong)?;
        let mut head = Head {
            status,
            body: BodyLength::UntilClose,
            keep_alive: version != "HTTP/1.0",
            bytes: bytes.len(),
        };
        for line in lines.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            head.take_header(name, value.trim())?;
        }
        if matches!(status, 100..200 | 204 | 304) {
            head.body = BodyLength::Fixed(0);
        }
        Ok(head)
    }

    fn take_header(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        if name.eq_ignore_ascii_case("content-length") {
            let length = value
                .parse()
                .ok()
                .filter(|length| *length <= BODY_BYTES_MAX);
            let length = length.ok_or_else(|| {
                format!("Content-Length {value:?}: expected a number up to {BODY_BYTES_MAX}")
            })?;
            // Chunked wins over a length, whichever comes first.
            if self.body != BodyLength::Chunked {
                self.body = BodyLength::Fixed(length);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            if !value.eq_ignore_ascii_case("chunked") {
                return Err(format!(
                    "Transfer-Encoding {value:?} is not understood; expected chunked"
                ));
            }
            self.body = BodyLength::Chunked;
        } else if name.eq_ignore_ascii_case("connection") {
            self.keep_alive = !value.eq_ignore_ascii_case("close");
        }
        Ok(())
    }
}

fn chunk_size(line: &[u8]) -> Result<usize, Failure> {
    let digits = line
        .split(|b| *b == b';')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let text = std::str::from_utf8(digits)
        .ok()
        .filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
    text.and_then(|text| usize::from_str_radix(text, 16).ok())
        .filter(|size| *size <= BODY_BYTES_MAX)
        .ok_or_else(|| format!("bad chunk size {:?}", String::from_utf8_lossy(line)))
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
