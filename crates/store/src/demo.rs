//! The database of the starter workspace: users and how often each may call tools a day.

use crate::db::{Error, Result};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::path::Path;

const TABLES: &str = "
    CREATE TABLE h_user (
        uid INTEGER PRIMARY KEY,
        user_nm TEXT NOT NULL UNIQUE
    );
    CREATE TABLE h_mcp_tool_limit (
        id INTEGER PRIMARY KEY,
        target_type TEXT NOT NULL CHECK (target_type IN ('USER', 'TOOL')),
        target_id INTEGER NOT NULL,
        max_count INTEGER NOT NULL
    );
    INSERT INTO h_user (uid, user_nm) VALUES (1, 'hong'), (2, 'kim'), (3, 'lee');
    INSERT INTO h_mcp_tool_limit (target_type, target_id, max_count) VALUES
        ('USER', 1, 50), ('USER', 2, 100), ('TOOL', 1, 1000);
";

/// Makes the file, which must not be there yet.
pub async fn create(file: &Path) -> Result<()> {
    let failed = |error: sqlx::Error| Error::Open(format!("{}: {error}", file.display()));
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true);
    let mut connection = options.connect().await.map_err(failed)?;
    sqlx::raw_sql(TABLES)
        .execute(&mut connection)
        .await
        .map_err(failed)?;
    connection.close().await.map_err(failed)
}
