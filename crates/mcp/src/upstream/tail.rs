//! The end of what a program writes to stderr. All of it is read, so that the program never waits for us.

use super::locked;
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};

pub(super) struct Tail {
    bytes: Mutex<VecDeque<u8>>,
    bytes_max: usize,
}

impl Tail {
    pub(super) fn new(bytes_max: usize) -> Self {
        Tail {
            bytes: Mutex::default(),
            bytes_max,
        }
    }

    pub(super) fn clear(&self) {
        locked(&self.bytes).clear();
    }

    pub(super) async fn drain(&self, mut from: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 8 << 10];
        while let Ok(n @ 1..) = from.read(&mut chunk).await {
            self.add(&chunk[..n]);
        }
    }

    fn add(&self, piece: &[u8]) {
        let piece = &piece[piece.len().saturating_sub(self.bytes_max)..];
        let mut bytes = locked(&self.bytes);
        let over = (bytes.len() + piece.len()).saturating_sub(self.bytes_max);
        bytes.drain(..over);
        bytes.extend(piece);
    }

    pub(super) fn text(&self) -> String {
        let (bytes, is_cut) = {
            let bytes = locked(&self.bytes);
            let all: Vec<u8> = bytes.iter().copied().collect();
            let is_cut = all.len() == self.bytes_max;
            (all, is_cut)
        };
        let text = String::from_utf8_lossy(&bytes);
        match is_cut {
            // A letter that was cut in two is no fault of the program.
            true => text.trim_start_matches('\u{FFFD}').to_owned(),
            false => text.into_owned(),
        }
    }

    /// The last line that says something, for a cause.
    pub(super) fn last_line(&self) -> Option<String> {
        let text = self.text();
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(line.trim().chars().take(300).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_is_kept_and_all_of_it_is_read() {
        let tail = Tail::new(20);
        let text = format!("{}\nlast 가 line\n\n", "x".repeat(100_000));
        tail.drain(text.as_bytes()).await;
        assert_eq!(tail.text(), "xxxx\nlast 가 line\n\n");
        assert_eq!(tail.last_line().as_deref(), Some("last 가 line"));
        tail.drain(&b"ab"[..]).await;
        assert!(tail.text().ends_with("line\n\nab") && tail.text().len() <= 20);
    }
}
