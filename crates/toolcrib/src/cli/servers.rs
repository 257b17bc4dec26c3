//! The commands about upstream MCP servers.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Servers {
    /// Every server, and how it is doing
    List,
    /// Everything about one
    Show {
        /// The server's name
        name: String,
    },
    /// Add a server that is kept in the database; it is connected at once
    Add {
        /// {"name", "url", "headers", …} or {"name", "command", "args", …} as JSON, `@FILE` or the path of a file that
        /// holds it, or `-` for stdin
        definition: String,
    },
    /// Replace the definition of a server that is kept in the database
    Update {
        /// The server's name
        name: String,
        /// The definition as JSON, `@FILE` or the path of a file that holds it, or `-` for stdin
        definition: String,
        /// Change only the members that are given; null removes one
        #[arg(long)]
        patch: bool,
    },
    /// Remove a server that is kept in the database, with its sealed values
    Remove {
        /// The server's name
        name: String,
    },
    /// Its tools
    Tools {
        /// The server's name
        name: String,
    },
    /// Its resources
    Resources {
        /// The server's name
        name: String,
    },
    /// Its prompts
    Prompts {
        /// The server's name
        name: String,
    },
    /// The tools that it describes in another way than before, and how
    Changes {
        /// The server's name
        name: String,
    },
    /// Approve definitions that you have seen
    Approve {
        /// The server's name
        name: String,
        /// As `toolcrib servers changes` prints them; without any, each is shown on a terminal and asked for
        #[arg(value_name = "TOOL=HASH")]
        tools: Vec<String>,
    },
    /// Sign in to it with a browser: for everybody, or for yourself where everybody has their own token
    SignIn {
        /// The server's name
        name: String,
    },
    /// Forget the token that it is shown
    SignOut {
        /// The server's name
        name: String,
    },
    /// Drop the connection and make a new one
    Reconnect {
        /// The server's name; without one, all that run
        name: Option<String>,
    },
}
