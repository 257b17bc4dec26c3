//! `toolcrib audit`: who changed what, and whether the record of it is whole.

use super::tools::text;
use crate::cli::Audit;
use crate::client::{Client, query};
use crate::context::Context;
use crate::out::{Failure, Result};
use serde_json::Value;

const PATH: &str = "/api/v1/audit";

pub(crate) async fn run(context: &Context, command: Audit) -> Result {
    match command {
        Audit::List {
            actor,
            action,
            target,
            since,
            limit,
        } => {
            let parameters = query(&[
                ("actor", actor),
                ("action", action),
                ("target", target),
                ("since", since),
                ("limit", Some(limit.to_string())),
            ]);
            list(context, &format!("{PATH}{parameters}")).await
        }
        Audit::Verify => verify(context).await,
    }
}

async fn list(context: &Context, path: &str) -> Result {
    let out = &context.out;
    let page = Client::with(context, async |client| client.get(path).await).await?;
    if out.json {
        out.value(&page);
        return Ok(());
    }
    let items = page["items"].as_array().into_iter().flatten();
    let row = |act: &Value| {
        let part = |key: &str| match &act[key] {
            Value::Null => String::new(),
            value => value.to_string(),
        };
        vec![
            act["seq"].to_string(),
            out.time(text(act, "at")),
            text(act, "actor").to_owned(),
            text(act, "action").to_owned(),
            text(act, "target").to_owned(),
            part("before"),
            part("after"),
        ]
    };
    let rows: Vec<Vec<String>> = items.map(row).collect();
    let columns = ["seq", "at", "actor", "action", "target", "before", "after"];
    out.table(&columns, &rows);
    Ok(())
}

async fn verify(context: &Context) -> Result {
    let path = format!("{PATH}/verify");
    let check = Client::with(context, async |client| client.get(&path).await).await?;
    let out = &context.out;
    if out.json {
        out.value(&check);
    }
    if check["valid"] == true {
        if !out.json {
            out.line(format!(
                "{} entries, whole; the last one's hash is {}",
                check["entries"],
                text(&check, "head")
            ));
        }
        return Ok(());
    }
    let why = format!("the audit log is not whole: {}", text(&check, "problem"));
    let failure = Failure::failed(why)
        .hint("somebody changed the database by hand; compare it with a backup made before");
    Err(if out.json { failure.printed() } else { failure })
}
