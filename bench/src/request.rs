//! One kind of request with its check: what is sent, made new for each number, and what a right answer holds.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clap::Args;
use tokio::net::TcpStream;

use crate::Failure;
use crate::expect::{Expectation, short};
use crate::http::{Connection, Target};
use crate::template::Template;

/// Templates may hold {i}, {j}, {i+j} and {i%N}.
#[derive(Args)]
pub(crate) struct RequestArgs {
    /// GET, POST, …
    #[arg(long, default_value = "GET")]
    method: String,
    /// Body as a template; sent as JSON
    #[arg(long)]
    body: Option<String>,
    /// Header `Name: value`; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Status of a right answer
    #[arg(long, default_value_t = 200)]
    status: u16,
    /// Value at a JSON pointer of a right answer, as a JSON template, for example `/data="row {i}"`; may be repeated
    #[arg(long, value_name = "POINTER=JSON")]
    expect: Vec<String>,
    /// Number of items of the list at a JSON pointer; may be repeated
    #[arg(long, value_name = "POINTER=NUMBER")]
    expect_items: Vec<String>,
    /// A request without an answer after this many seconds is an error
    #[arg(long, default_value_t = 10.0)]
    timeout_seconds: f64,
}

pub(crate) struct Request {
    address: SocketAddr,
    /// Method and path, up to the version.
    start: Template,
    /// The rest of the head without Content-Length.
    headers: String,
    body: Option<Template>,
    status: u16,
    expectations: Vec<Expectation>,
    timeout: Duration,
}

impl Request {
    pub(crate) fn new(args: &RequestArgs, target: &Target) -> Result<Self, Failure> {
        if args.method.is_empty() || !args.method.bytes().all(|b| b.is_ascii_uppercase()) {
            return Err(format!(
                "--method {:?}: expected capital letters, as in POST",
                args.method
            ));
        }
        let mut headers = format!(" HTTP/1.1\r\nHost: {}\r\n", target.authority);
        if args.body.is_some() {
            headers.push_str("Content-Type: application/json\r\n");
        }
        for header in &args.headers {
            if !header.contains(": ") || header.contains(['\r', '\n']) {
                return Err(format!(
                    "--header {header:?}: expected one line `Name: value`"
                ));
            }
            headers.push_str(header);
            headers.push_str("\r\n");
        }
        let values = args.expect.iter().map(|text| Expectation::value(text));
        let items = args
            .expect_items
            .iter()
            .map(|text| Expectation::items(text));
        Ok(Request {
            address: target.address,
            start: Template::parse(&format!("{} {}", args.method, target.path))?,
            headers,
            body: args.body.as_deref().map(Template::parse).transpose()?,
            status: args.status,
            expectations: values.chain(items).collect::<Result<_, _>>()?,
            timeout: seconds("--timeout-seconds", args.timeout_seconds)?,
        })
    }

    fn check(&self, i: u64, status: u16, body: &[u8]) -> Result<(), Failure> {
        if status != self.status {
            let body = String::from_utf8_lossy(body);
            return Err(format!(
                "request {i}: status {status}, expected {}: {}",
                self.status,
                short(&body)
            ));
        }
        self.expectations
            .iter()
            .try_for_each(|e| e.check(i, body))
            .map_err(|e| format!("request {i}: {e}"))
    }

    fn render(&self, i: u64, body: &mut Vec<u8>, out: &mut Vec<u8>) {
        out.clear();
        self.start.render(i, out);
        out.extend_from_slice(self.headers.as_bytes());
        if let Some(template) = &self.body {
            body.clear();
            template.render(i, body);
            out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            out.extend_from_slice(body);
        } else {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// One client: a connection that is opened when needed and kept while the server lets it.
#[derive(Default)]
pub(crate) struct Client {
    connection: Option<Connection<TcpStream>>,
    body: Vec<u8>,
    sent: Vec<u8>,
}

impl Client {
    /// Sends request number `i` and checks its answer. The time is from before the first byte (or the connect) to the
    /// last byte of the answer: making the request and checking the answer are ours, not the server's.
    pub(crate) async fn ask(&mut self, request: &Request, i: u64) -> Result<Duration, Failure> {
        request.render(i, &mut self.body, &mut self.sent);
        let start = Instant::now();
        let answer = tokio::time::timeout(request.timeout, self.exchange(request, i, start)).await;
        answer.unwrap_or_else(|_| {
            Err(format!(
                "request {i}: no answer within {:?}",
                request.timeout
            ))
        })
    }

    async fn exchange(
        &mut self,
        request: &Request,
        i: u64,
        start: Instant,
    ) -> Result<Duration, Failure> {
        // Taken out while in use: after an error or a timeout there is none, and the next request opens a new one.
        let mut connection = match self.connection.take() {
            Some(open) => open,
            None => Connection::open(request.address)
                .await
                .map_err(|e| format!("request {i}: {e}"))?,
        };
        let reply = connection
            .round_trip(&self.sent)
            .await
            .map_err(|e| format!("request {i}: {e}"))?;
        let took = start.elapsed();
        let right = request.check(i, reply.status, reply.body);
        if reply.keep_alive {
            self.connection = Some(connection);
        }
        right.map(|()| took)
    }
}

/// A finite, positive number of seconds from the command line.
pub(crate) fn seconds(flag: &str, value: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(value)
        .ok()
        .filter(|d| !d.is_zero() && *d <= Duration::from_secs(86_400))
        .ok_or_else(|| format!("{flag} {value}: expected seconds above 0 and up to 86400"))
}
