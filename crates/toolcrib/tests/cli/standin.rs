//! A server that answers as a test wants it: what a real one says only after a long time, or never.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// What has not happened by then never will.
const PATIENCE: Duration = Duration::from_secs(30);

/// What comes of a request.
pub(crate) enum Says {
    Answer(u16, Value),
    /// Nothing, ever.
    Nothing,
    /// The server is gone, and so is its port.
    Gone,
}

pub(crate) struct StandIn {
    pub(crate) address: String,
    asked: Receiver<String>,
}

impl StandIn {
    /// `says` is given the method and the path of each request, such as `GET /api/v1/runs`.
    pub(crate) fn start(mut says: impl FnMut(&str) -> Says + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener
            .local_addr()
            .expect("it has an address")
            .to_string();
        let (sender, asked) = channel();
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let stream = stream.expect("somebody came");
                // Whoever has left meanwhile has asked nothing.
                let Some(request) = read(&stream) else {
                    continue;
                };
                let said = says(&request);
                let _ = sender.send(request);
                match said {
                    Says::Answer(status, body) => write(&stream, status, &body.to_string()),
                    Says::Nothing => open.push(stream),
                    Says::Gone => return,
                }
            }
        });
        StandIn { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until this was asked.
    pub(crate) fn hears(&self, request: &str) {
        while self
            .asked
            .recv_timeout(PATIENCE)
            .expect("it is asked in time")
            != request
        {}
    }
}

/// The first line of a request, less its version; all of it is read.
fn read(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let request = line.strip_suffix(" HTTP/1.1\r\n")?.to_owned();
    let mut bytes = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            bytes = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    Some(request)
}

fn write(mut stream: &TcpStream, status: u16, body: &str) {
    let head = format!(
        "HTTP/1.1 {status} As told\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // Whoever has left does not read it.
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}
