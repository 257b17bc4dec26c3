//! A server that answers as a test tells it and keeps what it was asked; and a network that counts.

use catalog::clock::Clock;
use catalog::secret::Secret;
use fetch::{Fetcher, Network, Options, Reaching};
use oauth::{AuthMethod, Client, Grant, Registered, Spec};
use serde_json::{Value, json};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What was asked for: method, path and body.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) body: String,
}

/// Status, more headers and body.
pub(crate) type Reply = (u16, String, String);

pub(crate) struct Site {
    pub(crate) url: String,
    pub(crate) asked: Arc<Mutex<Vec<Asked>>>,
}

pub(crate) fn reply(status: u16, body: &Value) -> Reply {
    (status, String::new(), body.to_string())
}

impl Site {
    pub(crate) async fn new(
        answer: impl Fn(&str, &Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (own, all, answer) = (url.clone(), Arc::clone(&asked), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (own, all, answer) = (own.clone(), Arc::clone(&all), Arc::clone(&answer));
                tokio::spawn(async move {
                    let _ = serve(stream, |request| {
                        all.lock().unwrap().push(request.clone());
                        answer(&own, request)
                    })
                    .await;
                });
            }
        });
        Site { url, asked }
    }

    pub(crate) fn count(&self, line: &str) -> usize {
        self.of(line).len()
    }

    pub(crate) fn of(&self, line: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        let fits = asked.iter().filter(|it| it.line.starts_with(line));
        fits.cloned().collect()
    }
}

async fn serve(mut stream: TcpStream, answer: impl Fn(&Asked) -> Reply) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let (head, mut body) = loop {
        let count = stream.read(&mut piece).await?;
        if count == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            break (head.to_owned(), body.to_owned());
        }
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse::<usize>().ok())?
    });
    while body.len() < length.unwrap_or(0) {
        let count = stream.read(&mut piece).await?;
        body.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    let line = head
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches(" HTTP/1.1");
    let (status, more, text) = answer(&Asked {
        line: line.to_owned(),
        body,
    });
    let answer = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{more}Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(answer.as_bytes()).await
}

/// A network where every name but ours is inside, and every call is noted.
pub(crate) struct Counting {
    pub(crate) dialled: Mutex<Vec<SocketAddr>>,
}

impl Network for Counting {
    fn resolve<'a>(&'a self, name: &'a str) -> Reaching<'a, Vec<IpAddr>> {
        let address = match name {
            "inside.example" => "10.0.0.1",
            "cloud.example" => "169.254.169.254",
            "loop.example" => "127.0.0.1",
            _ => "192.168.7.7",
        };
        Box::pin(async move { Ok(vec![address.parse().unwrap()]) })
    }

    fn dial(&self, to: SocketAddr) -> Reaching<'_, TcpStream> {
        self.dialled.lock().unwrap().push(to);
        Box::pin(async move {
            match to.ip().is_loopback() {
                true => TcpStream::connect(to).await,
                false => Err(io::Error::other("no test leaves this machine")),
            }
        })
    }
}

pub(crate) fn client(network: Option<Arc<Counting>>, clock: &Clock) -> Client {
    let options = Options {
        network: network.map(|it| it as Arc<dyn Network>),
        ..Options::default()
    };
    Client::new(Fetcher::new(options), clock.clone())
}

pub(crate) fn spec(server_url: &str) -> Spec {
    Spec {
        name: "one".to_owned(),
        server_url: server_url.to_owned(),
        issuer: None,
        client_id: None,
        client_secret: None,
        scopes: Vec::new(),
        is_machine: false,
    }
}

pub(crate) fn grant(site: &Site, now: i64) -> Grant {
    Grant {
        server_url: format!("{}/mcp", site.url),
        resource: format!("{}/mcp", site.url),
        issuer: site.url.clone(),
        token_endpoint: format!("{}/token", site.url),
        client: Registered {
            client_id: "crib".to_owned(),
            client_secret: None,
            method: AuthMethod::None,
            expires_at: None,
        },
        access_token: Secret::new("access-0".to_owned()),
        refresh_token: Some(Secret::new("refresh-0".to_owned())),
        scopes: vec!["read".to_owned()],
        obtained_at: now,
        expires_at: Some(now + 3_600_000),
    }
}

/// What a whole server with its own authorization server says; `more` goes into what the latter says of itself.
pub(crate) fn well(own: &str, asked: &Asked, more: &Value) -> Reply {
    if asked
        .line
        .starts_with("GET /.well-known/oauth-protected-resource")
    {
        let about = json!({"resource": format!("{own}/mcp"), "authorization_servers": [own]});
        return reply(200, &about);
    }
    if asked.line == "GET /.well-known/oauth-authorization-server" {
        let mut about = json!({
            "issuer": own,
            "authorization_endpoint": format!("{own}/authorize"),
            "token_endpoint": format!("{own}/token"),
            "registration_endpoint": format!("{own}/register"),
            "code_challenge_methods_supported": ["S256"],
        });
        for (key, value) in more.as_object().unwrap() {
            about[key] = value.clone();
        }
        return reply(200, &about);
    }
    match asked.line.as_str() {
        "POST /register" => reply(
            201,
            &json!({"client_id": "made", "token_endpoint_auth_method": "none"}),
        ),
        "POST /token" => reply(
            200,
            &json!({"access_token": "given", "token_type": "Bearer", "expires_in": 60}),
        ),
        _ => reply(404, &json!({})),
    }
}
