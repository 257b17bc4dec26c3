//! Lines of a program's output, none of them longer than may be.

use bytes::{Bytes, BytesMut};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of a line that is too long is kept at each end: enough to tell whom it was for.
const KEPT: usize = 256;

/// A buffer that grew for one long line is not kept for the short ones after it.
const BUFFER_KEPT: usize = 1 << 20;

#[derive(Debug, PartialEq)]
pub(super) enum Line {
    Text(Bytes),
    TooLong { head: Vec<u8>, tail: Vec<u8> },
}

pub(super) struct Lines<R> {
    from: R,
    buffer: BytesMut,
    /// No line ends before this.
    searched: usize,
    bytes_max: usize,
    /// The line that is being thrown away.
    long: Option<(Vec<u8>, Vec<u8>)>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(from: R, bytes_max: usize) -> Self {
        Lines {
            from,
            buffer: BytesMut::new(),
            searched: 0,
            bytes_max,
            long: None,
        }
    }

    /// The next line without its end; what stands after the last one is no line.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let rest = &self.buffer[self.searched..];
            if let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
                return Ok(Some(self.take(self.searched + at)));
            }
            self.searched = self.buffer.len();
            if self.searched > self.bytes_max {
                self.throw_away();
            }
            if self.buffer.is_empty() && self.buffer.capacity() > BUFFER_KEPT {
                self.buffer = BytesMut::new();
            }
            self.buffer.reserve(16 << 10);
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    fn take(&mut self, end: usize) -> Line {
        let line = self.buffer.split_to(end);
        let _end = self.buffer.split_to(1);
        self.searched = 0;
        match self.long.take() {
            Some((head, mut tail)) => {
                keep_end(&mut tail, &line);
                Line::TooLong { head, tail }
            }
            None if line.len() > self.bytes_max => Line::TooLong {
                head: line[..KEPT.min(line.len())].to_vec(),
                tail: line[line.len().saturating_sub(KEPT)..].to_vec(),
            },
            None => Line::Text(line.freeze()),
        }
    }

    fn throw_away(&mut self) {
        let piece = &self.buffer[..];
        let (_, tail) = self
            .long
            .get_or_insert_with(|| (piece[..KEPT.min(piece.len())].to_vec(), Vec::new()));
        keep_end(tail, piece);
        self.buffer.clear();
        self.searched = 0;
    }
}

fn keep_end(tail: &mut Vec<u8>, piece: &[u8]) {
    tail.extend_from_slice(&piece[piece.len().saturating_sub(KEPT)..]);
    let over = tail.len().saturating_sub(KEPT);
    tail.drain(..over);
}

/// The number in a message of which only the ends are known: servers write it either first or last.
pub(super) fn id_in(head: &[u8], tail: &[u8]) -> Option<u64> {
    let number = |text: &str| -> Option<u64> {
        let text = text.trim_start().strip_prefix(':')?.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        text[..end].parse().ok()
    };
    let head = String::from_utf8_lossy(head);
    // Behind these the id may be a member of something else.
    let envelope = head.split("\"result\"").next().unwrap_or_default();
    let envelope = envelope.split("\"params\"").next().unwrap_or_default();
    let first = envelope.find("\"id\"").map(|at| &envelope[at + 4..]);
    let tail = String::from_utf8_lossy(tail);
    let last = tail.rfind("\"id\"").map(|at| &tail[at + 4..]);
    // Nothing but the end of the message may follow the last one.
    let last = last.filter(|text| {
        let rest = text.trim_start_matches(|c: char| c == ':' || c == ' ' || c.is_ascii_digit());
        matches!(rest.trim(), "}" | r#","jsonrpc":"2.0"}"#)
    });
    first.and_then(number).or_else(|| last.and_then(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: &[u8], bytes_max: usize) -> Vec<Line> {
        let mut lines = Lines::new(text, bytes_max);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(line);
        }
        all
    }

    #[tokio::test]
    async fn lines_end_where_they_end() {
        let text = |text: &'static str| Line::Text(Bytes::from_static(text.as_bytes()));
        assert_eq!(
            all(b"a\n\nbc\r\nrest", 10).await,
            [text("a"), text(""), text("bc\r")]
        );
    }

    #[tokio::test]
    async fn too_long_a_line_is_thrown_away_and_the_next_is_read() {
        let long = format!(
            "{{\"id\":12,\"result\":\"{}\"}}\nnext\n",
            "x".repeat(300_000)
        );
        let lines = all(long.as_bytes(), 100_000).await;
        let Line::TooLong { head, tail } = &lines[0] else {
            panic!("{lines:?}")
        };
        assert_eq!((head.len(), tail.len()), (KEPT, KEPT));
        assert_eq!(id_in(head, tail), Some(12));
        assert_eq!(lines[1], Line::Text(Bytes::from_static(b"next")));
        let just = all(b"12345\n123456\n", 5).await;
        assert!(matches!(just[..], [Line::Text(_), Line::TooLong { .. }]));
    }

    #[test]
    fn the_id_is_found_at_either_end() {
        for (head, tail, id) in [
            (r#"{"jsonrpc":"2.0","id": 7,"result":{"#, "xx", Some(7)),
            (
                r#"{"result":{"id":9,"#,
                r#"x"}]},"jsonrpc":"2.0","id":8}"#,
                Some(8),
            ),
            (r#"{"result":{"id":9,"#, r#""id":3}]}}"#, None),
            ("garbage", "garbage", None),
        ] {
            assert_eq!(id_in(head.as_bytes(), tail.as_bytes()), id, "{head} {tail}");
        }
    }
}
