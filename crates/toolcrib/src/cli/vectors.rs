//! The commands about collections of vectors.

use clap::{Args, Subcommand, value_parser};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Vectors {
    /// List the collections
    List,
    /// Store the documents of a file of JSON lines; what has no vector yet gets one
    Import {
        /// One object a line: {"id", "document", "embedding"?, "metadata"?}
        #[arg(value_hint = clap::ValueHint::FilePath)]
        file: PathBuf,
        #[command(flatten)]
        into: Destination,
    },
    /// Store a document for every column of a source, such as `users.email VARCHAR(255) address of a user`, and remove
    /// those of columns that are gone
    FromSchema {
        /// The name of the source
        source: String,
        #[command(flatten)]
        into: Destination,
    },
    /// Find the documents that are nearest in meaning to a text
    Search {
        /// What to look for
        text: String,
        /// How many documents
        #[arg(long, default_value_t = 3, value_parser = value_parser!(u16).range(1..=10_000))]
        n: u16,
        /// Where to look [default: vectors.collection]
        #[arg(long, value_name = "NAME")]
        collection: Option<String>,
    },
    /// Remove a collection with everything in it, or what was made of one source, for good
    Remove {
        /// Its name, as `list` shows it
        collection: String,
        /// Only the documents that `from-schema` made of this source, which need not be there any more
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Destination {
    /// Where to; made where it is not there [default: vectors.collection]
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
    /// How a new collection measures [default: cosine]
    #[arg(long, value_parser = ["cosine", "l2", "ip"])]
    pub(crate) space: Option<String>,
}
