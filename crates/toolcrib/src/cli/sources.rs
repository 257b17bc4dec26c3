//! The commands about sources, the databases that SQL tools use.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Sources {
    /// Every source: of toolcrib.toml, kept in the database, of the environment
    List,
    /// Everything about one; its password is a mask
    Show {
        /// The source's name
        name: String,
    },
    /// Add a source that is kept in the database; its password is sealed
    Add {
        /// {"name", "kind": "sqlite", "path", …} or {"name", "kind": "postgres", "url", …} as JSON, `@FILE` or the path of
        /// a file that holds it, or `-` for stdin
        definition: String,
    },
    /// Replace the definition of a source that is kept in the database
    Update {
        /// The source's name
        name: String,
        /// The definition as JSON, `@FILE` or the path of a file that holds it, or `-` for stdin
        definition: String,
        /// Change only the members that are given; null removes one
        #[arg(long)]
        patch: bool,
    },
    /// Remove a source that is kept in the database, with its sealed password
    Remove {
        /// The source's name
        name: String,
        /// Also one that tools use; they fail from then on
        #[arg(long)]
        force: bool,
    },
    /// Its tables and views with their columns and keys
    Schema {
        /// The source's name
        name: String,
        /// Only tables whose name, schema, columns or comments hold this text
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Only this table, `schema.table` or `table`
        #[arg(long)]
        table: Option<String>,
        /// How many tables at most
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Connect to it, and show that queries can only read
    Test {
        /// The source's name
        name: String,
    },
    /// Print SQL that makes a PostgreSQL role which can only read it
    RoleScript {
        /// The source's name
        name: String,
        /// What the role is called [default: toolcrib_reader]
        #[arg(long)]
        role: Option<String>,
        /// A schema that it may read; may be given several times [default: search_path, else public]
        #[arg(long = "schema", value_name = "SCHEMA")]
        schemas: Vec<String>,
    },
}
