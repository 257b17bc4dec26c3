//! Databases that SQL tools read: a statement with named parameters, a guard for text that callers write, and the
//! two engines behind one `Source`. Knows nothing of tools, callers or protocols.
//!
//! What is read-only is so because the database holds it to that: a transaction that is READ ONLY and rolled back, a file
//! that is opened read-only under an authorizer. What this crate checks of the text comes before that and is no substitute.

mod answer;
mod binding;
mod error;
mod guard;
mod lex;
mod lexeme;
mod memo;
mod mention;
mod postgres;
mod quotes;
mod schema;
mod shares;
mod sound;
mod source;
mod sqlite;
mod statement;
mod verb;

pub use answer::{Answer, Shape};
pub use binding::Bindings;
pub use error::{Error, Place};
pub use mention::{is_compared, stands_in_text};
pub use postgres::{Postgres, PostgresConfig, role_script};
pub use quotes::without_quotes;
pub use schema::{Column, ForeignKey, SchemaFilter, SchemaPage, Table, TableKind, TestReport};
pub use source::{Call, Source};
pub use sqlite::{Sqlite, SqliteConfig};
pub use statement::{Engine, Statement};
