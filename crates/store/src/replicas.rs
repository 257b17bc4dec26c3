//! Which servers work on this registry: each tells again and again that it is there, and reads who else is.

use crate::db::{Db, Result};
use catalog::tool::Millis;
use sqlx::postgres::PgConnectOptions;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::str::FromStr;

/// A server that has not been heard of for so long is gone.
pub const GONE_AFTER_MS: Millis = 10_000;

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ReplicaRow {
    pub instance: String,
    /// The installation's name, in rows that outlive the process.
    pub node: String,
    /// Where the others reach it.
    pub address: Option<String>,
    pub version: String,
    pub shelf_hash: String,
    /// Its own name, sealed with its newest key.
    pub proof: String,
    /// How long ago it began, and how long ago it was heard of.
    pub started_ms_ago: Millis,
    pub seen_ms_ago: Millis,
}

/// The address of this machine on the way to the database: others that use it come the same way. Nothing is sent.
pub async fn way_to(url: &str) -> Option<IpAddr> {
    let options = PgConnectOptions::from_str(url).ok()?;
    if options.get_socket().is_some() || options.get_host().starts_with('/') {
        // The database is on this machine, and so is everybody who uses it.
        return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let place = (options.get_host().to_owned(), options.get_port());
    for there in tokio::net::lookup_host(place).await.ok()? {
        let any: SocketAddr = match there {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let Ok(socket) = UdpSocket::bind(any) else {
            continue;
        };
        if socket.connect(there).is_ok()
            && let Ok(here) = socket.local_addr()
        {
            return Some(here.ip());
        }
    }
    None
}

/// Servers by what an operator knows them by.
pub fn named(replicas: &[ReplicaRow]) -> String {
    let name = |row: &ReplicaRow| match &row.address {
        Some(address) => format!("{} at {address}", row.node),
        None => row.node.clone(),
    };
    let names: Vec<String> = replicas.iter().map(name).collect();
    names.join(", ")
}

/// The database's clock in milliseconds.
const NOW: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";

impl Db {
    /// Says that this process is there.
    pub async fn replica_seen(&self, row: &ReplicaRow) -> Result<()> {
        let Db::Postgres(pool, ..) = self else {
            return Ok(());
        };
        let sql = format!(
            "INSERT INTO replicas (instance, node, address, version, shelf_hash, proof, started_at, seen_at) \
             VALUES ($1, $2, $3, $4, $5, $6, {NOW}, {NOW}) ON CONFLICT (instance) DO UPDATE SET \
             address = excluded.address, shelf_hash = excluded.shelf_hash, \
             proof = excluded.proof, seen_at = excluded.seen_at"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql));
        let query = query.bind(&row.instance).bind(&row.node).bind(&row.address);
        let query = query
            .bind(&row.version)
            .bind(&row.shelf_hash)
            .bind(&row.proof);
        query.execute(pool).await?;
        Ok(())
    }

    /// This process is leaving.
    pub async fn replica_left(&self, instance: &str) -> Result<()> {
        if let Db::Postgres(pool, ..) = self {
            let gone = sqlx::query("DELETE FROM replicas WHERE instance = $1");
            gone.bind(instance).execute(pool).await?;
        }
        Ok(())
    }

    /// Those that were heard of lately.
    pub async fn living_replicas(&self) -> Result<Vec<ReplicaRow>> {
        let mut all = self.replicas().await?;
        all.retain(|row| row.seen_ms_ago < GONE_AFTER_MS);
        Ok(all)
    }

    /// Every process that was ever heard of and did not say that it leaves, this one too.
    pub async fn replicas(&self) -> Result<Vec<ReplicaRow>> {
        let Db::Postgres(pool, ..) = self else {
            return Ok(Vec::new());
        };
        let sql = format!(
            "SELECT instance, node, address, version, shelf_hash, proof, {NOW} - started_at AS started_ms_ago, \
             {NOW} - seen_at AS seen_ms_ago FROM replicas ORDER BY started_at, instance"
        );
        let rows = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .fetch_all(pool)
            .await?;
        Ok(rows)
    }
}
