//! `toolcrib runs`: what is under way, what waits for somebody, and answering it.

use super::answering::{asked_line, decided, declined, how_to_answer, is_approval, said};
use super::input::Input;
use super::limits::show;
use super::run::{ended, follow, path};
use super::tools::text;
use crate::cli::Runs;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Out, Result, printable};
use agent::words::Verb;
use serde_json::{Value, json};

pub(crate) async fn run(context: &Context, command: Runs) -> Result {
    match command {
        Runs::List {
            status,
            agent,
            limit,
        } => list(context, status, agent, limit).await,
        Runs::Show { id } => show_one(context, &id).await,
        Runs::Follow { id } => {
            let work = async |client: &Client| {
                let view = client.get(&path(&id)).await?;
                // What this process does not drive, nobody does.
                if matches!(client, Client::Local(_)) && text(&view, "status") == "running" {
                    let why = format!("run {id} is under way, and no server goes on with it");
                    let stop = format!("`toolcrib runs cancel {id}` stops it");
                    return Err(Failure::failed(why)
                        .hint("start one with `toolcrib serve`")
                        .hint(stop));
                }
                follow(context, client, &id, false).await
            };
            let view = Client::with(context, work).await?;
            ended(context, &view, false)
        }
        Runs::Answer {
            id,
            answer,
            decline: _,
            request,
            text,
            arguments,
        } => answer_one(context, &id, answer, request, More { text, arguments }).await,
        Runs::Cancel { id } => cancel(context, &id).await,
    }
}

async fn list(
    context: &Context,
    status: Option<String>,
    agent: Option<String>,
    limit: u16,
) -> Result {
    let mut place = format!("/api/v1/runs?limit={limit}");
    for (name, value) in [("status", status), ("agent", agent)] {
        if let Some(value) = value {
            let value = encode(&value);
            place.push_str(&format!("&{name}={value}"));
        }
    }
    let ask = async |client: &Client| client.get(&place).await;
    let page = Client::with(context, ask).await?;
    let row = |out: &Out, it: &Value| {
        let cells = [
            text(it, "id").to_owned(),
            text(it, "status").to_owned(),
            text(it, "agent").to_owned(),
            out.time(text(it, "created_at")),
            text(it, "input").chars().take(60).collect(),
        ];
        cells.to_vec()
    };
    let header = ["id", "status", "agent", "begun", "request"];
    show(&context.out, &page, &header, row);
    Ok(())
}

async fn show_one(context: &Context, id: &str) -> Result {
    let ask = async |client: &Client| client.get(&path(id)).await;
    let view = Client::with(context, ask).await?;
    let out = &context.out;
    if out.json {
        out.value(&view);
        return Ok(());
    }
    out.line(format!(
        "{}  {}",
        text(&view, "status"),
        printable(text(&view, "input"))
    ));
    for pending in view["pending"].as_array().into_iter().flatten() {
        let (id, until) = (text(pending, "request_id"), text(pending, "expires_at"));
        out.line(format!("asks {id} (until {}):", out.time(until)));
        out.line(printable(&asked_line(pending)));
        for line in how_to_answer(pending) {
            out.line(printable(&format!("  {line}")));
        }
    }
    if let Some(output) = view["output"].as_str() {
        out.line(printable(output));
    }
    if let Some(message) = view["error"]["message"].as_str() {
        out.warn(printable(message));
    }
    Ok(())
}

async fn answer_one(
    context: &Context,
    id: &str,
    answer: Option<String>,
    request: Option<String>,
    more: More,
) -> Result {
    let work = async |client: &Client| {
        let view = client.get(&path(id)).await?;
        let pending = chosen(&view, request.as_deref())?;
        let mut body = match answer {
            None => declined(),
            Some(line) if is_approval(pending) => json!({"answer": decision(&line, &more)?}),
            Some(line) => json!({"answer": said(&pending["schema"], &line)}),
        };
        body["request_id"] = pending["request_id"].clone();
        let place = format!("{}/input", path(id));
        client.request("POST", &place, Some(body)).await?.ok()?;
        follow(context, client, id, false).await
    };
    let view = Client::with(context, work).await?;
    ended(context, &view, false)
}

/// What belongs to a decision.
struct More {
    text: Option<String>,
    arguments: Option<String>,
}

/// What is decided about a call: in words, or as the API wants it.
fn decision(answer: &str, more: &More) -> Result<Value> {
    if let Ok(whole @ Value::Object(_)) = serde_json::from_str::<Value>(answer) {
        return Ok(whole);
    }
    let arguments = more
        .arguments
        .as_deref()
        .map(Input::arguments)
        .transpose()?;
    let arguments = arguments.map(|it| it.text);
    let belongs = |verb: Verb| match verb {
        Verb::Edit => arguments,
        Verb::Reject | Verb::Respond => more.text.clone(),
        Verb::Approve | Verb::Always => None,
    };
    decided(answer, belongs).map_err(|why| {
        let failure = Failure::usage(why);
        failure
            .hint("--arguments gives those of `edit`, --text the words of `reject` and `respond`")
    })
}

/// The question that is meant.
fn chosen<'a>(view: &'a Value, request: Option<&str>) -> Result<&'a Value> {
    let pending = view["pending"].as_array().map_or(&[][..], Vec::as_slice);
    let ids = || {
        let ids: Vec<&str> = pending.iter().map(|it| text(it, "request_id")).collect();
        ids.join(", ")
    };
    match (request, pending) {
        (_, []) => Err(Failure::failed("the run asks nothing now")),
        (None, [only]) => Ok(only),
        (None, _) => {
            let why = format!("the run asks several things: {}", ids());
            Err(Failure::usage(why).hint("name one with --request"))
        }
        (Some(wanted), _) => {
            let found = pending.iter().find(|it| text(it, "request_id") == wanted);
            found.ok_or_else(|| {
                Failure::usage(format!(
                    "the run does not ask '{wanted}'; it asks {}",
                    ids()
                ))
            })
        }
    }
}

async fn cancel(context: &Context, id: &str) -> Result {
    let place = format!("{}/cancel", path(id));
    let ask = async |client: &Client| client.request("POST", &place, None).await?.ok();
    let view = Client::with(context, ask).await?;
    let out = &context.out;
    if out.json {
        out.value(&view);
    }
    out.done(format!("run {id} is {}", text(&view, "status")));
    Ok(())
}
