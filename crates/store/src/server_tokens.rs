//! Who has signed in to which upstream server, and how authorization servers know us. What is secret of it lies sealed
//! among the secrets.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use uuid::Uuid;

/// A sign-in to a server. The system's is the one for everybody.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ServerTokenRow {
    pub server: String,
    pub user_id: Uuid,
    pub secret_id: Uuid,
    /// The address of the server that the token is for, without its query.
    pub url: String,
    pub issuer: String,
    /// With spaces between them.
    pub scopes: String,
    pub expires_at: Option<Millis>,
    pub can_refresh: bool,
    pub created_at: Millis,
    pub updated_at: Millis,
}

/// A registration at an authorization server, for one address to come back to.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ServerClientRow {
    pub server: String,
    pub issuer: String,
    pub redirect_uri: String,
    pub secret_id: Uuid,
    pub created_at: Millis,
}

pub(crate) const PUT_SERVER_TOKEN: &str = "INSERT INTO server_tokens \
    (server, user_id, secret_id, url, issuer, scopes, expires_at, can_refresh, created_at, updated_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
    ON CONFLICT (server, user_id) DO UPDATE SET secret_id = excluded.secret_id, url = excluded.url, \
    issuer = excluded.issuer, scopes = excluded.scopes, expires_at = excluded.expires_at, \
    can_refresh = excluded.can_refresh, updated_at = excluded.updated_at";

/// Only where it is still there: whoever has signed out meanwhile stays so.
pub(crate) const RENEW_SERVER_TOKEN: &str = "UPDATE server_tokens SET scopes = $1, expires_at = $2, \
    can_refresh = $3, updated_at = $4 WHERE server = $5 AND user_id = $6 AND secret_id = $7";

pub(crate) const DELETE_SERVER_TOKEN: &str =
    "DELETE FROM server_tokens WHERE server = $1 AND user_id = $2";

pub(crate) const PUT_SERVER_CLIENT: &str = "INSERT INTO server_clients \
    (server, issuer, redirect_uri, secret_id, created_at) VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (server, issuer, redirect_uri) DO UPDATE SET secret_id = excluded.secret_id, \
    created_at = excluded.created_at";

pub(crate) const DELETE_SERVER_CLIENT: &str = "DELETE FROM server_clients WHERE secret_id = $1";

impl Db {
    /// In the order in which people signed in.
    pub async fn server_tokens(&self) -> Result<Vec<ServerTokenRow>> {
        const SQL: &str = "SELECT server, user_id, secret_id, url, issuer, scopes, expires_at, can_refresh, \
            created_at, updated_at FROM server_tokens ORDER BY created_at, user_id";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }

    /// One of them.
    pub async fn server_token(&self, server: &str, user: Uuid) -> Result<Option<ServerTokenRow>> {
        const SQL: &str = "SELECT server, user_id, secret_id, url, issuer, scopes, expires_at, can_refresh, \
            created_at, updated_at FROM server_tokens WHERE server = $1 AND user_id = $2";
        Ok(
            each!(self, pool => sqlx::query_as(SQL).bind(server).bind(user).fetch_optional(pool).await)?,
        )
    }

    pub async fn server_clients(&self) -> Result<Vec<ServerClientRow>> {
        const SQL: &str = "SELECT server, issuer, redirect_uri, secret_id, created_at FROM server_clients \
            ORDER BY server, issuer, redirect_uri";
        Ok(each!(self, pool => sqlx::query_as(SQL).fetch_all(pool).await)?)
    }
}
