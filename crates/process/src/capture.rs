//! Reading what a program prints: all of it, so that it never waits for us, but only the beginning is kept.

use std::os::fd::AsFd;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The most that a pipe can hold at once.
const PIPE_BYTES_MAX: u64 = 1 << 20;

/// What was printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The beginning.
    pub bytes: Vec<u8>,
    /// How much there was in all.
    pub total: u64,
}

impl Captured {
    /// Reads to the end and keeps at most `most` bytes. What breaks is the end.
    pub async fn read(mut from: impl AsyncRead + Unpin, most: usize) -> Self {
        let mut captured = Captured::default();
        let mut chunk = vec![0; 16 * 1024];
        loop {
            match from.read(&mut chunk).await {
                Ok(0) | Err(_) => return captured,
                Ok(n) => captured.add(&chunk[..n], most),
            }
        }
    }

    /// Adds what is there already, without waiting for more. `from` is not one that blocks.
    pub fn add_waiting(&mut self, from: &impl AsFd, most: usize) {
        let mut chunk = [0; 4096];
        let before = self.total;
        // Somebody who never stops printing is not waited for either.
        while self.total - before < PIPE_BYTES_MAX {
            match rustix::io::read(from, &mut chunk) {
                Ok(n) if n > 0 => self.add(&chunk[..n], most),
                _ => return,
            }
        }
    }

    pub fn add(&mut self, bytes: &[u8], most: usize) {
        let room = most.saturating_sub(self.bytes.len());
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.total += bytes.len() as u64;
    }

    pub fn is_cut(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// As text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        match self.is_cut() {
            // A letter that was cut in two is no fault of the program.
            true => text.trim_end_matches('\u{FFFD}').to_owned(),
            false => text.into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_beginning_is_kept_and_all_of_it_is_read() {
        let text = "가".repeat(100_000);
        let captured = Captured::read(text.as_bytes(), 100).await;
        assert_eq!(captured.total, 300_000);
        assert!(captured.is_cut());
        assert_eq!(captured.text(), "가".repeat(33), "whole letters");
        let short = Captured::read(&b"a\xffb"[..], 100).await;
        assert_eq!(
            (short.text().as_str(), short.is_cut()),
            ("a\u{FFFD}b", false)
        );
    }
}
