//! The commands about people, the policy and the audit log.

use catalog::caller::Role;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, value_parser};

fn roles() -> PossibleValuesParser {
    PossibleValuesParser::new(Role::ALL.map(Role::as_str))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Users {
    /// List users
    List,
    /// Show one user
    Show { name: String },
    /// Make a user; without a password they use keys, or a login link
    Create {
        name: String,
        /// viewer = read; operator = read, call, servers, limits; author = read, call, make tools; admin = all
        #[arg(long, default_value = "author", value_parser = roles())]
        role: String,
        /// Read the password from stdin
        #[arg(long)]
        password_stdin: bool,
        /// Whom the identity provider knows them as, so that they log in there
        #[arg(long, value_name = "SUB")]
        oidc_subject: Option<String>,
    },
    /// Change a user's role, password or link to the identity provider
    #[command(group(clap::ArgGroup::new("change").required(true).multiple(true)))]
    Update {
        name: String,
        #[arg(long, value_parser = roles(), group = "change")]
        role: Option<String>,
        /// Whom the identity provider knows them as; empty parts them
        #[arg(long, value_name = "SUB", group = "change")]
        oidc_subject: Option<String>,
        /// Read the new password from stdin; open sessions end
        #[arg(long, group = "change")]
        password_stdin: bool,
    },
    /// Remove a user and revoke their keys; what is theirs is kept, out of use, until it is reassigned
    Remove { name: String },
    /// Bring a removed user back; their keys stay revoked
    Restore { name: String },
    /// Give what a user owns to somebody else
    Reassign {
        name: String,
        /// Who gets it
        #[arg(long, value_name = "NAME")]
        to: String,
        /// Only these tools, separated by commas [default: everything]
        #[arg(long, value_delimiter = ',')]
        tools: Option<Vec<String>>,
    },
    /// Erase a person's data for good: they become a pseudonym in the logs, and what they said and kept is removed
    Erase {
        name: String,
        /// Who gets what they own; without it they may own nothing
        #[arg(long, value_name = "NAME")]
        to: Option<String>,
        /// Say what would be erased, and change nothing
        #[arg(long)]
        dry_run: bool,
        /// Do not ask first
        #[arg(long)]
        yes: bool,
    },
    /// Print a link that lets a user in once, within 15 minutes
    LoginLink { name: String },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Show the policy in force
    Show,
    /// Replace all rules
    Set {
        /// {"rules": […]} as JSON, `@FILE` or the path of a file that holds it, or `-` for stdin
        document: String,
        /// Only show what would change for whom
        #[arg(long)]
        dry_run: bool,
    },
    /// Say why a key may or may not use a tool
    Explain(Explain),
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Id or name of a key; with --user the name of a user who is logged in
    #[arg(value_name = "KEY")]
    pub(crate) whose: String,
    /// Name or id of a tool; with --toolset also what it is called there
    pub(crate) tool: String,
    /// KEY is the name of a user
    #[arg(long)]
    pub(crate) user: bool,
    /// As this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Through this toolset
    #[arg(long, value_name = "NAME")]
    pub(crate) toolset: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// List administrative acts, newest first
    List {
        /// Only what this user did
        #[arg(long, value_name = "NAME")]
        actor: Option<String>,
        /// Only this action, such as user.create
        #[arg(long)]
        action: Option<String>,
        /// Only what was done to this, such as user:kim
        #[arg(long)]
        target: Option<String>,
        /// Only since a time (2026-01-31T12:00:00Z) or a span back from now (2h, 7d)
        #[arg(long, value_name = "TIME", value_parser = super::time_past)]
        since: Option<String>,
        /// How many to show at most
        #[arg(long, default_value_t = 20, value_parser = value_parser!(u16).range(1..=500))]
        limit: u16,
    },
    /// Look at the whole chain: whether an entry was changed or taken out
    Verify,
}
