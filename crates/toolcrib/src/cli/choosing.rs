//! The commands about which tool a request gets: what is confirmed, what a change does, how often it is right.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What is confirmed of a tool; part of `toolcrib tools`.
#[derive(Debug, Subcommand)]
pub(crate) enum Confirming {
    /// Confirm that a tool was right for a request, which counts as an example of it (needs selection.confirmed)
    Confirm {
        /// Name or id of the tool
        name: String,
        /// What was to be done
        #[arg(required = true, value_name = "REQUEST")]
        words: Vec<String>,
    },
    /// Show the requests that a tool was confirmed for, newest first
    Confirmed {
        /// Name or id of the tool
        name: String,
    },
    /// Take back what was confirmed
    Unconfirm {
        /// Name or id of the tool
        name: String,
        /// The request, as `confirmed` shows it
        #[arg(
            value_name = "REQUEST",
            required_unless_present = "all",
            conflicts_with = "all"
        )]
        words: Vec<String>,
        /// All requests of the tool
        #[arg(long)]
        all: bool,
    },
}

/// What is to be known of a change besides whether it worked.
#[derive(Debug, Args)]
pub(crate) struct Trial {
    /// Say which requests of the gold set (selection.gold) are answered otherwise
    #[arg(long)]
    pub(crate) effect: bool,
    /// Check everything and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// One row a line: {"query": "…", "outcome": "call|none|ask", "gold": ["tool"]}
    #[arg(value_name = "FILE.jsonl", value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Show every request that is not answered rightly
    #[arg(long)]
    pub(crate) failures: bool,
    /// Fail where fewer are right, in percent
    #[arg(long, value_name = "PERCENT")]
    pub(crate) min: Option<f64>,
}
