//! `toolcrib run`: a request, what is done about it while it happens, and its output. What it asks is asked here, where
//! somebody sits at a terminal.

use super::answering::{DECLINE, answers, asked_here, asked_line, how_to_answer, is_approval};
use super::input::Input;
use super::teller::Teller;
use super::tools::text;
use crate::cli::Run;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Result, printable};
use serde_json::{Value, json};
use std::io::{BufRead, IsTerminal, Write};

/// How long one question for events may take.
const WAIT_SECONDS: u32 = 20;

/// The codes of a run that is done and did nothing: somebody let none of its calls run, or did not say what they need.
const DID_NOTHING: [&str; 2] = ["rejected", "declined"];

pub(crate) async fn run(context: &Context, asked: Run) -> Result {
    let schema = asked
        .output_schema
        .as_deref()
        .map(Input::arguments)
        .transpose()?;
    let schema = schema.map(|input| {
        serde_json::from_str::<Value>(&input.text)
            .map_err(|error| Failure::usage(format!("{}: no JSON: {error}", input.shown)))
    });
    let mut body = json!({"input": asked.words.join(" "), "wait": false});
    let members = [
        ("agent", asked.agent.clone().map(Value::from)),
        ("after", asked.after.clone().map(Value::from)),
        ("output_schema", schema.transpose()?),
        (
            "tools",
            (!asked.tools.is_empty()).then(|| json!(asked.tools)),
        ),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            body[name] = value;
        }
    }
    let work = async |client: &Client| {
        if asked.detach && matches!(client, Client::Local(_)) {
            let why = "--detach needs a server that goes on with the run";
            return Err(Failure::usage(why).hint("start one with `toolcrib serve`"));
        }
        let begun = client
            .request("POST", "/api/v1/runs", Some(body))
            .await?
            .ok()?;
        match asked.detach {
            true => Ok(begun),
            false => {
                let id = text(&begun, "id");
                let followed = follow(context, client, id, asked.quiet).await;
                // Whoever stops waiting here stops the run: it would go on with the next server, unseen.
                if followed.is_err() && matches!(client, Client::Local(_)) {
                    let place = format!("{}/cancel", path(id));
                    let _ = client.request("POST", &place, None).await;
                }
                followed
            }
        }
    };
    let view = Client::with(context, work).await?;
    if asked.detach {
        match context.out.json {
            true => context.out.value(&view),
            false => context.out.line(text(&view, "id")),
        }
        return Ok(());
    }
    ended(context, &view, asked.quiet)
}

pub(super) fn path(id: &str) -> String {
    format!("/api/v1/runs/{}", encode(id))
}

/// Shows what happens until the run is over, or waits for somebody who is not here.
pub(super) async fn follow(
    context: &Context,
    client: &Client,
    id: &str,
    quiet: bool,
) -> Result<Value> {
    let shows = !quiet && !context.out.json;
    let mut teller = Teller::new(&context.out, shows);
    let mut after = String::new();
    loop {
        let news = heard(client, id, &mut teller, &mut after, WAIT_SECONDS).await?;
        let view = client.get(&path(id)).await?;
        match text(&view, "status") {
            "running" if !news.any => teller.tell_silence(WAIT_SECONDS),
            "running" => {}
            "needs_input" => {
                // What led to the question may have been written since.
                heard(client, id, &mut teller, &mut after, 0).await?;
                teller.end_line();
                if !answer_here(context, client, &view).await? {
                    return Ok(view);
                }
            }
            _ if news.is_over => {
                teller.end_line();
                return Ok(view);
            }
            _ => {}
        }
    }
}

/// What a look at the log of a run gave.
struct News {
    any: bool,
    is_over: bool,
}

/// Tells what is new in the log of a run, and where it goes on.
async fn heard(
    client: &Client,
    id: &str,
    teller: &mut Teller<'_>,
    after: &mut String,
    wait_seconds: u32,
) -> Result<News> {
    let place = format!("{}/log?wait_seconds={wait_seconds}&after={after}", path(id));
    let log = client.get(&place).await?;
    let events = log["events"].as_array().map_or(&[][..], Vec::as_slice);
    for event in events {
        teller.tell(event);
        if let Some(id) = event["id"].as_str() {
            id.clone_into(after);
        }
    }
    Ok(News {
        any: !events.is_empty(),
        is_over: log["is_over"] == true,
    })
}

/// How a run ended, as the command's own end.
pub(super) fn ended(context: &Context, view: &Value, quiet: bool) -> Result {
    let out = &context.out;
    if out.json {
        out.value(view);
    }
    match text(view, "status") {
        "done" => {
            let output = text(view, "output");
            let error = &view["error"];
            let why = text(error, "message");
            match output.trim().is_empty() {
                // An empty line would tell nobody that this is all. Of a model's answer a note has said so.
                true if !out.json && why.is_empty() => out.say("the answer is empty"),
                true if !out.json && quiet => out.say(printable(why)),
                true => {}
                // It was written while it came, unless nobody saw it.
                false if !out.json && (quiet || !out.terminal) => out.line(printable(output)),
                _ => {}
            }
            if !DID_NOTHING.contains(&text(error, "code")) {
                return Ok(());
            }
            let failure = Failure::failed(printable(why));
            Err(if out.json { failure.printed() } else { failure })
        }
        "needs_input" => {
            let id = text(view, "id");
            let mut failure = Failure::failed("the run waits for an answer");
            let pending = view["pending"].as_array().into_iter().flatten();
            for it in pending.clone() {
                failure = failure.hint(printable(&asked_line(it)));
                for line in how_to_answer(it) {
                    failure = failure.hint(printable(&format!("  {line}")));
                }
            }
            let how = pending.map(answers).next().unwrap_or_default();
            failure = failure.hint(format!(
                "answer with `toolcrib runs answer {id} {how}`, or `--decline`; `toolcrib runs cancel {id}` stops it"
            ));
            Err(if out.json { failure.printed() } else { failure })
        }
        status => {
            let message = view["error"]["message"].as_str().unwrap_or(status);
            let failure = Failure::failed(printable(message));
            Err(if out.json { failure.printed() } else { failure })
        }
    }
}

/// Asks whoever sits here; false where nobody does.
async fn answer_here(context: &Context, client: &Client, view: &Value) -> Result<bool> {
    let pending = view["pending"].as_array().and_then(|it| it.first());
    let here = std::io::stdin().is_terminal() && !context.out.json;
    let Some(pending) = pending.filter(|_| here) else {
        return Ok(false);
    };
    let say = |line: &str| context.out.say(printable(line));
    say(&asked_line(pending));
    for line in how_to_answer(pending) {
        say(&format!("  {line}"));
    }
    if !is_approval(pending) {
        say(&format!("  ({DECLINE}: do not answer; Ctrl-C: later)"));
    }
    let place = format!("{}/input", path(text(view, "id")));
    loop {
        let Some(mut body) = asked_here(pending, &mut prompted, &mut |why| say(why)) else {
            return Ok(false);
        };
        body["request_id"] = pending["request_id"].clone();
        let said = client.request("POST", &place, Some(body)).await?;
        if said.is_success() {
            return Ok(true);
        }
        for error in &said.failure().errors {
            context.out.warn(printable(error));
        }
        // What does not fit is asked for again; of what is not asked any more the run tells.
        if said.status != 422 {
            return Ok(true);
        }
    }
}

/// A line that somebody types; none where they have gone, or press Ctrl-C: then the run waits. The line is read aside, since
/// nothing else ends a read that has begun.
fn prompted(prompt: &str) -> Option<String> {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{prompt}").and_then(|()| err.flush());
    drop(err);
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let read = read.ok().filter(|bytes| *bytes > 0);
        let _ = tell.send(read.map(|_| line.trim().to_owned()));
    });
    let read = async {
        tokio::select! {
            line = told => line.ok().flatten(),
            _ = tokio::signal::ctrl_c() => None,
        }
    };
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(read))
}
