//! `toolcrib keys`: make, list and revoke API keys.

use super::tools::text;
use crate::cli::Keys;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Result};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/keys";

pub(crate) async fn run(context: &Context, command: Keys) -> Result {
    let out = &context.out;
    match command {
        Keys::Create {
            name,
            scopes,
            expires_at,
        } => {
            let mut body = json!({"name": name, "scopes": scopes});
            if let Some(end) = expires_at {
                body["expires_at"] = Value::String(end);
            }
            let ask = async |client: &Client| client.request("POST", PATH, Some(body)).await?.ok();
            let key = Client::with(context, ask).await?;
            if out.json {
                out.value(&key);
            } else {
                out.line(text(&key, "key"));
                out.note("It is shown only now; keep it.");
            }
        }
        Keys::List => {
            let page = Client::with(context, async |client| client.get(PATH).await).await?;
            if out.json {
                out.value(&page);
            } else {
                let rows: Vec<Vec<String>> = page["items"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(row)
                    .collect();
                out.table(
                    &[
                        "id", "name", "user", "scopes", "created", "expires", "revoked",
                    ],
                    &rows,
                );
            }
        }
        Keys::Revoke { which: key } => {
            Client::with(context, async |client| {
                let page = client.get(PATH).await?;
                let id = find(&page, &key)?;
                client
                    .request("DELETE", &format!("{PATH}/{}", encode(id)), None)
                    .await?
                    .ok()
            })
            .await?;
            out.note(format!("revoked {key}"));
        }
    }
    Ok(())
}

fn row(key: &Value) -> Vec<String> {
    let scopes = key["scopes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let scopes = scopes.collect::<Vec<_>>().join(",");
    let cells = [
        text(key, "id"),
        text(key, "name"),
        text(key, "user"),
        &scopes,
        text(key, "created_at"),
        text(key, "expires_at"),
        text(key, "revoked_at"),
    ];
    cells.map(str::to_owned).to_vec()
}

/// The id of the key that is meant; a name must not be ambiguous.
fn find<'a>(page: &'a Value, meant: &str) -> Result<&'a str> {
    let keys = || page["items"].as_array().into_iter().flatten();
    if let Some(key) = keys().find(|key| text(key, "id") == meant) {
        return Ok(text(key, "id"));
    }
    let live: Vec<&Value> = keys()
        .filter(|key| text(key, "name") == meant && key["revoked_at"].is_null())
        .collect();
    match live.as_slice() {
        [only] => Ok(text(only, "id")),
        [] => Err(
            Failure::failed(format!("there is no key '{meant}' to revoke"))
                .hint("`toolcrib keys list` shows them"),
        ),
        several => Err(
            Failure::failed(format!("{} keys have the name '{meant}'", several.len()))
                .hint("revoke by id; `toolcrib keys list` shows it"),
        ),
    }
}
