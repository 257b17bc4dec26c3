//! The calculator's worker processes: fend can neither be interrupted everywhere nor bounded in memory and stack,
//! so it runs beside the server, and whoever stops waiting kills it. What they say to each other is in `lines.rs`.

use super::lines::{Outcome, Stopped, question, read_answer};
use std::io::{self, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, oneshot};

/// The program's first argument where it is to be a worker and nothing else.
pub const WORKER_COMMAND: &str = "__worker";
/// The second: which worker.
pub const CALCULATOR: &str = "calculator";

/// The allocator takes a gigabyte of addresses at a time unless told otherwise, which is more than a worker may have.
const ARENA_VARIABLE: &str = "MIMALLOC_ARENA_RESERVE";
const ARENA_KIB: &str = "65536";

/// At most a few workers; each is started when it is first needed and then stays.
pub(super) struct Pool {
    program: PathBuf,
    free: Semaphore,
    idle: Mutex<Vec<Seat>>,
}

impl Pool {
    pub(super) fn new(program: PathBuf) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Pool {
            program,
            // Two even on one core, so that one endless calculation does not hold up everybody.
            free: Semaphore::new(cores.clamp(2, 4)),
            idle: Mutex::default(),
        }
    }

    /// Evaluates in a free worker, or waits for one. Dropping the future kills the worker that is at it.
    pub(super) async fn evaluate(&self, expression: &str) -> Outcome {
        let none_left = |error: &dyn std::fmt::Display| Stopped::NoWorker(error.to_string());
        let _permit = self.free.acquire().await.map_err(|e| none_left(&e))?;
        let idle = held(&self.idle).pop();
        let seat = match idle {
            Some(seat) => seat,
            None => Seat::start(&self.program).map_err(|e| none_left(&e))?,
        };
        let (reply, answer) = oneshot::channel();
        let job = Job {
            line: question(expression),
            reply,
        };
        // Where the thread is gone, the job goes with it, and waiting for its answer says so.
        let _ = seat.jobs.send(job);
        let mut waiting = Waiting {
            pool: self,
            seat: Some(seat),
            answer,
        };
        match (&mut waiting.answer).await {
            Ok(outcome) => outcome,
            Err(gone) => {
                waiting.seat = None;
                Err(none_left(&gone))
            }
        }
    }
}

/// One worker and the thread that feeds it. The thread starts the worker because the kernel ends a worker together
/// with the *thread* that started it, and this one lives as long as the server.
struct Seat {
    jobs: Sender<Job>,
    running: Arc<Mutex<Running>>,
}

struct Job {
    line: String,
    reply: oneshot::Sender<Outcome>,
}

/// What the thread and the one who waits for an answer share.
#[derive(Default)]
struct Running {
    child: Option<Child>,
    /// Whether the worker has been, or is about to be, given an expression. Whoever kills it meanwhile clears this.
    busy: bool,
}

impl Seat {
    fn start(program: &Path) -> io::Result<Self> {
        let (jobs, waiting) = channel();
        let running = Arc::<Mutex<Running>>::default();
        let feeder = Feeder {
            program: program.to_owned(),
            running: Arc::clone(&running),
            pipes: None,
        };
        std::thread::Builder::new()
            .name("calculator".to_owned())
            .spawn(move || feeder.feed(&waiting))?;
        Ok(Seat { jobs, running })
    }
}

/// A seat in use. The executor stops a call by dropping its future, so here the end has to be a `Drop`.
struct Waiting<'a> {
    pool: &'a Pool,
    seat: Option<Seat>,
    answer: oneshot::Receiver<Outcome>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(seat) = self.seat.take() else { return };
        // Closed first and looked at second; the feeder does it the other way round, so one of both sees the other.
        self.answer.close();
        let mut running = held(&seat.running);
        if std::mem::take(&mut running.busy)
            && let Some(child) = &mut running.child
        {
            let _ = child.kill();
        }
        drop(running);
        held(&self.pool.idle).push(seat);
    }
}

/// The thread's side of a seat.
struct Feeder {
    program: PathBuf,
    running: Arc<Mutex<Running>>,
    pipes: Option<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Feeder {
    fn feed(mut self, jobs: &Receiver<Job>) {
        for Job { line, reply } in jobs {
            if let Some(outcome) = self.answer(&line, &reply) {
                let _ = reply.send(outcome);
            }
        }
        self.end_worker();
    }

    /// None where nobody waits for the answer any more.
    fn answer(&mut self, line: &str, reply: &oneshot::Sender<Outcome>) -> Option<Outcome> {
        // A worker that died while it was idle is replaced unnoticed: it has not seen the expression.
        for _ in 0..2 {
            if let Err(error) = self.ensure_worker() {
                return Some(Err(Stopped::NoWorker(error.to_string())));
            }
            {
                let mut running = held(&self.running);
                if reply.is_closed() {
                    return None;
                }
                running.busy = true;
            }
            let (stdin, stdout) = self.pipes.as_mut()?;
            if stdin.write_all(line.as_bytes()).is_err() {
                self.end_worker();
                continue;
            }
            let answer = read_answer(stdout);
            let was_killed = !std::mem::take(&mut held(&self.running).busy);
            // One that was killed just after it answered must not be given the next expression.
            if answer.is_none() || was_killed {
                self.end_worker();
            }
            return Some(answer.unwrap_or(Err(Stopped::TooMuch)));
        }
        Some(Err(Stopped::NoWorker("a new worker ended at once".into())))
    }

    fn ensure_worker(&mut self) -> io::Result<()> {
        if self.pipes.is_some() {
            return Ok(());
        }
        let mut child = Command::new(&self.program)
            .arg0("toolcrib")
            .args([WORKER_COMMAND, CALCULATOR])
            // Lets it see that its parent died before it could ask to be told.
            .arg(std::process::id().to_string())
            .env_clear()
            .env(ARENA_VARIABLE, ARENA_KIB)
            .current_dir("/")
            // Ctrl-C in a terminal asks the server to finish what runs, so it must not reach the worker.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        self.pipes = child
            .stdin
            .take()
            .zip(child.stdout.take().map(BufReader::new));
        held(&self.running).child = Some(child);
        Ok(())
    }

    /// Takes the worker out of reach before it is reaped: from then on its process id may be somebody else's.
    fn end_worker(&mut self) {
        self.pipes = None;
        let child = {
            let mut running = held(&self.running);
            running.busy = false;
            running.child.take()
        };
        if let Some(mut child) = child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What is guarded here is whole between any two statements, so a panic elsewhere spoils nothing.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
