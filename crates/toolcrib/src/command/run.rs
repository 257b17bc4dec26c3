//! `toolcrib run`: a request, what is done about it while it happens, and its output. What it asks is asked here, where
//! somebody sits at a terminal.

use super::answering::{answers, asked_line, how_to_answer};
use super::chosen::{answering, pending};
use super::following::follow;
use super::input::Input;
use super::leaving::{self, Leaving, none_begun, perhaps_begun, perhaps_cancelled};
use super::tools::text;
use crate::cli::Run;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Cause, Failure, Result, printable};
use serde_json::{Value, json};

/// The codes of a run that is done and did nothing: somebody let none of its calls run, or did not say what they need.
const DID_NOTHING: [&str; 2] = ["rejected", "declined"];

pub(crate) async fn run(context: &Context, asked: Run) -> Result {
    let is_piped = asked.output_schema.as_deref() == Some("-");
    let request = requested(&asked.words, is_piped)?;
    let schema = asked.output_schema.as_deref();
    let schema = schema
        .map(|given| Input::option(given, "--output-schema"))
        .transpose()?;
    let schema = schema.map(|input| {
        serde_json::from_str::<Value>(&input.text)
            .map_err(|error| Failure::usage(format!("{}: no JSON: {error}", input.shown)))
    });
    let mut body = json!({"input": request, "wait": false});
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
    let work = async |client: &Client, leaving: &mut Leaving| {
        if asked.detach && matches!(client, Client::Local(_)) {
            let why = "--detach needs a server that goes on with the run";
            return Err(Failure::usage(why).hint("start one with `toolcrib serve`"));
        }
        let begun = begun(client, leaving, body).await?;
        if asked.detach {
            return Ok(begun);
        }
        let id = text(&begun, "id");
        let followed = follow(context, client, leaving, id, asked.quiet).await;
        match followed {
            // Whoever stops waiting here stops the run: it would go on with the next server, unseen.
            Err(failure) if matches!(client, Client::Local(_)) => {
                Err(stopped(context, client, leaving, id, failure).await)
            }
            followed => followed,
        }
    };
    let view = leaving::with(context, none_begun, work).await?;
    if asked.detach {
        match context.out.json {
            true => context.out.value(&view),
            false => context.out.line(text(&view, "id")),
        }
        return Ok(());
    }
    let done = ended(context, &view, asked.quiet);
    let is_over = text(&view, "status") != "needs_input";
    if is_over && context.out.terminal && !context.out.json && !asked.quiet {
        // What `--after` takes; nobody wants it in what they pass on.
        context.out.say(format!("(run {})", text(&view, "id")));
    }
    done
}

/// What is asked for: the words as they stand, or stdin.
fn requested(words: &[String], is_stdin_taken: bool) -> Result<String> {
    let [dash] = words else {
        return Ok(spoken(words));
    };
    if dash != "-" {
        return Ok(spoken(words));
    }
    if is_stdin_taken {
        let why = "stdin is the request or the schema of --output-schema, and not both";
        return Err(Failure::usage(why).hint("a schema is given as @FILE, too"));
    }
    let text = Input::arguments(dash)?.text;
    match text.trim() {
        "" => Err(Failure::usage("stdin: expected a request, and it is empty")),
        text => Ok(text.to_owned()),
    }
}

/// Words without the space that keeps a minus from being taken for an option.
fn spoken(words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(|word| word.trim_start()).collect();
    words.join(" ")
}

/// Begins the run. Whoever leaves meanwhile is told whether there is one.
async fn begun(client: &Client, leaving: &mut Leaving, body: Value) -> Result<Value> {
    let way = leaving.or(none_begun, client.way()).await?;
    let sent = way.request("POST", "/api/v1/runs", Some(body));
    let answer = match client {
        // Nobody else goes on with it: it is waited for, to be stopped.
        Client::Local(_) => leaving.or_second(perhaps_begun, sent).await?,
        _ => leaving.or(perhaps_begun, sent).await?,
    };
    answer.ok()
}

/// Cancels a run that nobody else goes on with, and says so to whoever has left it.
async fn stopped(
    context: &Context,
    client: &Client,
    leaving: &mut Leaving,
    id: &str,
    failure: Failure,
) -> Failure {
    let is_left = failure.cause == Cause::Interrupted;
    if is_left {
        let how = "Ctrl-C again ends the program at once";
        context.out.say(format!("cancelling run {id}; {how}"));
    }
    let place = format!("{}/cancel", path(id));
    let sent = client.request("POST", &place, None);
    let cancelled = leaving.or(|| perhaps_cancelled(id), sent).await;
    match cancelled {
        Ok(said) if is_left && said.is_success() => {
            let status = match text(&said.value(), "status") {
                // What it does takes longer to end than it is waited for.
                "running" => "being cancelled".to_owned(),
                status => status.to_owned(),
            };
            let why = format!("interrupted: run {id} is {status}");
            Failure::new(Cause::Interrupted, why)
        }
        Err(second) if second.cause == Cause::Interrupted => second,
        _ => failure,
    }
}

pub(super) fn path(id: &str) -> String {
    format!("/api/v1/runs/{}", encode(id))
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
            let mut failure = Failure::failed(printable(why));
            if out.terminal && !out.json && !output.trim().is_empty() {
                // The output has said so, and both are read in one place.
                failure.errors.clear();
            }
            Err(if out.json { failure.printed() } else { failure })
        }
        "needs_input" => {
            let id = text(view, "id");
            let mut failure = Failure::failed("the run waits for an answer");
            let pending = pending(view);
            for it in pending {
                failure = failure.hint(printable(&asked_line(it)));
                for line in how_to_answer(it) {
                    failure = failure.hint(printable(&format!("  {line}")));
                }
                if pending.len() > 1 {
                    failure = failure.hint(format!("  {}", answering(id, it)));
                }
            }
            let stops = format!("`toolcrib runs cancel {id}` stops it");
            failure = failure.hint(match pending {
                [only] => {
                    let how = answers(only);
                    format!(
                        "answer with `toolcrib runs answer {id} {how}`, or `--decline`; {stops}"
                    )
                }
                _ => stops,
            });
            Err(if out.json { failure.printed() } else { failure })
        }
        status => {
            let message = view["error"]["message"].as_str().unwrap_or(status);
            let failure = Failure::failed(printable(message));
            Err(if out.json { failure.printed() } else { failure })
        }
    }
}
