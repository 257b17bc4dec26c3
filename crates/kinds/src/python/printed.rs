//! What one call prints: everything between the two marks that the runner puts around it. What comes before or behind is
//! nobody's: a thread that was left behind printed it.

use super::PRINTED_BYTES_MAX;
use process::Captured;
use tokio::io::{AsyncRead, AsyncReadExt};

pub(super) struct Printed {
    pub(super) captured: Captured,
    /// All that was read.
    pub(super) total: u64,
    begin: Vec<u8>,
    end: Vec<u8>,
    /// What may still be the beginning of a mark.
    tail: Vec<u8>,
    has_begun: bool,
    pub(super) is_whole: bool,
}

impl Printed {
    pub(super) fn of(mark: &str) -> Self {
        Printed {
            captured: Captured::default(),
            total: 0,
            begin: format!("\0begin {mark}\0\n").into_bytes(),
            end: format!("\0end {mark}\0\n").into_bytes(),
            tail: Vec::new(),
            has_begun: false,
            is_whole: false,
        }
    }

    pub(super) async fn read(&mut self, from: &mut (impl AsyncRead + Unpin)) {
        let mut chunk = [0; 16 * 1024];
        match from.read(&mut chunk).await {
            Ok(n) if n > 0 => self.add(&chunk[..n]),
            // It has closed its stderr.
            _ => self.is_whole = true,
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.tail.extend_from_slice(bytes);
        if !self.has_begun {
            match find(&self.tail, &self.begin) {
                Some(at) => {
                    self.tail.drain(..at + self.begin.len());
                    self.has_begun = true;
                }
                None => {
                    let done = self.tail.len().saturating_sub(self.begin.len());
                    self.tail.drain(..done);
                    return;
                }
            }
        }
        if let Some(at) = find(&self.tail, &self.end) {
            self.captured.add(&self.tail[..at], PRINTED_BYTES_MAX);
            self.is_whole = true;
            return;
        }
        let done = self.tail.len().saturating_sub(self.end.len());
        self.captured.add(&self.tail[..done], PRINTED_BYTES_MAX);
        self.tail.drain(..done);
    }
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|&byte| byte == 0) {
        if bytes[from + at..].starts_with(mark) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_are_found_wherever_they_are_cut() {
        let text = b"before\0begin m\0\na\0\0b\0end x\0\n\0end m\0\nlater";
        for size in 1..text.len() {
            let mut printed = Printed::of("m");
            for chunk in text.chunks(size) {
                if !printed.is_whole {
                    printed.add(chunk);
                }
            }
            assert!(printed.is_whole, "{size}");
            assert_eq!(printed.captured.bytes, b"a\0\0b\0end x\0\n", "{size}");
        }
    }
}
