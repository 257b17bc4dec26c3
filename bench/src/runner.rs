//! The bare runners: what a program, a warm Python process and a sealed expression cost on their own, without a server
//! around them. The figures that the kinds of tool are held against.

use crate::{Failure, print_line};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

#[derive(Args)]
pub(crate) struct RunnerArgs {
    kind: RunnerKind,
    #[arg(long, default_value_t = 3000)]
    calls: usize,
    /// The toolcrib program, for expressions: its worker is asked directly
    #[arg(long)]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum RunnerKind {
    /// `/bin/true`, started and waited for
    Shell,
    /// A Python process that answers JSON lines
    Python,
    /// A Python process for each call
    PythonProcess,
    /// The sealed worker, asked over its socket
    Expression,
}

/// What the tools under test do, without anything around it.
const LOOP: &str = "import sys, json\nfor line in sys.stdin:\n    sys.stdout.write(json.dumps({'result': json.loads(line)['n'] + 1}) + '\\n')\n    sys.stdout.flush()\n";

pub(crate) fn run(args: &RunnerArgs) -> Result<(), Failure> {
    let told = |error: std::io::Error| format!("the bare runner failed: {error}");
    let mut times = match args.kind {
        RunnerKind::Shell => timed(args.calls, || {
            Command::new("/bin/true")
                .stdin(Stdio::null())
                .status()
                .map(drop)
        }),
        RunnerKind::PythonProcess => timed(args.calls, || {
            let mut child = start(Command::new("python3").args(["-c", LOOP]))?;
            ask_line(&mut child)?;
            drop(child.stdin.take());
            child.wait().map(drop)
        }),
        RunnerKind::Python => {
            let mut child = start(Command::new("python3").args(["-c", LOOP])).map_err(told)?;
            let mut stdout = BufReader::new(child.stdout.take().ok_or("no pipe")?);
            let mut stdin = child.stdin.take().ok_or("no pipe")?;
            let times = timed(args.calls, || {
                stdin.write_all(b"{\"n\": 41}\n")?;
                stdout.read_line(&mut String::new()).map(drop)
            });
            drop(stdin);
            child.wait().map_err(told)?;
            times
        }
        RunnerKind::Expression => {
            let program = args.program.as_ref().ok_or("--program is needed")?;
            expression(program, args.calls)
        }
    }
    .map_err(told)?;
    times.sort_by(f64::total_cmp);
    let p50 = times[times.len() / 2];
    print_line(&json!({"p50_us": p50, "calls": times.len()}).to_string())
}

fn timed(calls: usize, mut call: impl FnMut() -> std::io::Result<()>) -> std::io::Result<Vec<f64>> {
    let mut times = Vec::with_capacity(calls);
    // The first ones warm everything up.
    for i in 0..calls + calls / 10 + 1 {
        let began = Instant::now();
        call()?;
        if i > calls / 10 {
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(times)
}

fn start(command: &mut Command) -> std::io::Result<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

fn ask_line(child: &mut Child) -> std::io::Result<()> {
    let stdin = child.stdin.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
    stdin.write_all(b"{\"n\": 41}\n")?;
    let stdout = child
        .stdout
        .as_mut()
        .ok_or(std::io::ErrorKind::BrokenPipe)?;
    BufReader::new(stdout)
        .read_line(&mut String::new())
        .map(drop)
}

fn expression(program: &PathBuf, calls: usize) -> std::io::Result<Vec<f64>> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let mut child = Command::new(program)
        .args(["__worker", "expression", &std::process::id().to_string()])
        .env_clear()
        .env("MIMALLOC_ARENA_RESERVE", "65536")
        .stdin(OwnedFd::from(theirs.try_clone()?))
        .stdout(OwnedFd::from(theirs))
        .spawn()?;
    let source = b"num1 * num2";
    let arguments = br#"{"num1":6,"num2":7}"#;
    let mut question = Vec::new();
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
    question.extend_from_slice(&1000_u32.to_le_bytes());
    question.extend_from_slice(&length(source));
    question.extend_from_slice(source);
    question.extend_from_slice(arguments);
    let framed = [&length(&question), question.as_slice()].concat();
    let mut answer = [0; 256];
    let times = timed(calls, || {
        ours.write_all(&framed)?;
        match ours.read(&mut answer)? {
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            n if answer[..n].ends_with(b"42") => Ok(()),
            _ => Err(std::io::ErrorKind::InvalidData.into()),
        }
    });
    drop(ours);
    child.wait()?;
    times
}
