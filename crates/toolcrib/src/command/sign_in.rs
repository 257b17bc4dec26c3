//! `toolcrib servers sign-in` and `sign-out`: the browser comes back to an address of this machine, where this command
//! waits for it, and nobody else.

use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Result};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// As long as the server waits.
const PATIENCE: Duration = Duration::from_secs(600);

/// For one request to our address, and what is read of it.
const REQUEST: Duration = Duration::from_secs(10);
const REQUEST_BYTES_MAX: usize = 16 << 10;

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
        context
            .out
            .say("open this address in a browser and sign in there:");
        context.out.say(url);
        let returned = tokio::select! {
            returned = answer(&listener) => returned,
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

/// What the browser brings back. Whatever else asks at our address is told that there is nothing.
async fn answer(listener: &TcpListener) -> Value {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            continue;
        };
        let asked = tokio::time::timeout(REQUEST, target(&mut stream)).await;
        let returned = asked.ok().flatten().and_then(|target| returned(&target));
        let (status, page) = match returned {
            Some(_) => ("200 OK", PAGE),
            None => ("404 Not Found", ""),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
            page.len()
        );
        let _ = tokio::time::timeout(REQUEST, stream.write_all(head.as_bytes())).await;
        if let Some(returned) = returned {
            return returned;
        }
    }
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
    let query = target.strip_prefix("/callback?")?;
    let mut found = Map::new();
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
            returned("/callback?code=a%2Fb+c&state=s&iss=https%3A%2F%2Fid.example&other=1"),
            Some(json!({"code": "a/b c", "state": "s", "iss": "https://id.example"}))
        );
        for nothing in [
            "/favicon.ico",
            "/callback",
            "/callback?code=a",
            "/callback?state=%2",
            "/callback?state=%ff",
        ] {
            assert_eq!(returned(nothing), None, "{nothing}");
        }
    }
}
