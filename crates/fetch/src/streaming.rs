//! An answer that is read while it comes, such as a stream of events. Nothing is followed and nothing is decompressed.

use crate::error::{Error, Phase};
use crate::pool::Reading;
use crate::target::Target;
use crate::{Fetcher, Request, broken, request};
use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use std::sync::Arc;

/// An answer of which the body is still to come. Dropping it closes its connection, unless all of it has been read.
pub struct Streaming {
    pub status: StatusCode,
    pub headers: HeaderMap,
    place: Arc<str>,
    body: Reading,
}

impl Fetcher {
    /// Sends a request and returns when the headers are here, whatever the status. Of the limits only `total` counts,
    /// and only until then: how long the body may take and how much of it is wanted, the reader decides.
    pub async fn open(&self, request: Request) -> Result<Streaming, Error> {
        let target = Target::new(&request.url, request.trust)?;
        let mut headers = request.headers;
        let body = request.body.write(&mut headers);
        let headers = self.dressed(headers)?;
        let opened = self.open_at(&target, request.method, headers, body);
        let after = request.limits.total;
        let opened = tokio::time::timeout(after, opened).await;
        opened.unwrap_or_else(|_| {
            Err(Error::Timeout {
                place: target.place.to_string(),
                phase: Phase::Answer,
                after,
            })
        })
    }

    /// Headers as `open_at` wants them: checked, and with those that are the client's own.
    pub fn dressed(&self, headers: HeaderMap) -> Result<HeaderMap, Error> {
        request::check_headers(&headers)?;
        // With room for a few more: whoever asks often adds to a copy.
        let mut all = HeaderMap::with_capacity(headers.len() + 8);
        all.extend(headers);
        all.entry(USER_AGENT)
            .or_insert_with(|| self.user_agent.clone());
        all.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        // What is compressed comes in lumps, and a stream is wanted as it is written.
        all.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        Ok(all)
    }

    /// The same for who asks there often, has the headers `dressed` and sees to it that it ends.
    pub async fn open_at(
        &self,
        target: &Target,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Streaming, Error> {
        let response = self.exchange(target, method, headers, body).await?;
        let (head, body) = response.into_parts();
        let plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
        if !head.headers.get_all(CONTENT_ENCODING).iter().all(plain) {
            return Err(Error::Protocol {
                place: target.place.to_string(),
                why: "its answer is compressed although that was not asked for",
                source: None,
            });
        }
        Ok(Streaming {
            status: head.status,
            headers: head.headers,
            place: Arc::clone(&target.place),
            body,
        })
    }
}

impl Streaming {
    /// The next piece, or `None` where the body has ended as it should. May be dropped and asked again.
    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        loop {
            match self.body.frame().await? {
                Ok(frame) => match frame.into_data() {
                    Ok(piece) if piece.is_empty() => {}
                    Ok(piece) => return Some(Ok(piece)),
                    // Trailers.
                    Err(_) => {}
                },
                Err(error) => return Some(Err(broken(error, self.place.to_string()))),
            }
        }
    }
}
