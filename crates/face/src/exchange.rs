//! One request and what comes back for it: messages that go before the answer, and the answer.

use bytes::Bytes;
use executor::line::Receiver;
use std::future::Future;
use std::pin::{Pin, pin};

/// A text whose end may be shared with others: what is long and the same for many is not copied for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    pub(crate) own: String,
    /// In UTF-8. It comes last, so that all goes out at once: behind something long, a few bytes more would be a message
    /// of their own.
    pub(crate) shared: Bytes,
}

impl Text {
    pub fn is_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    pub fn pieces(self) -> [Bytes; 2] {
        [self.own.into(), self.shared]
    }

    pub fn into_string(mut self) -> String {
        self.own
            .push_str(str::from_utf8(&self.shared).unwrap_or_default());
        self.own
    }
}

impl From<String> for Text {
    fn from(own: String) -> Self {
        Text {
            own,
            shared: Bytes::new(),
        }
    }
}

/// The last message for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub text: Text,
    /// The HTTP status it goes out with, where it goes out over HTTP.
    pub status: u16,
}

impl Answer {
    pub(crate) fn new(text: impl Into<Text>) -> Self {
        Answer {
            text: text.into(),
            status: 200,
        }
    }
}

pub enum Step {
    Said(String),
    Done(Answer),
}

pub(crate) type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A request under way, worked on by whoever asks for its next step.
pub struct Exchange {
    said: Receiver<String>,
    work: Option<Work>,
    /// Whether it goes on when nobody waits for it any more: a legacy client that is cut off has not cancelled.
    goes_on: bool,
}

impl Exchange {
    pub(crate) fn new(said: Receiver<String>, work: Work, goes_on: bool) -> Self {
        Exchange {
            said,
            work: Some(work),
            goes_on,
        }
    }

    /// What comes next; after the answer, never anything.
    pub async fn next(&mut self) -> Step {
        let Some(work) = self.work.as_mut() else {
            return std::future::pending().await;
        };
        let answer = tokio::select! {
            // What was said before the answer goes before it.
            biased;
            said = self.said.recv() => return Step::Said(said),
            answer = work => answer,
        };
        // The rest of what was said, then the answer: it is kept as work that is done.
        if let Some(said) = self.said.try_recv() {
            self.work = Some(Box::pin(std::future::ready(answer)));
            return Step::Said(said);
        }
        self.work = None;
        Step::Done(answer)
    }

    /// Goes on with the work for as long as `sending` takes: a client that does not read stops neither a deadline nor
    /// an end.
    pub async fn beside<T>(&mut self, sending: impl Future<Output = T>) -> T {
        let mut sending = pin!(sending);
        let Some(work) = self.work.as_mut() else {
            return sending.await;
        };
        let answer = tokio::select! {
            biased;
            sent = &mut sending => return sent,
            answer = work => answer,
        };
        self.work = Some(Box::pin(std::future::ready(answer)));
        sending.await
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if let (true, Some(work)) = (self.goes_on, self.work.take())
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(work);
        }
    }
}
