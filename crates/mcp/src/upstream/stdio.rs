//! A server that is a program of ours: one message a line on its input and output.

use super::connection::{Connection, Loss, Wire};
use super::exchange::Exchange;
use super::fault::Fault;
use super::hooks::Hooks;
use super::lines::{Line, Lines, id_in};
use super::posted::Letter;
use super::tail::Tail;
use super::{Options, Settings, locked};
use process::{Order, Tree};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Messages that wait to be written.
const OUTBOX: usize = 256;

/// How much is written at once.
const BATCH_BYTES: usize = 64 << 10;

/// How long the last words of a program are waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What to start.
pub(super) struct Program<'a> {
    pub(super) command: &'a str,
    pub(super) args: &'a [String],
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) cwd: Option<&'a str>,
}

pub(super) async fn start(
    program: &Program<'_>,
    options: &Options,
    hooks: &Arc<Hooks>,
    tail: &Arc<Tail>,
) -> Result<Arc<Connection>, Fault> {
    tail.begin();
    locked(&hooks.noise).take();
    let failed = |what: &str| Fault::NotSent(not_started(program.command, what));
    let mut tree = options
        .spawner
        .spawn(&order(program, options))
        .await
        .map_err(|error| failed(&error.to_string()))?;
    let streams = (tree.stdin.take(), tree.stdout.take(), tree.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(failed("it has no pipes"));
    };
    let (outbox, letters) = mpsc::channel(OUTBOX);
    let settings = &options.settings;
    let exchange = Exchange::new(Arc::clone(hooks), outbox, settings.calls_max);
    let exchange = Arc::new(exchange);
    let loss = Arc::new(Loss::default());
    let wire = Wire::Stdio { pid: tree.id() };
    let connection = Connection::new(wire, Arc::clone(&exchange), Arc::clone(&loss));
    let end = connection.end.clone();
    let tasks = &connection.tasks;
    let (silent, quiet) = (oneshot::channel(), oneshot::channel());
    tasks.spawn(write(stdin, letters, Arc::clone(&loss), end.clone()));
    tasks.spawn(hear(
        Lines::new(stdout, settings.message_bytes_max),
        Arc::clone(&exchange),
        silent.0,
        end.clone(),
    ));
    let (stderr_tail, mark) = (Arc::clone(tail), tree.mark().to_owned());
    tokio::spawn(async move {
        let said = stderr_tail.drain(stderr, &mark).await;
        let _ = quiet.0.send(said);
    });
    let keeper = Keeper {
        tree,
        exchange,
        loss,
        tail: Arc::clone(tail),
        command: program.command.to_owned(),
        silent: silent.1,
        quiet: quiet.1,
    };
    tasks.spawn(keeper.keep(end, settings.clone()));
    Ok(Arc::new(connection))
}

fn not_started(command: &str, why: &str) -> String {
    format!("its program '{command}' cannot be started: {why}")
}

fn order(program: &Program<'_>, options: &Options) -> Order {
    let own = program.env.iter();
    let own = own.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let is_own = |name: &OsString| {
        name.to_str()
            .is_some_and(|name| program.env.contains_key(name))
    };
    let base = options.environment.iter().filter(|(name, _)| !is_own(name));
    Order {
        program: program.command.into(),
        arguments: program.args.iter().map(OsString::from).collect(),
        environment: base.cloned().chain(own).collect(),
        folder: match program.cwd {
            Some(cwd) => options.folder.join(cwd),
            None => options.folder.clone(),
        },
        ..Order::default()
    }
}

async fn write(
    mut stdin: ChildStdin,
    mut letters: mpsc::Receiver<Letter>,
    loss: Arc<Loss>,
    end: CancellationToken,
) {
    let mut batch = Vec::new();
    let work = async {
        while let Some(letter) = letters.recv().await {
            batch.clear();
            let mut next = Some(letter);
            while let Some(letter) = next {
                if letter.posted.is_none_or(|posted| posted.go()) {
                    batch.extend_from_slice(letter.text.as_bytes());
                    batch.push(b'\n');
                }
                next = match batch.len() < BATCH_BYTES {
                    true => letters.try_recv().ok(),
                    false => None,
                };
            }
            if stdin.write_all(&batch).await.is_err() {
                return loss.say("it does not read any more".to_owned());
            }
            batch.shrink_to(BATCH_BYTES);
        }
    };
    tokio::select! {
        () = work => {}
        () = end.cancelled() => {}
    }
}

async fn hear(
    mut lines: Lines<ChildStdout>,
    exchange: Arc<Exchange>,
    silent: oneshot::Sender<()>,
    end: CancellationToken,
) {
    let work = async {
        while let Ok(Some(line)) = lines.next().await {
            match line {
                Line::Text(text) => drop(exchange.hear(&text, None)),
                Line::TooLong { head, tail } => too_long(&exchange, &head, &tail),
            }
        }
    };
    tokio::select! {
        () = work => {}
        () = end.cancelled() => {}
    }
    let _ = silent.send(());
}

/// Whoever waits for what was too long is told so, where it can be seen who that is.
fn too_long(exchange: &Exchange, head: &[u8], tail: &[u8]) {
    if let Some(id) = id_in(head, tail).or_else(|| exchange.only()) {
        let why = "its answer is longer than may be";
        exchange.answer(id, Err(Fault::Protocol(why.to_owned())));
    }
}

/// Sees to the end of a program.
struct Keeper {
    tree: Tree,
    exchange: Arc<Exchange>,
    loss: Arc<Loss>,
    tail: Arc<Tail>,
    command: String,
    /// Its output has ended.
    silent: oneshot::Receiver<()>,
    /// And its errors, with what its supervisor had to say.
    quiet: oneshot::Receiver<String>,
}

impl Keeper {
    async fn keep(mut self, end: CancellationToken, settings: Settings) {
        let status = tokio::select! {
            biased;
            () = end.cancelled() => {
                // Its input is closed by now, which asks it to end.
                let _ = timeout(settings.close_grace, self.tree.wait()).await;
                return;
            }
            status = self.tree.wait() => {
                // What it said before is worth hearing.
                let _ = timeout(LAST_WORDS, &mut self.silent).await;
                status.ok()
            }
            _ = &mut self.silent => {
                timeout(LAST_WORDS, self.tree.wait()).await.ok().and_then(Result::ok)
            }
            () = self.loss.token.cancelled() => None,
        };
        let said = match status {
            Some(_) => timeout(LAST_WORDS, &mut self.quiet).await.ok(),
            None => None,
        };
        let said = said.and_then(Result::ok).unwrap_or_default();
        let cause = self.cause(status, &said);
        self.exchange.end(&cause);
        self.loss.say(cause);
    }

    /// `said`: by its supervisor.
    fn cause(&self, status: Option<ExitStatus>, said: &str) -> String {
        let Some(status) = status else {
            let known = self.loss.cause();
            return known.unwrap_or_else(|| "it closed its output".to_owned());
        };
        if let Some(why) = self.tree.not_started(status, said) {
            return not_started(&self.command, why.trim_end());
        }
        let how = match (process::spawn::signal_name(status), status.code()) {
            (Some(signal), _) => format!("it was ended by {signal}"),
            (None, Some(code)) => format!("it ended with exit code {code}"),
            (None, None) => "it ended".to_owned(),
        };
        match self.tail.last_line() {
            Some(line) => format!("{how}: {line}"),
            None => how,
        }
    }
}
