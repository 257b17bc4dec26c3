//! The worker's side of a sealed worker: this program once more, with no files, no network, no other programs and a
//! bounded memory; all it has is the socket it was started with. There it reads a question and writes an answer, one
//! after the other, each with its length before it, until the socket closes.

use crate::bounds::{Bounds, end_with_parent};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope,
};
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

/// The longest question and the longest answer.
pub const MESSAGE_BYTES_MAX: u32 = 96 << 20;

/// What a sealed worker may use.
#[derive(Debug, Clone, Copy)]
pub struct Seal {
    pub address_bytes: u64,
    pub stack_bytes: usize,
}

/// All that a program needs that only computes. Anything else is refused as if by a missing right, which is also what
/// happens to a library that looks for a file of its own.
const ALLOWED: [i64; 33] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getrusage,
    libc::SYS_tgkill,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Answers until the socket closes. `arguments` = PARENT, the process that this one ends with.
pub fn serve<A>(
    mut arguments: impl Iterator<Item = OsString>,
    seal: Seal,
    answer: A,
) -> Option<ExitCode>
where
    A: FnMut(&[u8]) -> Vec<u8> + Send + 'static,
{
    let parent = arguments.next()?.to_str()?.parse().ok()?;
    // One at an endless computation never sees its socket close.
    end_with_parent(parent, Signal::KILL).ok()?;
    shut_off(seal).ok()?;
    let (questions, answers) = (own(&io::stdin()).ok()?, own(&io::stdout()).ok()?);
    let thread = std::thread::Builder::new().stack_size(seal.stack_bytes);
    let answering = thread.spawn(move || {
        refuse_calls()?;
        answer_all(questions, answers, answer)
    });
    Some(match answering.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn own(stream: &impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

fn answer_all(
    questions: File,
    mut answers: File,
    mut answer: impl FnMut(&[u8]) -> Vec<u8>,
) -> io::Result<()> {
    let mut questions = BufReader::with_capacity(64 << 10, questions);
    let mut question = Vec::new();
    let mut length = [0; 4];
    loop {
        match questions.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        question.resize(u32::from_le_bytes(length) as usize, 0);
        questions.read_exact(&mut question)?;
        let said = answer(&question);
        answers.write_all(&framed(&said))?;
        // What was large once need not stay.
        question.shrink_to(64 << 10);
    }
}

/// A message with its length before it, so that it is one write. Too long a message is cut off by its length, which
/// whoever reads it refuses.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let mut framed = Vec::with_capacity(4 + message.len());
    framed.extend_from_slice(&length.to_le_bytes());
    framed.extend_from_slice(message);
    framed
}

/// Bounds, and files and network out of reach as far as this kernel can put them there. Where it cannot, what runs in
/// here still has no way to ask for them.
fn shut_off(seal: Seal) -> io::Result<()> {
    let bounds = Bounds {
        address_bytes: Some(seal.address_bytes),
        files: Some(16),
        ..Bounds::default()
    };
    bounds.apply()?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let closed = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V6))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(ABI::V6)))
        .and_then(|rules| rules.scope(Scope::from_all(ABI::V6)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    // No rule is added: nothing is allowed.
    closed.map(drop).map_err(io::Error::other)
}

fn refuse_calls() -> io::Result<()> {
    let allowed: BTreeMap<i64, Vec<_>> =
        ALLOWED.into_iter().map(|call| (call, Vec::new())).collect();
    let refusal = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let architecture = std::env::consts::ARCH
        .try_into()
        .map_err(io::Error::other)?;
    let filter = SeccompFilter::new(allowed, refusal, SeccompAction::Allow, architecture);
    let program: BpfProgram = filter
        .and_then(TryInto::try_into)
        .map_err(io::Error::other)?;
    // Where the kernel has no filters, see `shut_off`.
    let _ = seccompiler::apply_filter_all_threads(&program);
    Ok(())
}
