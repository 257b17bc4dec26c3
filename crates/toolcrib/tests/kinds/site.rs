//! A web server on this machine that answers as a test tells it and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Status, content type, body.
type Reply = (u16, &'static str, Vec<u8>);

pub(crate) struct Site {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// `answer` is given the whole request: its first line, headers and body. The thread ends with the test.
    pub(crate) fn start(answer: impl Fn(&str) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Some(request) = read(&stream) {
                    let (status, kind, body) = answer(&request);
                    seen.lock().unwrap().push(request);
                    let head = format!(
                        "HTTP/1.1 {status} Said\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                        body.len()
                    );
                    let mut stream = stream;
                    let _ = stream.write_all(&[head.as_bytes(), &body].concat());
                }
            }
        });
        Site { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

pub(crate) fn read(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}
