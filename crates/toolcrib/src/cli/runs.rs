//! The commands about runs: beginning one, and looking after those that are there.

use clap::{Args, CommandFactory, Subcommand};
use std::ffi::OsString;

/// The arguments of the program, where a request that begins with a minus ("-5 times 3") is no option: a space before it makes
/// it a word.
pub(crate) fn with_requests(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_one = |argument: &OsString| argument.to_str().is_some_and(is_below_zero);
    // What most commands do not need is not made for them.
    if !arguments.iter().any(is_one) {
        return arguments;
    }
    let program = super::Cli::command();
    let mut texts = arguments.iter().skip(1).filter_map(|it| it.to_str());
    let command = texts.find(|it| program.find_subcommand(it).is_some());
    if command != Some("run") {
        return arguments;
    }
    let one = |argument: OsString| match argument.to_str() {
        Some(text) if is_below_zero(text) => format!(" {text}").into(),
        _ => argument,
    };
    arguments.into_iter().map(one).collect()
}

/// Whether this begins as a number below zero does, as no option here does.
fn is_below_zero(text: &str) -> bool {
    let behind = text.strip_prefix('-').and_then(|it| it.chars().next());
    behind.is_some_and(|it| it.is_ascii_digit() || matches!(it, '.' | ' ' | '('))
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// What is to be done, in English or Korean; `-` for stdin
    #[arg(required = true, value_name = "REQUEST")]
    pub(crate) words: Vec<String>,
    /// The agent that does it [default: the model of runs.model, else the built-in planner]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Use only this tool; may be given several times
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// Go on with the conversation of a run that is over
    #[arg(long, value_name = "RUN")]
    pub(crate) after: Option<String>,
    /// The output must fit this JSON schema: as it is, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "SCHEMA")]
    pub(crate) output_schema: Option<String>,
    /// Do not wait: print the run's id. Needs a server that goes on with it
    #[arg(long)]
    pub(crate) detach: bool,
    /// Print only the output
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, the newest first
    List {
        /// Only those that are running, needs_input, done, failed, cancelled or expired
        #[arg(long)]
        status: Option<String>,
        /// Only those of an agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// How many at most
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=500))]
        limit: u16,
    },
    /// Show a run: what it asks, what it said
    Show {
        /// Its id
        id: String,
    },
    /// Show what happens in a run until it is over
    Follow {
        /// Its id
        id: String,
    },
    /// Answer what a run asks, and follow it from there
    Answer {
        /// Its id
        id: String,
        /// The answer: words, the number of a choice, or JSON; for a call to approve `approve` (예), `edit` (수정), `reject`
        /// (아니오), `respond` (대답), `always` (항상), or {"decision": …}. At a terminal it is asked for where it is left out
        #[arg(allow_negative_numbers = true)]
        answer: Option<String>,
        /// Do not answer: the run goes on without, and a call does not run
        #[arg(long)]
        decline: bool,
        /// Which question, where it asks several (`show` tells)
        #[arg(long, value_name = "ID")]
        request: Option<String>,
        /// Why a call is rejected, or what is answered in its place
        #[arg(long)]
        text: Option<String>,
        /// All arguments that a call is made with instead, for `edit`: JSON, `@FILE`, or `-` for stdin
        #[arg(long, value_name = "JSON")]
        arguments: Option<String>,
    },
    /// Stop a run
    Cancel {
        /// Its id
        id: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_request_of_a_run_may_begin_with_a_minus() {
        for (given, expected) in [
            (
                &["run", "-5 times 3", "--json"][..],
                &["run", " -5 times 3", "--json"][..],
            ),
            (
                &["--workspace", "w", "run", "-q", "-.5"],
                &["--workspace", "w", "run", "-q", " -.5"],
            ),
            (&["run", "-q", "--tool", "a"], &["run", "-q", "--tool", "a"]),
            (
                &["log", "--tool", "run", "--since", "-1h"],
                &["log", "--tool", "run", "--since", "-1h"],
            ),
        ] {
            let given = ["toolcrib"]
                .iter()
                .chain(given)
                .map(OsString::from)
                .collect();
            let told = with_requests(given);
            assert_eq!(told[1..], *expected);
        }
    }
}
