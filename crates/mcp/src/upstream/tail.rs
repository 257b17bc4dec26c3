//! The end of what a program writes to stderr. All of it is read, so that the program never waits for us.

use super::locked;
use super::secrets::Secrets;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt};

/// What is shown between the words of two programs.
const STARTED_AGAIN: &str = "[it was started again here]\n";

pub(super) struct Tail {
    bytes: Mutex<VecDeque<u8>>,
    /// Of the program before: why that one ended is asked after the next has begun.
    before: Mutex<String>,
    bytes_max: usize,
    /// Of what the program was given, it may say anything.
    secrets: Arc<Secrets>,
}

impl Tail {
    pub(super) fn new(bytes_max: usize, secrets: Arc<Secrets>) -> Self {
        Tail {
            bytes: Mutex::default(),
            before: Mutex::default(),
            bytes_max,
            secrets,
        }
    }

    fn clear(&self) {
        locked(&self.bytes).clear();
    }

    /// A new program begins; what the last one said is kept beside it. One that said nothing is no reason to forget.
    pub(super) fn begin(&self) {
        let last = self.text();
        if !last.is_empty() {
            *locked(&self.before) = last;
            self.clear();
        }
    }

    /// For people: what the program says, after what the one before said last.
    pub(super) fn shown(&self) -> String {
        let (mut shown, now) = (locked(&self.before).clone(), self.text());
        // One that ends in the same way each time need not say so twice.
        if shown == now || shown.is_empty() || now.is_empty() {
            return if now.is_empty() { shown } else { now };
        }
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown + STARTED_AGAIN + &now
    }

    /// Reads to the end. What begins with `mark` is its supervisor's and given back: it is no word of the program, and
    /// another may have begun to speak here.
    pub(super) async fn drain(&self, mut from: impl AsyncRead + Unpin, mark: &str) -> String {
        let mark = mark.as_bytes();
        let mut chunk = vec![0; 8 << 10];
        let mut head = Vec::new();
        while let Ok(n @ 1..) = from.read(&mut chunk).await {
            let piece = &chunk[..n];
            let of_mark = head.len().min(mark.len());
            let may_be_marked = head[..of_mark] == mark[..of_mark];
            if !may_be_marked {
                self.add(piece);
                continue;
            }
            let before = head.len();
            head.extend(&piece[..n.min(self.bytes_max.saturating_sub(before))]);
            let of_mark = head.len().min(mark.len());
            if head[..of_mark] != mark[..of_mark] {
                self.add(&head[..before]);
                self.add(piece);
            }
        }
        match head.starts_with(mark) {
            true => String::from_utf8_lossy(&head).into_owned(),
            false => {
                if mark.starts_with(&head) {
                    self.add(&head);
                }
                String::new()
            }
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
            true => self.secrets.out_of_end(text.trim_start_matches('\u{FFFD}')),
            false => self.secrets.out_of(text.into_owned()),
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
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn the_end_is_kept_and_all_of_it_is_read() {
        let tail = Tail::new(20, Arc::default());
        let text = format!("{}\nlast 가 line\n\n", "x".repeat(100_000));
        tail.drain(text.as_bytes(), "mark ").await;
        assert_eq!(tail.text(), "xxxx\nlast 가 line\n\n");
        assert_eq!(tail.last_line().as_deref(), Some("last 가 line"));
        tail.drain(&b"ab"[..], "mark ").await;
        assert!(tail.text().ends_with("line\n\nab") && tail.text().len() <= 20);
        let tail = Tail::new(20, Arc::default());
        tail.drain(&b"a long story in one go\nthe end"[..], "mark ")
            .await;
        assert_eq!(tail.last_line().as_deref(), Some("the end"));
    }

    #[tokio::test]
    async fn words_of_the_supervisor_are_told_apart() {
        for pieces in [
            &["mark no such file"][..],
            &["ma", "rk no such", " file"][..],
        ] {
            let tail = Tail::new(100, Arc::default());
            tail.drain(&b"another program"[..], "other ").await;
            let (mut to, from) = tokio::io::duplex(64);
            let write = async move {
                for piece in pieces {
                    to.write_all(piece.as_bytes()).await.unwrap();
                    tokio::task::yield_now().await;
                }
            };
            let (said, ()) = tokio::join!(tail.drain(from, "mark "), write);
            assert_eq!(said, "mark no such file");
            assert_eq!(tail.text(), "another program");
        }
        for text in ["ma", "made up", "x mark y"] {
            let tail = Tail::new(100, Arc::default());
            assert_eq!(tail.drain(text.as_bytes(), "mark ").await, "");
            assert_eq!(tail.text(), text);
        }
    }

    #[tokio::test]
    async fn what_a_program_said_last_outlives_it() {
        let tail = Tail::new(100, Arc::default());
        tail.drain(&b"panic: no disk"[..], "mark ").await;
        tail.begin();
        assert_eq!(tail.shown(), "panic: no disk");
        assert_eq!(
            tail.last_line(),
            None,
            "it is not the cause of what follows"
        );
        tail.begin();
        tail.drain(&b"ready\n"[..], "mark ").await;
        assert_eq!(
            tail.shown(),
            "panic: no disk\n[it was started again here]\nready\n"
        );
    }
}
