//! The server's side of sealed workers: a few of one sort, started when they are first needed. One question at a time
//! each; whoever stops waiting for an answer ends the worker that is at it.

use crate::WORKER_COMMAND;
use crate::sealed::{MESSAGE_BYTES_MAX, framed};
use crate::spawn::Spawner;
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

/// The allocator takes a gigabyte of addresses at a time unless told otherwise, which is more than a worker may have.
const ARENA: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "65536");

/// How long an answer is looked for before the thread is given to somebody else: most answers are there by then, and
/// to be woken takes longer than to compute them.
const LOOK: Duration = Duration::from_micros(40);

/// After so many answers a worker makes room for a fresh one.
const ANSWERS_MAX: u32 = 20_000;

/// Why there is no answer.
#[derive(Debug)]
pub enum Stopped {
    /// The worker ended at this question: it crashed, needed more memory than it may have, or answered nonsense.
    Died,
    /// The limit was reached first.
    Late,
    /// No worker could be started; the reason is for the operator.
    NoWorker(io::Error),
}

pub struct Pool {
    spawner: Arc<Spawner>,
    /// Which worker: the program's second argument.
    worker: &'static str,
    free: Semaphore,
    idle: Mutex<Vec<Seat>>,
}

struct Seat {
    /// Ended when it is dropped.
    _child: Child,
    stream: UnixStream,
    answers: u32,
}

impl Pool {
    pub fn new(spawner: Arc<Spawner>, worker: &'static str) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Pool {
            spawner,
            worker,
            // Two even on one core, so that one endless computation does not hold up everybody.
            free: Semaphore::new(cores.clamp(2, 4)),
            idle: Mutex::default(),
        }
    }

    /// Asks a free worker, or waits for one. Dropping the future ends the worker that is at it.
    pub async fn ask(&self, question: &[u8]) -> Result<Vec<u8>, Stopped> {
        let _permit = self.turn().await?;
        self.asked(question).await
    }

    /// The same with a limit, which begins when a worker is free.
    pub async fn ask_within(&self, question: &[u8], limit: Duration) -> Result<Vec<u8>, Stopped> {
        let _permit = self.turn().await?;
        let answer = tokio::time::timeout(limit, self.asked(question)).await;
        answer.unwrap_or(Err(Stopped::Late))
    }

    async fn turn(&self) -> Result<tokio::sync::SemaphorePermit<'_>, Stopped> {
        let none = |_| Stopped::NoWorker(io::Error::other("the workers are gone"));
        self.free.acquire().await.map_err(none)
    }

    async fn asked(&self, question: &[u8]) -> Result<Vec<u8>, Stopped> {
        let question = framed(question);
        // One that has ended while it was idle is replaced unnoticed: it has not seen the question.
        while let Some(mut seat) = self.take() {
            if seat.write(&question).await.is_ok() {
                return self.answer(seat).await;
            }
        }
        let mut seat = self.start().await.map_err(Stopped::NoWorker)?;
        seat.write(&question).await.map_err(Stopped::NoWorker)?;
        self.answer(seat).await
    }

    async fn answer(&self, mut seat: Seat) -> Result<Vec<u8>, Stopped> {
        let answer = seat.read().await.map_err(|_| Stopped::Died)?;
        seat.answers += 1;
        if seat.answers < ANSWERS_MAX {
            self.lock().push(seat);
        }
        Ok(answer)
    }

    fn take(&self) -> Option<Seat> {
        self.lock().pop()
    }

    async fn start(&self) -> io::Result<Seat> {
        let (ours, theirs) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        let stream = UnixStream::from_std(ours)?;
        let mut command = Command::new(self.spawner.program());
        command
            .arg0("toolcrib")
            .args([WORKER_COMMAND, self.worker])
            // Lets it see that its parent died before it could ask to be told.
            .arg(std::process::id().to_string())
            .env_clear()
            .env(ARENA.0, ARENA.1)
            .current_dir("/")
            // Ctrl-C in a terminal asks the server to finish what runs, so it must not reach the worker.
            .process_group(0)
            .stdin(OwnedFd::from(theirs.try_clone()?))
            .stdout(OwnedFd::from(theirs))
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true);
        Ok(Seat {
            _child: self.spawner.start(command).await?,
            stream,
            answers: 0,
        })
    }

    /// What is guarded here is whole between any two statements, so a panic elsewhere spoils nothing.
    fn lock(&self) -> MutexGuard<'_, Vec<Seat>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    async fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.stream.try_write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.stream.writable().await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut buffer = [0; 4096];
        let first = match self.look(&mut buffer)? {
            Some(n) => n,
            None => self.wait(&mut buffer).await?,
        };
        let mut message = buffer[..first].to_vec();
        while message.len() < 4 {
            let n = self.wait(&mut buffer).await?;
            message.extend_from_slice(&buffer[..n]);
        }
        let (length, _) = message
            .split_first_chunk()
            .ok_or(io::ErrorKind::InvalidData)?;
        let length = u32::from_le_bytes(*length);
        if length > MESSAGE_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let whole = length as usize + 4;
        let mut chunk = if whole > message.len() {
            vec![0; 64 << 10]
        } else {
            Vec::new()
        };
        while message.len() < whole {
            let n = self.wait(&mut chunk).await?;
            message.extend_from_slice(&chunk[..n]);
        }
        // A worker says nothing unasked.
        if message.len() > whole {
            return Err(io::ErrorKind::InvalidData.into());
        }
        message.drain(..4);
        Ok(message)
    }

    /// Reads past the runtime, which would only look once it is told.
    fn look(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let began = Instant::now();
        loop {
            match rustix::io::read(&self.stream, &mut *buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => return Ok(Some(n)),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if began.elapsed() > LOOK {
                return Ok(None);
            }
            // The worker may be waiting for this very core.
            rustix::thread::sched_yield();
        }
    }

    async fn wait(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stream.readable().await?;
            match self.stream.try_read(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }
}
