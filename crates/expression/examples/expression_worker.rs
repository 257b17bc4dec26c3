//! A worker for the tests and for `scripts/replay-expressions`: answers questions on its standard input, each behind
//! its length (u32, little-endian), under a bound on its memory. The product's own worker is sealed more tightly.

use expression::{Evaluator, answer};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{Read, Write, stdin, stdout};

const MEMORY_BYTES_MAX: u64 = 512 << 20;
const QUESTION_BYTES_MAX: usize = 16 << 20;

fn main() -> std::io::Result<()> {
    let bound = |bytes| Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    setrlimit(Resource::As, bound(MEMORY_BYTES_MAX))?;
    setrlimit(Resource::Core, bound(0))?;
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let mut evaluator = Evaluator::new();
    let (mut length, mut question) = ([0; 4], Vec::new());
    loop {
        match input.read_exact(&mut length) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            done => done?,
        }
        let asked = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if asked > QUESTION_BYTES_MAX {
            return Ok(());
        }
        question.resize(asked, 0);
        input.read_exact(&mut question)?;
        let answer = answer(&mut evaluator, &question);
        let mut framed = u32::try_from(answer.len())
            .unwrap_or(u32::MAX)
            .to_le_bytes()
            .to_vec();
        framed.extend_from_slice(&answer);
        output.write_all(&framed)?;
        output.flush()?;
    }
}
