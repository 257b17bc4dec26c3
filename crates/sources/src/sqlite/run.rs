//! Hands a job to a blocking thread and waits for it no longer than the call does.

use super::Sqlite;
use super::heavy::DEEP_STACK_BYTES;
use super::perform::{Job, Stop, Work, perform};
use super::quick;
use crate::answer::Answer;
use crate::error::Error;
use crate::source::Call;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio::sync::oneshot;
use tokio::time::sleep_until;

/// Tells the thread that nobody waits any more, however the waiting ended.
struct Unwanted(Arc<Stop>);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.unwanted.store(true, Ordering::Relaxed);
    }
}

pub(super) async fn run(source: &Arc<Sqlite>, call: &Call, job: Job) -> Result<Answer, Error> {
    if let Some(answer) = quick::attempt(source, &job) {
        return Ok(answer);
    }
    let room = match job.care.is_deep {
        true => Room::Deep,
        false => Room::Usual,
    };
    let job = Arc::new(job);
    if let Some(answer) = attempt(source, call, room, Arc::clone(&job)).await? {
        return Ok(answer);
    }
    let deeper = Job {
        care: job.care.deepened(),
        ..Job::clone(&job)
    };
    let answer = attempt(source, call, Room::Deep, Arc::new(deeper)).await?;
    answer.ok_or_else(|| Error::unavailable("the query ended without an answer"))
}

/// Nothing if there is not enough room for what the file does by itself, which shows only once it is open.
async fn attempt(
    source: &Arc<Sqlite>,
    call: &Call,
    room: Room,
    job: Arc<Job>,
) -> Result<Option<Answer>, Error> {
    within(source, call, room, move |source, stop| {
        let work = |connection: &rusqlite::Connection| {
            if room == Room::Usual && source.hides_depth(connection, job.work)? {
                return Ok(Ok(None));
            }
            let began = Instant::now();
            let answer = perform(connection, &job, stop)?;
            if let (Some(memo), Room::Usual, true) = (&job.recurs, room, answer.is_ok()) {
                quick::note(memo, source, &job.sql, began.elapsed());
            }
            Ok(answer.map(Some))
        };
        match job.work {
            Work::Write | Work::LookAtWrite => source.with_writer(work)?,
            Work::Read | Work::Explain => source.with_reader(work)?,
        }
    })
    .await
}

/// How much stack a thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Usual,
    Deep,
}

/// Runs something on a blocking thread, in this tool's share of them, until the deadline.
pub(super) async fn within<T: Send + 'static>(
    source: &Arc<Sqlite>,
    call: &Call,
    room: Room,
    work: impl FnOnce(&Sqlite, &Arc<Stop>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let stop = Arc::new(Stop {
        deadline: call.deadline.into_std(),
        unwanted: AtomicBool::new(false),
        too_much: AtomicBool::new(false),
    });
    let share = tokio::select! {
        biased;
        () = call.cancel.cancelled() => return Err(Error::Cancelled),
        share = source.shares.take(&call.tool) => share,
        () = sleep_until(call.deadline) => return Err(Error::Deadline),
    };
    let _unwanted = Unwanted(Arc::clone(&stop));
    let source = Arc::clone(source);
    let work = move || {
        let done = work(&source, &stop);
        // Held as long as the thread is, even if its caller has long gone.
        drop(share);
        done
    };
    let thread = async {
        match room {
            Room::Usual => tokio::task::spawn_blocking(work).await.ok(),
            Room::Deep => deeply(work)?.await.ok(),
        }
    };
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => Err(Error::Cancelled),
        done = thread => done.unwrap_or_else(|| Err(Error::unavailable("the query ended without an answer"))),
        () = sleep_until(call.deadline) => Err(Error::Deadline),
    }
}

/// On a thread of its own: those that are kept have no such stack. What is not used of it takes no memory.
fn deeply<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<oneshot::Receiver<T>> {
    let (told, heard) = oneshot::channel();
    let thread = std::thread::Builder::new().stack_size(DEEP_STACK_BYTES);
    let started = thread.spawn(move || drop(told.send(work())));
    started.ok().map(|_| heard)
}
