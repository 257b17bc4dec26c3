//! `toolcrib keys`: make, list and revoke API keys.

use super::findings::Findings;
use super::tools::{text, whole};
use crate::cli::Keys;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Out, Result};
use catalog::clock::Clock;
use serde_json::{Value, json};

const PATH: &str = "/api/v1/keys";

pub(crate) async fn run(context: &Context, command: Keys) -> Result {
    match command {
        Keys::Create {
            name,
            user,
            scopes,
            expires_at,
        } => {
            let body =
                json!({"name": name, "user": user, "scopes": scopes, "expires_at": expires_at});
            create(context, name.trim(), body).await
        }
        Keys::List => list(context).await,
        Keys::Revoke { which } => revoke(context, &which).await,
    }
}

async fn create(context: &Context, name: &str, body: Value) -> Result {
    let out = &context.out;
    let (page, key) = Client::with(context, async |client| {
        let page = whole(client, PATH).await?;
        let key = client.request("POST", PATH, Some(body)).await?.ok()?;
        Ok((page, key))
    })
    .await?;
    if out.json {
        out.value(&key);
    } else {
        out.line(text(&key, "key"));
        let scopes = scopes(&key);
        out.note(format!(
            "Its scopes: {scopes}. It is shown only now; keep it."
        ));
    }
    let same = named(&page, name);
    let user = text(&key, "user");
    let live = same.filter(|key| is_live(key) && text(key, "user") == user);
    let others: Vec<&str> = live.map(|key| text(key, "id")).collect();
    if !others.is_empty() {
        out.warn(format!(
            "{user} had a key '{name}' already, and it stays valid: {}; the log shows both by the same name. `toolcrib keys revoke ID` ends one",
            others.join(", ")
        ));
    }
    Ok(())
}

async fn list(context: &Context) -> Result {
    let out = &context.out;
    let page = Client::with(context, async |client| whole(client, PATH).await).await?;
    if out.json {
        out.value(&page);
        return Ok(());
    }
    let items = page["items"].as_array().into_iter().flatten();
    let rows: Vec<Vec<String>> = items.map(|key| row(out, key)).collect();
    out.table(
        &["id", "name", "user", "scopes", "used", "expires", "revoked"],
        &rows,
    );
    Ok(())
}

async fn revoke(context: &Context, which: &str) -> Result {
    let key = Client::with(context, async |client| {
        let page = whole(client, PATH).await?;
        let key = find(&page, which)?;
        let path = format!("{PATH}/{}", encode(text(key, "id")));
        client.request("DELETE", &path, None).await?.ok()?;
        Ok(key.clone())
    })
    .await?;
    if context.out.json {
        let revoked = json!({"id": key["id"], "name": key["name"], "revoked": true});
        context.out.value(&revoked);
    }
    context.out.done(format!("revoked {which}"));
    Ok(())
}

fn named<'a>(page: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    let keys = page["items"].as_array().into_iter().flatten();
    keys.filter(move |key| text(key, "name") == name)
}

/// Neither revoked nor over.
fn is_live(key: &Value) -> bool {
    let now = app::time::rfc3339(Clock::System.now());
    let is_over = key["expires_at"].as_str().is_some_and(|end| *end <= *now);
    key["revoked_at"].is_null() && !is_over
}

fn scopes(key: &Value) -> String {
    let scopes = key["scopes"].as_array().into_iter().flatten();
    let scopes: Vec<&str> = scopes.filter_map(Value::as_str).collect();
    scopes.join(",")
}

fn row(out: &Out, key: &Value) -> Vec<String> {
    let scopes = scopes(key);
    let cells = [
        text(key, "id"),
        text(key, "name"),
        text(key, "user"),
        &scopes,
        &out.time(text(key, "last_used_at")),
        &out.time(text(key, "expires_at")),
        &out.time(text(key, "revoked_at")),
    ];
    cells.map(str::to_owned).to_vec()
}

/// The key that is meant; a name must not be ambiguous, and a key is revoked only once.
fn find<'a>(page: &'a Value, meant: &str) -> Result<&'a Value> {
    let mut keys = page["items"].as_array().into_iter().flatten();
    let by_id = keys.find(|key| text(key, "id") == meant);
    let found: Vec<&Value> = match by_id {
        Some(key) => vec![key],
        None => named(page, meant).collect(),
    };
    let open = found
        .iter()
        .copied()
        .filter(|key| key["revoked_at"].is_null());
    let open: Vec<&Value> = open.collect();
    match (open.as_slice(), found.last()) {
        ([only], _) => Ok(only),
        ([], Some(last)) => Err(Failure::failed(format!(
            "the key '{meant}' was already revoked at {}; nothing was changed",
            text(last, "revoked_at")
        ))),
        ([], None) => Err(
            Failure::failed(format!("there is no key '{meant}' to revoke"))
                .hint("`toolcrib keys list` shows them"),
        ),
        (several, _) => {
            let made =
                |key: &&Value| format!("{} (made {})", text(key, "id"), text(key, "created_at"));
            let ids: Vec<String> = several.iter().map(made).collect();
            Err(
                Failure::failed(format!("{} keys have the name '{meant}'", several.len()))
                    .hint(format!("revoke by id: {}", ids.join(", "))),
            )
        }
    }
}

/// Keys that have expired, or will within a week: whoever uses one is locked out, and does not know why.
pub(super) fn judge(findings: &mut Findings, keys: &[Value]) {
    const WEEK_MS: i64 = 7 * 86_400_000;
    let now = Clock::System.now();
    let (today, soon) = (app::time::rfc3339(now), app::time::rfc3339(now + WEEK_MS));
    for key in keys.iter().filter(|key| key["revoked_at"].is_null()) {
        let (name, user, end) = (
            text(key, "name"),
            text(key, "user"),
            text(key, "expires_at"),
        );
        let remedy = format!(
            "`toolcrib keys create NAME --user {user}` makes another for {user}; then `toolcrib keys revoke {}`",
            text(key, "id")
        );
        if !end.is_empty() && *end <= *today {
            findings.warning(
                "keys.expired",
                format!("the key '{name}' of {user} expired at {end}"),
                remedy,
            );
        } else if !end.is_empty() && *end <= *soon {
            findings.warning(
                "keys.expiring",
                format!("the key '{name}' of {user} expires at {end}"),
                remedy,
            );
        }
    }
}
