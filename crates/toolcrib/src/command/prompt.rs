//! Lines that somebody types at a prompt. They are read aside: nothing else ends a read that has begun, and whoever waits for a
//! line may stop waiting.

use rustix::termios::{QueueSelector, tcflush};
use std::io::{BufRead, Write};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The lines of the terminal, from the first time that one is wanted.
#[derive(Default)]
pub(super) struct Lines {
    typed: Option<UnboundedReceiver<String>>,
}

impl Lines {
    /// The next line; none where they have gone. Whoever stops waiting for it loses nothing.
    pub(super) async fn next(&mut self) -> Option<String> {
        self.typed.get_or_insert_with(read_aside).recv().await
    }

    /// Drops what is typed but not taken: it was meant for a question that is not asked any more, and must not answer the next.
    pub(super) fn forget(&mut self) {
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
        while let Some(Ok(_)) = self.typed.as_mut().map(UnboundedReceiver::try_recv) {}
    }
}

fn read_aside() -> UnboundedReceiver<String> {
    let (tell, typed) = unbounded_channel();
    std::thread::spawn(move || {
        let mut lines = std::io::stdin().lock().lines();
        while let Some(Ok(line)) = lines.next() {
            if tell.send(line.trim().to_owned()).is_err() {
                return;
            }
        }
    });
    typed
}

/// Shows what is asked for, with room behind it for the answer.
pub(super) fn show(prompt: &str) {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{prompt}").and_then(|()| err.flush());
}
