//! Databases of another tool builder, `h_custom_tool` and `h_custom_tool_param` in a SQLite file: read to take its tools over,
//! and written to hand ours on.

use crate::db::{Error, Result};
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use std::path::{Path, PathBuf};

/// A row of `h_custom_tool`, its parameters with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomTool {
    pub name: String,
    pub description_agent: String,
    pub description_user: Option<String>,
    /// `SQL` or `PYTHON`.
    pub tool_type: String,
    pub definition: String,
    /// `Y` or `N`.
    pub is_active: String,
    pub reg_dt: Option<String>,
    pub created_by: Option<String>,
    pub parameters: Vec<CustomParameter>,
}

/// A row of `h_custom_tool_param`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomParameter {
    pub name: String,
    /// `STRING`, `NUMBER` or `BOOLEAN`.
    pub kind: String,
    /// `Y` or `N`.
    pub is_required: String,
    pub description: Option<String>,
}

const TABLES: &str = "
    CREATE TABLE h_custom_tool (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        description_agent TEXT,
        description_user TEXT,
        tool_type TEXT NOT NULL,
        definition TEXT NOT NULL,
        is_active TEXT NOT NULL DEFAULT 'Y',
        reg_dt TEXT,
        created_by TEXT
    );
    CREATE TABLE h_custom_tool_param (
        id INTEGER PRIMARY KEY,
        tool_id INTEGER NOT NULL REFERENCES h_custom_tool (id),
        param_name TEXT NOT NULL,
        param_type TEXT NOT NULL,
        is_required TEXT NOT NULL DEFAULT 'Y',
        description TEXT
    );
";

// Their columns are of any type where SQLite is concerned, so each is asked for as text.
const READ_TOOLS: &str = "
    SELECT id, CAST(name AS TEXT), CAST(description_agent AS TEXT), CAST(description_user AS TEXT),
        CAST(tool_type AS TEXT), CAST(definition AS TEXT), CAST(is_active AS TEXT), CAST(reg_dt AS TEXT),
        CAST(created_by AS TEXT)
    FROM h_custom_tool ORDER BY id";
const READ_PARAMETERS: &str = "
    SELECT CAST(param_name AS TEXT), CAST(param_type AS TEXT), CAST(is_required AS TEXT), CAST(description AS TEXT)
    FROM h_custom_tool_param WHERE tool_id = $1 ORDER BY id";

// Parameters of tools that are not there.
const READ_ORPHANS: &str = "
    SELECT CAST(param_name AS TEXT), CAST(tool_id AS TEXT) FROM h_custom_tool_param
    WHERE tool_id IS NULL OR tool_id NOT IN (SELECT id FROM h_custom_tool) ORDER BY id";

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomTools {
    /// In the order of their ids.
    pub tools: Vec<CustomTool>,
    /// Parameters that belong to none of them: the name, and the `tool_id` that no tool has.
    pub orphans: Vec<(String, String)>,
}

/// All that a file holds. The file is not changed. What is wrong with it is told in a sentence.
pub async fn read(file: &Path) -> Result<CustomTools, String> {
    let shown = file.display();
    if !file.exists() {
        return Err(format!("there is no file {shown}"));
    }
    let read = match read_file(file, false).await {
        Err(error) if is_kept_from_writing(&error) => {
            // A file in WAL mode wants to make others beside it even to be read. Where nothing is in those, it is all there is.
            let changes = std::fs::metadata(beside(file, "-wal"));
            if changes.is_ok_and(|changes| changes.len() > 0) {
                return Err(format!(
                    "{shown} cannot be read here: changes of it lie beside it, in a file that ends with -wal; copy both to a folder that you can write to"
                ));
            }
            read_file(file, true).await
        }
        read => read,
    };
    read.map_err(|error| unreadable(file, &error))
}

/// Why a file is not one of these, without the words of whoever found out on the way.
fn unreadable(file: &Path, error: &sqlx::Error) -> String {
    let shown = file.display();
    let Some(said) = error.as_database_error() else {
        return format!("{shown} cannot be read: {error}");
    };
    let message = said.message();
    let is_code = |code: &str| said.code().is_some_and(|it| it == code);
    if is_code("26") {
        format!("{shown} is no SQLite database")
    } else if let Some(table) = message.strip_prefix("no such table: ") {
        format!("{shown} has no table {table}")
    } else if let Some(column) = message.strip_prefix("no such column: ") {
        format!("{shown} has no column {column} where the format has one")
    } else {
        format!("{shown} cannot be read: {message}")
    }
}

async fn read_file(file: &Path, is_immutable: bool) -> Result<CustomTools, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .read_only(true)
        .immutable(is_immutable);
    let mut connection = options.connect().await?;
    let read = read_all(&mut connection).await;
    connection.close().await?;
    read
}

/// Whether SQLite could not open or write something: its codes 8 and 14, whatever is added to them.
fn is_kept_from_writing(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|it| it.code());
    let code = code.and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| matches!(code & 0xff, 8 | 14))
}

async fn read_all(connection: &mut SqliteConnection) -> Result<CustomTools, sqlx::Error> {
    let mut tools = Vec::new();
    for row in sqlx::query(READ_TOOLS).fetch_all(&mut *connection).await? {
        let id: i64 = row.try_get(0)?;
        let parameters = sqlx::query(READ_PARAMETERS)
            .bind(id)
            .fetch_all(&mut *connection)
            .await?;
        let parameters: Result<_, sqlx::Error> = parameters.iter().map(parameter).collect();
        tools.push(CustomTool {
            name: text(&row, 1)?,
            description_agent: text(&row, 2)?,
            description_user: row.try_get(3)?,
            tool_type: text(&row, 4)?,
            definition: text(&row, 5)?,
            is_active: text(&row, 6)?,
            reg_dt: row.try_get(7)?,
            created_by: row.try_get(8)?,
            parameters: parameters?,
        });
    }
    let orphans = sqlx::query(READ_ORPHANS).fetch_all(&mut *connection);
    let orphans = orphans.await?;
    let orphans = orphans.iter().map(|row| Ok((text(row, 0)?, text(row, 1)?)));
    Ok(CustomTools {
        tools,
        orphans: orphans.collect::<Result<_, sqlx::Error>>()?,
    })
}

fn parameter(row: &SqliteRow) -> Result<CustomParameter, sqlx::Error> {
    Ok(CustomParameter {
        name: text(row, 0)?,
        kind: text(row, 1)?,
        is_required: text(row, 2)?,
        description: row.try_get(3)?,
    })
}

fn text(row: &SqliteRow, index: usize) -> Result<String, sqlx::Error> {
    let text: Option<String> = row.try_get(index)?;
    Ok(text.unwrap_or_default())
}

/// Writes a new file with these tools, all of it or none; one that is there is not touched.
pub async fn write(file: &Path, tools: &[CustomTool]) -> Result<()> {
    let shown = file.display();
    check_free(file)?;
    // Aside, so that a failure leaves nothing under the name that was asked for.
    let unfinished = file.with_added_extension(format!("{}.part", std::process::id()));
    let written = write_file(&unfinished, tools).await;
    let written = written.map_err(|error| Error::Open(format!("{shown}: {error}")));
    let placed = written.and_then(|()| {
        check_free(file)?;
        let placed = std::fs::rename(&unfinished, file);
        placed.map_err(|error| Error::Open(format!("{shown}: {error}")))
    });
    if placed.is_err() {
        // Best effort: what went wrong is told already.
        let _ = std::fs::remove_file(&unfinished);
        let _ = std::fs::remove_file(beside(&unfinished, "-journal"));
    }
    placed
}

/// A file that SQLite keeps beside its database.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn check_free(file: &Path) -> Result<()> {
    match file.exists() {
        false => Ok(()),
        true => Err(Error::Open(format!(
            "{}: there is a file of that name already",
            file.display()
        ))),
    }
}

async fn write_file(file: &Path, tools: &[CustomTool]) -> Result<(), sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true);
    let mut connection = options.connect().await?;
    let written = write_all(&mut connection, tools).await;
    connection.close().await?;
    written
}

async fn write_all(
    connection: &mut SqliteConnection,
    tools: &[CustomTool],
) -> Result<(), sqlx::Error> {
    let mut all = connection.begin().await?;
    sqlx::raw_sql(TABLES).execute(&mut *all).await?;
    for (id, tool) in (1_i64..).zip(tools) {
        sqlx::query(
            "INSERT INTO h_custom_tool (id, name, description_agent, description_user, tool_type, definition,
                is_active, reg_dt, created_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(id)
        .bind(&tool.name)
        .bind(&tool.description_agent)
        .bind(&tool.description_user)
        .bind(&tool.tool_type)
        .bind(&tool.definition)
        .bind(&tool.is_active)
        .bind(&tool.reg_dt)
        .bind(&tool.created_by)
        .execute(&mut *all)
        .await?;
        for parameter in &tool.parameters {
            sqlx::query(
                "INSERT INTO h_custom_tool_param (tool_id, param_name, param_type, is_required, description)
                VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(id)
            .bind(&parameter.name)
            .bind(&parameter.kind)
            .bind(&parameter.is_required)
            .bind(&parameter.description)
            .execute(&mut *all)
            .await?;
        }
    }
    all.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::sqlite::SqliteJournalMode;
    use std::os::unix::fs::PermissionsExt;

    #[tokio::test]
    async fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tools.db");
        let tool = CustomTool {
            name: "get_user_limit".to_owned(),
            description_agent: "조회".to_owned(),
            tool_type: "SQL".to_owned(),
            definition: "SELECT 1".to_owned(),
            is_active: "N".to_owned(),
            created_by: Some("kim".to_owned()),
            parameters: vec![CustomParameter {
                name: "a".to_owned(),
                kind: "NUMBER".to_owned(),
                is_required: "Y".to_owned(),
                description: None,
            }],
            ..CustomTool::default()
        };
        let other = CustomTool {
            name: "b".to_owned(),
            parameters: Vec::new(),
            ..tool.clone()
        };
        let tools = [tool, other];
        write(&file, &tools).await.unwrap();
        assert_eq!(read(&file).await.unwrap().tools, tools);
        let again = write(&file, &tools).await.unwrap_err().to_string();
        assert!(again.contains("there is a file of that name"), "{again}");
        let missing = read(&folder.path().join("none.db")).await;
        assert!(missing.is_err(), "nothing is made by reading");
        assert!(!folder.path().join("none.db").exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Whoever may write anywhere finds no trouble here.
    #[tokio::test]
    async fn a_file_in_wal_mode_is_read_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tools.db");
        let tool = CustomTool {
            name: "a".to_owned(),
            ..CustomTool::default()
        };
        write(&file, std::slice::from_ref(&tool)).await.unwrap();
        let options = SqliteConnectOptions::new().filename(&file);
        let options = options.journal_mode(SqliteJournalMode::Wal);
        let connection = options.connect().await.unwrap();
        connection.close().await.unwrap();
        assert!(!beside(&file, "-wal").exists(), "the last one puts it away");
        let closed = std::fs::Permissions::from_mode(0o555);
        std::fs::set_permissions(folder.path(), closed).unwrap();
        let read = read(&file).await;
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        assert_eq!(read.unwrap().tools, std::slice::from_ref(&tool));
        assert_eq!(read_file(&file, true).await.unwrap().tools, [tool]);
        let none = folder.path().join("none.db");
        let error = read_file(&none, false).await.unwrap_err();
        assert!(is_kept_from_writing(&error), "{error:?}");
        assert!(super::read(&none).await.is_err() && !none.exists());
    }

    #[tokio::test]
    async fn a_failure_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tools.db");
        let tool = CustomTool {
            name: "twice".to_owned(),
            ..CustomTool::default()
        };
        let twice = [tool.clone(), tool.clone()];
        let why = write(&file, &twice).await.unwrap_err().to_string();
        assert!(
            why.contains("tools.db: ") && why.contains("UNIQUE"),
            "{why}"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        write(&file, &[tool]).await.unwrap();
        assert_eq!(read(&file).await.unwrap().tools.len(), 1);
    }

    #[tokio::test]
    async fn what_is_no_such_file_is_told_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("theirs.db");
        let shown = file.display();
        let gone = read(&file).await.unwrap_err();
        assert_eq!(gone, format!("there is no file {shown}"));
        std::fs::write(&file, "x".repeat(4096)).unwrap();
        let text = read(&file).await.unwrap_err();
        assert_eq!(text, format!("{shown} is no SQLite database"));
        std::fs::write(&file, "").unwrap();
        let empty = read(&file).await.unwrap_err();
        assert_eq!(empty, format!("{shown} has no table h_custom_tool"));
    }

    #[tokio::test]
    async fn parameters_of_no_tool_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tools.db");
        write(&file, &[]).await.unwrap();
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .foreign_keys(false);
        let mut connection = options.connect().await.unwrap();
        sqlx::query("INSERT INTO h_custom_tool_param (tool_id, param_name, param_type) VALUES (7, 'n', 'NUMBER')")
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
        let orphans = read(&file).await.unwrap().orphans;
        assert_eq!(orphans, [("n".to_owned(), "7".to_owned())]);
    }
}
