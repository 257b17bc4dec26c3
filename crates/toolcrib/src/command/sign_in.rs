//! `toolcrib servers sign-in` and `sign-out`: the browser comes back to an address of this machine, where this command
//! waits for it, and nobody else.

use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Result};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// As long as the server waits.
const PATIENCE: Duration = Duration::from_secs(600);

/// For one request to our address, and what is read of it.
const REQUEST: Duration = Duration::from_secs(10);
const REQUEST_BYTES_MAX: usize = 16 << 10;

/// Read at a time.
const CONNECTIONS_MAX: usize = 64;

const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Toolcrib</title><p>Go back to the terminal; this page can be closed.";

pub(crate) async fn sign_in(context: &Context, name: &str) -> Result {
    let failed = |error: std::io::Error| {
        Failure::failed(format!(
            "no address of this machine can be listened on: {error}"
        ))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let path = format!("/api/v1/servers/{}/sign-in", encode(name));
    let work = async |client: &Client| {
        let body = json!({"redirect_uri": format!("http://127.0.0.1:{port}/callback")});
        let begun = client.request("POST", &path, Some(body)).await?.ok()?;
        let url = begun["authorize_url"].as_str().unwrap_or_default();
        let state = state_of(url)
            .ok_or_else(|| Failure::failed("the server gave no address to sign in at"))?;
        context
            .out
            .say("open this address in a browser and sign in there:");
        context.out.say(url);
        let returned = tokio::select! {
            returned = answer(&listener, &state) => returned,
            () = tokio::time::sleep(PATIENCE) => return Err(Failure::failed("nobody signed in within ten minutes")),
            _ = tokio::signal::ctrl_c() => return Err(Failure::failed("interrupted")),
        };
        let finish = format!("{path}/finish");
        let finished = client.request("POST", &finish, Some(returned)).await?;
        finished.ok()
    };
    let server = Client::with(context, work).await?;
    if context.out.json {
        context.out.value(&server);
    }
    let state = server["state"].as_str().unwrap_or_default();
    context
        .out
        .say(format!("signed in to {name}, which is {state}"));
    Ok(())
}

pub(crate) async fn sign_out(context: &Context, name: &str) -> Result {
    let path = format!("/api/v1/servers/{}/sign-in", encode(name));
    let ask = async |client: &Client| client.request("DELETE", &path, None).await?.ok();
    Client::with(context, ask).await?;
    context.out.say(format!("signed out of {name}"));
    Ok(())
}

/// What the browser brings back. Whatever else asks at our address is told that there is nothing, and keeps nobody
/// waiting: they are read side by side.
async fn answer(listener: &TcpListener, state: &str) -> Value {
    let mut open: JoinSet<Option<Value>> = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if open.len() < CONNECTIONS_MAX => {
                if let Ok((stream, _)) = accepted {
                    open.spawn(heard(stream, state.to_owned()));
                }
            }
            Some(done) = open.join_next() => {
                if let Ok(Some(returned)) = done {
                    return returned;
                }
            }
        }
    }
}

/// One request, answered: the answer of the sign-in that we began, if it is that.
async fn heard(mut stream: TcpStream, state: String) -> Option<Value> {
    let asked = tokio::time::timeout(REQUEST, target(&mut stream)).await;
    let returned = asked.ok().flatten().and_then(|target| returned(&target));
    let returned = returned.filter(|it| it["state"] == state.as_str());
    let (status, page) = match returned {
        Some(_) => ("200 OK", PAGE),
        None => ("404 Not Found", ""),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    let _ = tokio::time::timeout(REQUEST, stream.write_all(head.as_bytes())).await;
    returned
}

/// What the answer must bring back, as it stands in the address that the browser is sent to.
fn state_of(url: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let mut pairs = query.split('&');
    decoded(pairs.find_map(|pair| pair.strip_prefix("state="))?)
}

/// The address in the first line of a request.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut piece = [0_u8; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        head.extend_from_slice(&piece[..count]);
        if head.len() > REQUEST_BYTES_MAX {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    let is_get = words.next() == Some("GET");
    words.next().filter(|_| is_get).map(str::to_owned)
}

/// What the query of our address says, as the server wants it.
fn returned(target: &str) -> Option<Value> {
    let (place, query) = target.strip_prefix("/callback/")?.split_once('?')?;
    let mut found = Map::from_iter([("place".to_owned(), place.into())]);
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if ["state", "code", "iss", "error"].contains(&name) {
            found.insert(name.to_owned(), decoded(value)?.into());
        }
    }
    found.contains_key("state").then_some(Value::Object(found))
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).ok()?
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_is_an_answer() {
        assert_eq!(
            returned("/callback/0af?code=a%2Fb+c&state=s&iss=https%3A%2F%2Fid.example&other=1"),
            Some(
                json!({"place": "0af", "code": "a/b c", "state": "s", "iss": "https://id.example"})
            )
        );
        for nothing in [
            "/favicon.ico",
            "/callback/p",
            "/callback?state=s",
            "/callback/p?code=a",
            "/callback/p?state=%2",
            "/callback/p?state=%ff",
        ] {
            assert_eq!(returned(nothing), None, "{nothing}");
        }
        assert_eq!(
            state_of("http://a/b?x=1&state=a%2Fb"),
            Some("a/b".to_owned())
        );
        assert_eq!(state_of("http://a/b"), None);
    }

    async fn get(port: u16, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn who_says_nothing_or_something_else_keeps_nobody_waiting() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let waiting = tokio::spawn(async move { answer(&listener, "ours").await });
        let mut silent = Vec::new();
        for _ in 0..5 {
            silent.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
        }
        for foreign in ["/favicon.ico", "/callback/p?state=theirs&code=evil"] {
            let refused = get(port, foreign).await;
            assert!(refused.starts_with("HTTP/1.1 404"), "{refused}");
            assert!(!waiting.is_finished());
        }
        let page = get(port, "/callback/p?state=ours&code=good").await;
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        let returned = waiting.await.unwrap();
        assert_eq!(
            returned,
            json!({"place": "p", "state": "ours", "code": "good"})
        );
        drop(silent);
    }
}
