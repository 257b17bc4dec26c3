//! The reference that SQL tools are measured against: one route that runs one query by its key, guarded as a tool's is, and
//! writes the row as JSON. No key, no schemas, no log. It makes the table that both read.

use std::net::SocketAddr;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::serve::ListenerExt;
use clap::Args;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use crate::Failure;

#[derive(Args)]
pub(crate) struct BareSqlArgs {
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The file to read; it is made
    #[arg(
        long,
        conflicts_with = "postgres",
        required_unless_present = "postgres"
    )]
    sqlite: Option<PathBuf>,
    /// The URL of the database to read; the table is made there
    #[arg(long)]
    postgres: Option<String>,
}

/// As many as a source keeps at most.
const CONNECTIONS: usize = 20;

const ROWS: &str = "CREATE TABLE bench_users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO bench_users WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < 9999)
SELECT i, 'user-' || i FROM r";

/// How long a query on a file may take, and how long its values may be.
const DEADLINE: Duration = Duration::from_secs(30);
const VALUE_BYTES_MAX: i32 = 16 << 20;

/// What a source does around each query that reads, on PostgreSQL.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = 30000; SET LOCAL lock_timeout = 30000; \
                     SET LOCAL idle_in_transaction_session_timeout = 35000";

#[derive(Deserialize)]
struct Call {
    arguments: Arguments,
}

#[derive(Deserialize)]
struct Arguments {
    id: i32,
}

/// Connections that nobody uses at the moment.
enum Idle {
    Sqlite(Arc<Mutex<Vec<Connection>>>),
    Postgres(Mutex<Vec<(Client, Statement)>>),
}

pub(crate) fn run(args: &BareSqlArgs) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("cannot start the runtime: {e}"))?;
    runtime.block_on(serve(args))
}

async fn serve(args: &BareSqlArgs) -> Result<(), Failure> {
    let idle = match (&args.sqlite, &args.postgres) {
        (Some(file), _) => of_file(file).map_err(|e| format!("{}: {e}", file.display()))?,
        (None, Some(url)) => of_server(url)
            .await
            .map_err(|e| format!("PostgreSQL: {e}"))?,
        (None, None) => return Err("expected --sqlite or --postgres".to_owned()),
    };
    let listener = tokio::net::TcpListener::bind(args.listen)
        .await
        .map_err(|e| format!("cannot listen on {}: {e}", args.listen))?;
    let address = listener
        .local_addr()
        .map_err(|e| format!("cannot read the address: {e}"))?;
    let listener = listener.tap_io(|stream| {
        // A connection that is already gone needs no option.
        let _ = stream.set_nodelay(true);
    });
    let router = axum::Router::new()
        .route("/", post(answer))
        .with_state(Arc::new(idle));
    crate::print_line(&format!("listening on http://{address}"))?;
    axum::serve(listener, router)
        .await
        .map_err(|e| format!("the server stopped: {e}"))
}

fn of_file(path: &FilePath) -> rusqlite::Result<Idle> {
    Connection::open(path)?.execute_batch(ROWS)?;
    let open = |_| Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let all: rusqlite::Result<Vec<Connection>> = (0..CONNECTIONS).map(open).collect();
    Ok(Idle::Sqlite(Arc::new(Mutex::new(all?))))
}

async fn of_server(url: &str) -> Result<Idle, tokio_postgres::Error> {
    let mut all = Vec::new();
    for number in 0..CONNECTIONS {
        let (client, driver) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(driver);
        if number == 0 {
            client.batch_execute(ROWS).await?;
        }
        let sql = "SELECT id, name FROM bench_users WHERE id = $1";
        let statement = client.prepare(sql).await?;
        all.push((client, statement));
    }
    Ok(Idle::Postgres(Mutex::new(all)))
}

async fn answer(
    State(idle): State<Arc<Idle>>,
    Json(call): Json<Call>,
) -> Result<Json<Value>, (StatusCode, String)> {
    let id = call.arguments.id;
    let row = match &*idle {
        Idle::Sqlite(connections) => {
            let connections = Arc::clone(connections);
            let read = tokio::task::spawn_blocking(move || from_file(&connections, id));
            read.await.map_err(|e| e.to_string()).flatten()
        }
        Idle::Postgres(connections) => from_server(connections, id).await,
    };
    row.map(Json)
        .map_err(|failure| (StatusCode::INTERNAL_SERVER_ERROR, failure))
}

fn from_file(connections: &Mutex<Vec<Connection>>, id: i32) -> Result<Value, Failure> {
    let connection = taken(connections)?;
    let row = guard(&connection)
        .and_then(|()| connection.prepare_cached("SELECT id, name FROM bench_users WHERE id = ?1"))
        .and_then(|mut statement| {
            statement.query_row([id], |row| {
                Ok(json!({"id": row.get::<_, i64>(0)?, "name": row.get::<_, String>(1)?}))
            })
        });
    let row = row.and_then(|row| {
        connection.progress_handler(0, None::<fn() -> bool>)?;
        Ok(row)
    });
    put_back(connections, connection);
    row.map_err(|e| e.to_string())
}

/// As a source guards each query on a file: it ends at its deadline, waits for no lock longer than that, and makes no
/// value that is too long.
fn guard(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + DEADLINE;
    connection.progress_handler(1000, Some(move || Instant::now() >= deadline))?;
    connection.busy_timeout(DEADLINE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    Ok(())
}

async fn from_server(
    connections: &Mutex<Vec<(Client, Statement)>>,
    id: i32,
) -> Result<Value, Failure> {
    let connection = taken(connections)?;
    let (client, statement) = &connection;
    let parameters: [&(dyn ToSql + Sync); 1] = [&id];
    let (began, row, ended) = tokio::join!(
        client.batch_execute(BEGIN),
        client.query_one(statement, &parameters),
        client.batch_execute("ROLLBACK"),
    );
    let row = began.and(row).map_err(|e| e.to_string());
    let row = row.map(|row| json!({"id": row.get::<_, i32>(0), "name": row.get::<_, &str>(1)}));
    ended.map_err(|e| e.to_string())?;
    put_back(connections, connection);
    row
}

fn taken<T>(connections: &Mutex<Vec<T>>) -> Result<T, Failure> {
    let mut all = connections.lock().unwrap_or_else(PoisonError::into_inner);
    all.pop()
        .ok_or_else(|| format!("more than {CONNECTIONS} ask at a time"))
}

fn put_back<T>(connections: &Mutex<Vec<T>>, connection: T) {
    let mut all = connections.lock().unwrap_or_else(PoisonError::into_inner);
    all.push(connection);
}
