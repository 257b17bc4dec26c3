//! `toolcrib __worker …`: this program as a worker process of itself. Sealed ones answer questions until their socket
//! closes; `run` and `wall` stand between the server and other programs. No commands for people, so the command line
//! does not know them.

use kinds::builtin;
use std::ffi::OsString;
use std::process::ExitCode;

/// None where the program was not started as a worker.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let command = arguments.nth(1)?;
    if command != process::WORKER_COMMAND {
        return None;
    }
    let name = arguments.next()?;
    let ended = match name.to_str()? {
        builtin::CALCULATOR => {
            let answers = builtin::calculator_answers();
            process::sealed::serve(arguments, builtin::CALCULATOR_SEAL, answers)
        }
        kinds::EXPRESSION => {
            let mut evaluator = expression::Evaluator::new();
            let answer = move |question: &[u8]| expression::answer(&mut evaluator, question);
            process::sealed::serve(arguments, kinds::EXPRESSION_SEAL, answer)
        }
        kinds::DOCUMENTS => {
            process::sealed::serve(arguments, kinds::DOCUMENTS_SEAL, documents::answer)
        }
        _ => process::run_worker(std::iter::once(name).chain(arguments)),
    };
    Some(ended.unwrap_or(ExitCode::FAILURE))
}
