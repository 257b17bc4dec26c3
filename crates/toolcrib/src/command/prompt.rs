//! Lines that somebody types at a prompt. They are read aside: nothing else ends a read that has begun, and whoever waits for a
//! line may stop waiting.

use rustix::termios::{QueueSelector, tcflush};
use std::io::{BufRead, Write};
use std::sync::mpsc::{Sender, channel};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The lines of the terminal, one at a time: what is typed while nothing is asked stays there for whoever reads next.
#[derive(Default)]
pub(super) struct Lines {
    reader: Option<Reader>,
    /// Whether a line is being read that nobody has taken yet.
    is_reading: bool,
}

struct Reader {
    wants: Sender<()>,
    typed: UnboundedReceiver<String>,
}

impl Lines {
    /// The next line; none where they have gone. Whoever stops waiting for it loses nothing.
    pub(super) async fn next(&mut self) -> Option<String> {
        let reader = self.reader.get_or_insert_with(Reader::begun);
        if !self.is_reading {
            reader.wants.send(()).ok()?;
            self.is_reading = true;
        }
        let line = reader.typed.recv().await;
        self.is_reading = false;
        line
    }

    /// Drops what is typed but not taken: it was meant for a question that is not asked any more, and must not answer the next.
    pub(super) fn forget(&mut self) {
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
        let taken = self.reader.as_mut().and_then(|it| it.typed.try_recv().ok());
        self.is_reading &= taken.is_none();
    }
}

impl Reader {
    fn begun() -> Self {
        let (wants, wanted) = channel();
        let (tell, typed) = unbounded_channel();
        std::thread::spawn(move || {
            for () in wanted {
                let mut line = String::new();
                let read = std::io::stdin().lock().read_line(&mut line);
                let is_there = read.is_ok_and(|bytes| bytes > 0);
                if !is_there || tell.send(line.trim().to_owned()).is_err() {
                    return;
                }
            }
        });
        Reader { wants, typed }
    }
}

/// Shows what is asked for, with room behind it for the answer.
pub(super) fn show(prompt: &str) {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{prompt}").and_then(|()| err.flush());
}
