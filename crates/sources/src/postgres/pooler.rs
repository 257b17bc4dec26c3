//! What the driver leaves in a session. Behind a pooler the session is somebody else's after the transaction, so it has to
//! be gone by then.

use super::errors::database;
use crate::error::Error;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Statements by name that the driver has made since the transaction began, to ask about types it does not know. A pooler
/// that keeps statements itself has given them names of its own; those are its business.
const MADE: &str = "\
SELECT name, statement FROM pg_catalog.pg_prepared_statements
WHERE name ~ '^s[0-9]+$' AND prepare_time >= pg_catalog.transaction_timestamp()";

/// Whether the driver had to ask about one of the types.
pub(super) fn were_asked<'t>(types: impl IntoIterator<Item = &'t Type>) -> bool {
    types
        .into_iter()
        .any(|of| Type::from_oid(of.oid()).is_none())
}

/// What to run after the end of the transaction, in the same message, so that nothing is left. The driver believes that its
/// statements are still there: its connection is of no more use then. The statement `own` it closes itself.
pub(super) async fn forgets(client: &Client, own: &str) -> Result<String, Error> {
    let rows = client
        .simple_query(MADE)
        .await
        .map_err(|error| database(&error))?;
    let names = rows.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) if row.get(1) != Some(own) => row.get(0),
        _ => None,
    });
    Ok(names.map(|name| format!("; DEALLOCATE {name}")).collect())
}
