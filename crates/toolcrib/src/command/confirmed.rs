//! `toolcrib tools confirm`, `confirmed` and `unconfirm`: requests that a tool was right for.

use super::limits::show;
use super::tools::{path, text};
use crate::cli::Confirming;
use crate::client::Client;
use crate::context::Context;
use crate::out::{Out, Result};
use serde_json::{Value, json};

pub(crate) async fn run(context: &Context, command: Confirming) -> Result {
    match command {
        Confirming::Confirm { name, words } => confirm(context, &name, &words.join(" ")).await,
        Confirming::Confirmed { name } => list(context, &name).await,
        Confirming::Unconfirm { name, words, all } => {
            let query = (!all).then(|| words.join(" "));
            unconfirm(context, &name, query).await
        }
    }
}

fn place(name: &str) -> String {
    format!("{}/confirmed", path(name))
}

async fn confirm(context: &Context, name: &str, query: &str) -> Result {
    let body = json!({"query": query});
    let ask = async |client: &Client| {
        let answer = client.request("POST", &place(name), Some(body)).await?;
        answer.ok()
    };
    let confirmed = Client::with(context, ask).await?;
    let out = &context.out;
    if out.json {
        out.value(&confirmed);
    }
    out.done(format!(
        "{name} is right for \"{}\"",
        text(&confirmed, "query")
    ));
    Ok(())
}

async fn list(context: &Context, name: &str) -> Result {
    let ask = async |client: &Client| client.get(&place(name)).await;
    let page = Client::with(context, ask).await?;
    let row = |out: &Out, it: &Value| {
        let cells = [
            text(it, "query").to_owned(),
            text(it, "user").to_owned(),
            out.time(text(it, "at")),
        ];
        cells.to_vec()
    };
    let out = &context.out;
    show(out, &page, &["request", "confirmed by", "at"], row);
    let any = page["items"].as_array().is_some_and(|it| !it.is_empty());
    if any && page["counts"] == false && !out.json {
        out.warn("they do not count while selection.confirmed is false");
    }
    Ok(())
}

async fn unconfirm(context: &Context, name: &str, query: Option<String>) -> Result {
    let body = query.as_ref().map(|query| json!({"query": query}));
    let place = match &query {
        Some(_) => place(name),
        None => format!("{}?all=true", place(name)),
    };
    let ask = async |client: &Client| client.request("DELETE", &place, body).await?.ok();
    Client::with(context, ask).await?;
    let out = &context.out;
    if out.json {
        out.value(&json!({"name": name, "query": query, "removed": true}));
    }
    out.done(match query {
        Some(query) => format!("{name} is no longer confirmed for \"{query}\""),
        None => format!("nothing is confirmed of {name} any more"),
    });
    Ok(())
}
