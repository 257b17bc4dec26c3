//! The commands about toolsets.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Toolsets {
    /// List toolsets
    List,
    /// Show one toolset: which of its tools are missing, what its patterns bring in, and which of them fit nothing
    Show {
        /// Name or id of the toolset
        name: String,
    },
    /// Make a toolset; its MCP address is /mcp/NAME
    Add {
        /// {"name", "tools", "allow", "deny", …} as JSON, `@FILE` or the path of a file that holds it, or `-` for stdin
        definition: String,
    },
    /// Replace a toolset's definition
    Update {
        /// Name or id of the toolset
        name: String,
        /// The definition as JSON, `@FILE` or the path of a file that holds it, or `-` for stdin
        definition: String,
        /// Change only the members that are given; null removes one
        #[arg(long)]
        patch: bool,
    },
    /// Remove a toolset; `restore` brings it back
    Remove {
        /// Name or id of the toolset
        name: String,
    },
    /// Bring a removed toolset back
    Restore {
        /// Name or id of the toolset
        name: String,
    },
}
