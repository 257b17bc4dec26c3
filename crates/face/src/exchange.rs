//! One request and what comes back for it: messages that go before the answer, and the answer.

use std::future::Future;
use std::pin::Pin;
use tokio::sync::mpsc;

/// The last message for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// The HTTP status it goes out with, where it goes out over HTTP.
    pub status: u16,
}

impl Answer {
    pub fn new(text: String) -> Self {
        Answer { text, status: 200 }
    }
}

pub enum Step {
    Said(String),
    Done(Answer),
}

pub(crate) type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A request under way, worked on by whoever asks for its next step.
pub struct Exchange {
    said: mpsc::Receiver<String>,
    work: Option<Work>,
    /// Whether it goes on when nobody waits for it any more: a legacy client that is cut off has not cancelled.
    goes_on: bool,
}

impl Exchange {
    pub(crate) fn new(said: mpsc::Receiver<String>, work: Work, goes_on: bool) -> Self {
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
            Some(said) = self.said.recv() => return Step::Said(said),
            answer = work => answer,
        };
        // The rest of what was said, then the answer: it is kept as work that is done.
        if let Ok(said) = self.said.try_recv() {
            self.work = Some(Box::pin(std::future::ready(answer)));
            return Step::Said(said);
        }
        self.work = None;
        Step::Done(answer)
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
