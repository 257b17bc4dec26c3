//! The commands about agents.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Agents {
    /// List agents
    List,
    /// Show one agent, and which of its tools are missing
    Show {
        /// Name or id of the agent
        name: String,
    },
    /// Make an agent
    Create {
        /// {"name", "model_provider", "model_name", "system_prompt", "tools", "config", …} as JSON, `@FILE` or the path of a
        /// file that holds it, or `-` for stdin
        definition: String,
    },
    /// Replace an agent's definition
    Update {
        /// Name or id of the agent
        name: String,
        /// The definition as JSON, `@FILE` or the path of a file that holds it, or `-` for stdin
        definition: String,
        /// Change only the members that are given; null removes one
        #[arg(long)]
        patch: bool,
    },
    /// Remove an agent; `restore` brings it back
    Delete {
        /// Name or id of the agent
        name: String,
    },
    /// Bring a removed agent back
    Restore {
        /// Name or id of the agent
        name: String,
    },
}
