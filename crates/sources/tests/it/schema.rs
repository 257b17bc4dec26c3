//! What is in a database, and what a test of it says.

use crate::file::File;
use crate::server::Server;
use crate::{call, json};
use sources::{SchemaFilter, Shape, Source, Table, TableKind};

async fn tables(source: &Source, filter: &SchemaFilter) -> (Vec<Table>, u64) {
    let page = source.schema(filter, &call(Shape::Records)).await.unwrap();
    (page.tables, page.total)
}

fn all() -> SchemaFilter {
    SchemaFilter {
        limit: 100,
        ..SchemaFilter::default()
    }
}

fn find<'t>(tables: &'t [Table], name: &str) -> &'t Table {
    tables.iter().find(|table| table.name == name).unwrap()
}

#[tokio::test]
async fn a_postgres_database_is_described() {
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.reader);
    let (found, total) = tables(&source, &all()).await;
    assert_eq!(total, u64::try_from(found.len()).unwrap());
    let people = find(&found, "people");
    assert_eq!(people.schema.as_deref(), Some("public"));
    assert_eq!(people.comment.as_deref(), Some("who works here"));
    assert_eq!(people.primary_key, ["id"]);
    assert_eq!(people.columns[1].data_type, "text");
    assert!(!people.columns[1].nullable && people.columns[2].nullable);
    assert_eq!(
        people.columns[2].comment.as_deref(),
        Some("department number")
    );
    let badges = find(&found, "badges");
    assert_eq!(badges.foreign_keys[0].references, "public.people");
    assert_eq!(badges.foreign_keys[0].referenced_columns, ["id"]);
    assert_eq!(badges.columns[2].data_type, "character varying(20)");
    assert_eq!(find(&found, "totals").kind, TableKind::View);
    let by_comment = SchemaFilter {
        search: Some("DEPARTMENT".to_owned()),
        ..all()
    };
    assert_eq!(tables(&source, &by_comment).await.1, 1);
    let escaped = SchemaFilter {
        search: Some("%".to_owned()),
        ..all()
    };
    assert_eq!(tables(&source, &escaped).await.1, 0);
    let one = SchemaFilter {
        table: Some("public.badges".to_owned()),
        ..all()
    };
    assert_eq!(tables(&source, &one).await.0[0].name, "badges");
    server.end().await;
}

#[tokio::test]
async fn columns_that_the_role_may_not_read_are_not_shown() {
    let Some(server) = Server::start().await else {
        return;
    };
    let partly = "CREATE TABLE partly (id int, open_col text, hidden_col text, PRIMARY KEY (id, hidden_col));
        GRANT SELECT (id, open_col) ON partly TO PUBLIC";
    server.as_owner(partly).await;
    let columns = |table: &Table| -> Vec<String> {
        let names = table.columns.iter().map(|column| column.name.clone());
        names.collect()
    };
    let reader = server.source(&server.reader);
    let (found, _) = tables(&reader, &all()).await;
    let partly = find(&found, "partly");
    assert_eq!(columns(partly), ["id", "open_col"]);
    assert_eq!(partly.primary_key, Vec::<String>::new());
    let search = SchemaFilter {
        search: Some("hidden_col".to_owned()),
        ..all()
    };
    assert_eq!(tables(&reader, &search).await.1, 0);
    let owner = server.source(&server.owner);
    let (found, _) = tables(&owner, &search).await;
    assert_eq!(
        columns(find(&found, "partly")),
        ["id", "open_col", "hidden_col"]
    );
    assert_eq!(found[0].primary_key, ["id", "hidden_col"]);
    server.end().await;
}

#[tokio::test]
async fn five_thousand_tables_are_no_trouble() {
    let Some(server) = Server::start().await else {
        return;
    };
    // A hundred at a time: each table made in one transaction takes a lock of its own.
    for part in 0..50 {
        let (first, last) = (part * 100 + 1, part * 100 + 100);
        let make = format!(
            "DO $$ BEGIN FOR i IN {first}..{last} LOOP \
             EXECUTE format('CREATE TABLE t%s (id int, value_%s text)', i, i); END LOOP; END $$"
        );
        server.as_owner(&make).await;
    }
    let source = server.source(&server.owner);
    let asked = std::time::Instant::now();
    let page = SchemaFilter {
        limit: 50,
        offset: 100,
        ..SchemaFilter::default()
    };
    let (found, total) = tables(&source, &page).await;
    assert!(found.len() == 50 && total > 5000);
    let search = SchemaFilter {
        search: Some("value_4321".to_owned()),
        limit: 50,
        ..SchemaFilter::default()
    };
    let (found, total) = tables(&source, &search).await;
    assert_eq!((found[0].name.as_str(), total), ("t4321", 1));
    assert!(asked.elapsed().as_secs() < 15, "{:?}", asked.elapsed());
    server.end().await;
}

#[tokio::test]
async fn a_sqlite_file_is_described() {
    let file = File::new();
    let source = file.source();
    let (found, _) = tables(&source, &all()).await;
    let people = find(&found, "people");
    assert_eq!(people.primary_key, ["id"]);
    assert!(!people.columns[1].nullable);
    assert_eq!(find(&found, "badges").foreign_keys[0].references, "people");
    assert_eq!(find(&found, "everybody").kind, TableKind::View);
    let search = SchemaFilter {
        search: Some("LABEL".to_owned()),
        ..all()
    };
    assert_eq!(tables(&source, &search).await.0[0].name, "badges");
}

/// Full-text search keeps what it needs in tables that nobody asks; a table that is only called like one of those is shown.
#[tokio::test]
async fn what_a_virtual_table_keeps_for_itself_is_not_shown() {
    let file = File::new();
    let connection = rusqlite::Connection::open(file.path()).unwrap();
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE Pages USING fts5(title, body);
             CREATE VIRTUAL TABLE plots USING rtree(id, x0, x1);
             CREATE TABLE people_data (a); CREATE TABLE pages_seen (a); CREATE TABLE plots_data (a);
             CREATE TABLE people_content (text);
             CREATE VIRTUAL TABLE people_found USING fts5(text, content = 'people_content');
             CREATE TABLE people_found_content (a)",
        )
        .unwrap();
    let (found, total) = tables(&file.source(), &all()).await;
    let mut names: Vec<&str> = found.iter().map(|table| table.name.as_str()).collect();
    let ours = ["pages", "people", "plots"];
    names.retain(|name| ours.iter().any(|it| name.to_lowercase().starts_with(it)));
    assert_eq!(
        names,
        [
            "Pages",
            "pages_seen",
            "people",
            "people_content",
            "people_data",
            "people_found",
            "people_found_content",
            "plots",
            "plots_data"
        ]
    );
    assert_eq!(total, found.len() as u64);
}

/// Two tables at a time, and after the first page one of those that were seen goes: by their names none is missed.
async fn read_on_while_one_goes(source: &Source, gone: &str, go: impl AsyncFnOnce()) {
    let (all, total) = tables(source, &all()).await;
    let mut page = SchemaFilter {
        limit: 2,
        ..SchemaFilter::default()
    };
    let (mut seen, counted) = tables(source, &page).await;
    assert_eq!((seen.len(), counted), (2, total));
    assert!(seen.iter().any(|table| table.name == gone), "{seen:?}");
    go().await;
    loop {
        let last = seen.last().unwrap();
        let schema = last.schema.clone().unwrap_or_default();
        page.after = Some((schema, last.name.clone()));
        let (found, left) = tables(source, &page).await;
        assert_eq!(left, total - u64::try_from(seen.len()).unwrap());
        if found.is_empty() {
            break;
        }
        seen.extend(found);
    }
    let names = |tables: &[Table]| {
        let name = |table: &Table| (table.schema.clone(), table.name.clone());
        tables.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(&seen), names(&all));
}

#[tokio::test]
async fn tables_that_stay_are_read_while_others_go() {
    let file = File::new();
    let drop_one = async || {
        let connection = rusqlite::Connection::open(file.path()).unwrap();
        connection.execute_batch("DROP TABLE badges").unwrap();
    };
    read_on_while_one_goes(&file.source(), "badges", drop_one).await;
    let Some(server) = Server::start().await else {
        return;
    };
    server
        .as_owner(
            "CREATE SCHEMA \"A\"; CREATE TABLE \"A\".z (a int); CREATE TABLE \"A\".\"B\" (a int)",
        )
        .await;
    let source = server.source(&server.owner);
    let drop_one = async || server.as_owner("DROP TABLE \"A\".\"B\"").await;
    read_on_while_one_goes(&source, "B", drop_one).await;
    server.end().await;
}

#[tokio::test]
async fn tests_prove_that_reading_is_all() {
    let file = File::new();
    let report = file.source().test(&call(Shape::Records)).await.unwrap();
    assert!(report.version.starts_with("SQLite 3."), "{report:?}");
    assert!(!report.read_only.is_empty());
    let Some(server) = Server::start().await else {
        return;
    };
    let source = server.source(&server.reader);
    assert!(source.is_untried());
    let reader = source.test(&call(Shape::Records)).await.unwrap();
    assert!(!source.is_untried());
    assert!(reader.version.starts_with("PostgreSQL"), "{reader:?}");
    assert_eq!(reader.role.as_deref(), Some(server.reader.as_str()));
    assert!(
        reader.read_only.contains("read-only transaction"),
        "{reader:?}"
    );
    assert_eq!(reader.warnings, Vec::<String>::new());
    let owner = server
        .source(&server.owner)
        .test(&call(Shape::Records))
        .await
        .unwrap();
    assert!(
        owner
            .warnings
            .iter()
            .any(|warning| warning.contains("tables")),
        "{owner:?}"
    );
    server.end().await;
}

/// The script for the reader was run when the server started; it leaves alone what others need.
#[tokio::test]
async fn the_role_script_leaves_extensions_alone() {
    let Some(server) = Server::start().await else {
        return;
    };
    let known = "SELECT 1 FROM pg_available_extensions WHERE name = 'citext'";
    if server.admin.query(known, &[]).await.unwrap().is_empty() {
        println!("skipped: the server has no extension citext");
        return server.end().await;
    }
    let role = format!("{}_too", server.reader);
    let make = "CREATE EXTENSION citext; CREATE SCHEMA \"it's\"; CREATE FUNCTION \"it's\".f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'";
    server.admin.batch_execute(make).await.unwrap();
    let schemas = ["public".to_owned(), "it's".to_owned()];
    let database: String = server
        .admin
        .query_one("SELECT current_database()::text", &[])
        .await
        .unwrap()
        .get(0);
    let script = sources::role_script(&role, &database, &schemas);
    server.admin.batch_execute(&script).await.unwrap();
    let source = server.source(&server.reader);
    let equal = json(&source, "SELECT 'A'::citext = 'a'::citext", Shape::Scalar).await;
    assert_eq!(equal, true);
    let open = "SELECT has_function_privilege($1, p.oid, 'EXECUTE') FROM pg_proc p WHERE p.proname IN ('wipe', 'f')";
    let open = server.admin.query(open, &[&role]).await.unwrap();
    assert_eq!(open.len(), 2);
    assert!(open.iter().all(|row| !row.get::<_, bool>(0)));
    let gone = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    server.admin.batch_execute(&gone).await.unwrap();
    server.end().await;
}
