//! The oldest transport over HTTP: one stream of events that brings everything, and an address that it names for what
//! we say.

use super::connection::Loss;
use super::credentials::Bearer;
use super::exchange::Exchange;
use super::fault::Fault;
use super::http::{A_WEB_PAGE, dressed, is_web_page, judged, take, target};
use super::posted::Letter;
use fetch::events::Events;
use fetch::header::{ACCEPT, CONTENT_TYPE};
use fetch::{Bytes, Fetcher, HeaderMap, HeaderValue, Method, Streaming, Target, Url};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// For a message that nobody waits for.
const COURTESY: Duration = Duration::from_secs(10);

pub(super) struct Sse {
    fetcher: Fetcher,
    /// Where messages go, as it was named and as it is asked.
    endpoint: (String, Target),
    headers: HeaderMap,
    bearer: Bearer,
}

/// The stream, after its first event.
pub(super) struct Stream {
    stream: Streaming,
    events: Events,
    /// What came with the first event.
    early: Vec<String>,
}

/// Opens the stream and waits for the address.
pub(super) async fn open(
    fetcher: Fetcher,
    url: &str,
    own: HeaderMap,
    bearer: Bearer,
    bytes_max: usize,
) -> Result<(Sse, Stream), Fault> {
    let mut headers = own.clone();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let headers = dressed(&fetcher, headers)?;
    let address = target(url)?;
    let stream = bearer.send(&fetcher, Method::GET, &address, headers, Bytes::new());
    let mut stream = judged(stream.await?, url, false).await?;
    if is_web_page(&stream) {
        return Err(Fault::Protocol(A_WEB_PAGE.to_owned()));
    }
    let mut events = Events::new(bytes_max);
    let (mut early, mut early_bytes) = (Vec::new(), 0);
    let mut endpoint = None;
    while endpoint.is_none() {
        let piece = match stream.next().await {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => return Err(Fault::Lost(error.to_string())),
            None => return Err(Fault::Protocol("its stream names no endpoint".to_owned())),
        };
        for event in take(&mut events, &piece)? {
            match event.name.as_str() {
                "endpoint" if endpoint.is_none() => endpoint = Some(event.data),
                _ => {
                    // What is kept of it, be it empty.
                    early_bytes += event.data.len() + size_of::<String>();
                    early.push(event.data);
                }
            }
        }
        if early_bytes > bytes_max {
            let why = "it says too much before it names its endpoint";
            return Err(Fault::Protocol(why.to_owned()));
        }
    }
    let endpoint = resolve(url, &endpoint.unwrap_or_default())?;
    let address = target(&endpoint)?;
    let mut headers = own;
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let headers = dressed(&fetcher, headers)?;
    let sse = Sse {
        fetcher,
        endpoint: (endpoint, address),
        headers,
        bearer,
    };
    let stream = Stream {
        stream,
        events,
        early,
    };
    Ok((sse, stream))
}

/// Where messages go. What we say may hold secrets, and they are for this server alone.
fn resolve(url: &str, endpoint: &str) -> Result<String, Fault> {
    let bad = |why: &str| Fault::Protocol(format!("the endpoint that it names {why}"));
    let base = Url::parse(url).map_err(|_| bad("belongs to no address"))?;
    let endpoint = base.join(endpoint).map_err(|_| bad("is no address"))?;
    match endpoint.origin() == base.origin() {
        true => Ok(endpoint.into()),
        false => Err(bad("is at another server")),
    }
}

impl Sse {
    pub(super) async fn post(&self, text: String) -> Result<(), Fault> {
        let (url, address) = &self.endpoint;
        let body = Bytes::from(text);
        let headers = self.headers.clone();
        let sent = self
            .bearer
            .send(&self.fetcher, Method::POST, address, headers, body);
        let mut answer = judged(sent.await?, url, true).await?;
        // Only a body that has been read leaves its connection to the next.
        let _ = timeout(COURTESY, answer.next()).await;
        Ok(())
    }

    pub(super) async fn deliver(&self, mut letters: mpsc::Receiver<Letter>) {
        while let Some(letter) = letters.recv().await {
            let _ = timeout(COURTESY, self.post(letter.text)).await;
        }
    }
}

impl Stream {
    /// Hears everything until the stream ends, and with it the connection.
    pub(super) async fn hear(mut self, exchange: &Arc<Exchange>, loss: &Loss) {
        for data in self.early.drain(..) {
            exchange.hear(data.as_bytes(), None);
        }
        let cause = loop {
            let piece = match self.stream.next().await {
                Some(Ok(piece)) => piece,
                Some(Err(error)) => break error.to_string(),
                None => break "it ended the stream of events".to_owned(),
            };
            match self.events.take(&piece) {
                Ok(events) => {
                    for event in events.iter().filter(|event| !event.data.is_empty()) {
                        exchange.hear(event.data.as_bytes(), None);
                    }
                }
                Err(_) => break "an event of its stream is longer than may be".to_owned(),
            }
        };
        exchange.end(&cause);
        loss.say(cause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_at_the_same_server() {
        let base = "http://a:1/x/sse?k=1";
        for (endpoint, resolved) in [
            ("/message?s=1", "http://a:1/message?s=1"),
            ("message", "http://a:1/x/message"),
            ("?s=2", "http://a:1/x/sse?s=2"),
            ("http://a:1/m", "http://a:1/m"),
        ] {
            assert_eq!(resolve(base, endpoint).unwrap(), resolved);
        }
        for elsewhere in [
            "http://a/m",
            "https://a:1/m",
            "//b:1/m",
            "http://b:1/m",
            "file:///m",
        ] {
            assert!(resolve(base, elsewhere).is_err(), "{elsewhere}");
        }
    }
}
