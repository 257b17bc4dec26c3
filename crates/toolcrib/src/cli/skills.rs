//! The commands about skills.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Skills {
    /// List the skills, and what is wrong with files that cannot be used
    List,
    /// Show the instructions of one
    Show {
        /// Its name
        name: String,
    },
}
