//! An answer whose body is still on its way.

use super::Answer;
use crate::out::{Cause, Failure, Result};
use bytes::{Buf, Bytes, BytesMut};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Body;
use std::fmt::Display;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub(super) struct Streamed {
    status: u16,
    body: UnsyncBoxBody<Bytes, BoxError>,
}

impl Streamed {
    pub(super) fn new<B>(status: u16, body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let body = body.map_err(Into::into).boxed_unsync();
        Streamed { status, body }
    }

    /// All of it.
    pub(super) async fn collected(self) -> Result<Answer> {
        let body = self.body.collect().await.map_err(broken)?.to_bytes();
        let status = self.status;
        Ok(Answer { status, body })
    }

    /// Each line as it comes, until `take` has had enough. What is no success is an error.
    pub(super) async fn each_line(mut self, mut take: impl FnMut(&str) -> bool) -> Result<()> {
        if !(200..300).contains(&self.status) {
            return Err(self.collected().await?.failure());
        }
        let mut left = BytesMut::new();
        loop {
            let frame = tokio::select! {
                frame = self.body.frame() => frame,
                _ = tokio::signal::ctrl_c() => return Err(Failure::failed("interrupted")),
            };
            let Some(frame) = frame else { break };
            let Ok(data) = frame.map_err(broken)?.into_data() else {
                continue;
            };
            // Where the last piece ended there is no end of a line: only what is new can hold one.
            let mut from = left.len();
            left.extend_from_slice(&data);
            while let Some(end) = left[from..].iter().position(|byte| *byte == b'\n') {
                let line = left.split_to(from + end);
                left.advance(1);
                from = 0;
                if !take(&String::from_utf8_lossy(&line)) {
                    return Ok(());
                }
            }
        }
        if !left.is_empty() {
            return Err(broken("the last line is cut off"));
        }
        Ok(())
    }
}

pub(super) fn broken(error: impl Display) -> Failure {
    let why = format!("the server broke off the connection: {error}");
    Failure::new(Cause::Unreachable, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Full;

    async fn lines(body: &'static str) -> (Vec<String>, bool) {
        let mut seen = Vec::new();
        let streamed = Streamed::new(200, Full::new(Bytes::from(body)));
        let done = streamed.each_line(|line| {
            seen.push(line.to_owned());
            line != "stop"
        });
        let is_fine = done.await.is_ok();
        (seen, is_fine)
    }

    #[tokio::test]
    async fn lines_are_told_apart_and_one_that_is_cut_off_is_an_error() {
        let all = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(lines("").await, (all(&[]), true));
        assert_eq!(lines("a\n\nb\n").await, (all(&["a", "", "b"]), true));
        assert_eq!(lines("a\nb").await, (all(&["a"]), false));
        assert_eq!(lines("a\nstop\nb\n").await, (all(&["a", "stop"]), true));
    }
}
