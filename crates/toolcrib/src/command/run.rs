//! `toolcrib run`: a request, what is done about it while it happens, and its output. What it asks is asked here, where
//! somebody sits at a terminal.

use super::input::Input;
use super::tools::text;
use crate::cli::Run;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Out, Paint, Result, printable};
use serde_json::{Value, json};
use std::io::{BufRead, IsTerminal, Write};

/// How long one question for events may take.
const WAIT_SECONDS: u32 = 20;

/// What is shown of arguments and results on one line.
const SHOWN_CHARS: usize = 200;

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
    if asked.detach && !context.out.json {
        context.out.line(text(&view, "id"));
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
    let mut teller = Teller {
        out: &context.out,
        shows,
        writing: false,
    };
    let mut after = String::new();
    loop {
        let place = format!("{}/log?wait_seconds={WAIT_SECONDS}&after={after}", path(id));
        let log = client.get(&place).await?;
        for event in log["events"].as_array().into_iter().flatten() {
            teller.tell(event);
            if let Some(id) = event["id"].as_str() {
                after = id.to_owned();
            }
        }
        let view = client.get(&path(id)).await?;
        match text(&view, "status") {
            "running" => {}
            "needs_input" => {
                teller.end_line();
                if !answer_here(context, client, &view).await? {
                    return Ok(view);
                }
            }
            _ if log["is_over"] == true => {
                teller.end_line();
                return Ok(view);
            }
            _ => {}
        }
    }
}

/// How a run ended, as the command's own end.
pub(super) fn ended(context: &Context, view: &Value, quiet: bool) -> Result {
    let out = &context.out;
    if out.json {
        out.value(view);
    }
    match text(view, "status") {
        "done" => {
            // It was written while it came, unless nobody saw it.
            if (quiet || !out.terminal) && !out.json {
                out.line(printable(text(view, "output")));
            }
            Ok(())
        }
        "needs_input" => {
            let id = text(view, "id");
            let mut failure = Failure::failed("the run waits for an answer");
            for pending in view["pending"].as_array().into_iter().flatten() {
                failure = failure.hint(printable(&asked_line(pending)));
            }
            let is_approval = |it: &Value| text(it, "kind") == "approval";
            let pending = view["pending"].as_array();
            let how = match pending.is_some_and(|all| all.iter().any(is_approval)) {
                true => "approve|reject",
                false => "…",
            };
            failure = failure.hint(format!("answer with `toolcrib runs answer {id} {how}`"));
            Err(if out.json { failure.printed() } else { failure })
        }
        status => {
            let message = view["error"]["message"].as_str().unwrap_or(status);
            let failure = Failure::failed(printable(message));
            Err(if out.json { failure.printed() } else { failure })
        }
    }
}

fn asked_line(pending: &Value) -> String {
    match text(pending, "kind") {
        "approval" => format!(
            "it asks whether {} may be called with {} ({})",
            text(pending, "tool"),
            pending["arguments"],
            text(pending, "because"),
        ),
        _ => format!("it asks: {}", text(pending, "question")),
    }
}

/// Asks whoever sits here; false where nobody does.
async fn answer_here(context: &Context, client: &Client, view: &Value) -> Result<bool> {
    let pending = view["pending"].as_array().and_then(|it| it.first());
    let here = std::io::stdin().is_terminal() && !context.out.json;
    let Some(pending) = pending.filter(|_| here) else {
        return Ok(false);
    };
    let is_approval = text(pending, "kind") == "approval";
    context.out.say(printable(&asked_line(pending)));
    let choices = pending["schema"]["enum"].as_array();
    for choice in choices.into_iter().flatten() {
        context.out.say(format!(
            "  - {}",
            printable(choice.as_str().unwrap_or_default())
        ));
    }
    let place = format!("{}/input", path(text(view, "id")));
    loop {
        let answer = match is_approval {
            true => prompted("approve, always or reject: ")
                .map(|line| json!({"decision": decision(&line)})),
            false => typed(&pending["schema"]),
        };
        let Some(answer) = answer else {
            return Ok(false);
        };
        let body = json!({"request_id": pending["request_id"], "answer": answer});
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

/// An answer as it was typed, a line for each member of a form; the server reads it as what the question wants.
fn typed(schema: &Value) -> Option<Value> {
    let members = schema["properties"].as_object();
    let members = members.filter(|all| all.len() > 1 && schema["type"] == "object");
    let Some(members) = members else {
        return prompted("> ").map(Value::from);
    };
    let line = |name: &String| Some((name.clone(), Value::from(prompted(&format!("{name}> "))?)));
    let lines = members.keys().map(line).collect::<Option<Vec<_>>>()?;
    // What is left empty is left out.
    let given = lines.into_iter().filter(|(_, line)| line != "");
    Some(Value::Object(given.collect()))
}

/// What people say for it.
fn decision(line: &str) -> &str {
    match line.to_lowercase().as_str() {
        "y" | "yes" | "ok" | "네" | "예" => "approve",
        "n" | "no" | "아니요" | "아니오" => "reject",
        _ => line,
    }
}

fn prompted(prompt: &str) -> Option<String> {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{prompt}").and_then(|()| err.flush());
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.ok()
        .filter(|bytes| *bytes > 0)
        .map(|_| line.trim().to_owned())
}

struct Teller<'a> {
    out: &'a Out,
    shows: bool,
    /// Whether the last thing written was a piece of text.
    writing: bool,
}

impl Teller<'_> {
    fn tell(&mut self, event: &Value) {
        if !self.shows {
            return;
        }
        let data = &event["data"];
        let line = match text(event, "event") {
            "text_delta" => return self.write(text(data, "text")),
            "text_reset" => "… again".to_owned(),
            // The question itself is shown where it is asked.
            "tool_call" if text(data, "tool") == "request_human_input" => return,
            "tool_call" => format!(
                "→ {} {}",
                text(data, "tool"),
                short(&data["arguments"].to_string())
            ),
            "tool_result" => {
                let mark = if data["is_error"] == true {
                    "✗"
                } else {
                    "←"
                };
                format!("{mark} {}", short(text(data, "text")))
            }
            "progress" => format!("… {}", text(data, "message")),
            "note" => format!("note: {}", text(data, "message")),
            _ => return,
        };
        self.end_line();
        let painted = match event["data"]["is_error"] == true {
            true => self.out.paint(Paint::Red, &printable(&line)),
            false => printable(&line),
        };
        self.out.say(painted);
    }

    /// A piece of the output, as it comes; for a terminal only, where it is read as it is written.
    fn write(&mut self, piece: &str) {
        if self.out.terminal {
            let mut out = std::io::stdout().lock();
            let _ = write!(out, "{}", printable(piece)).and_then(|()| out.flush());
            self.writing = true;
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.writing) {
            self.out.line("");
        }
    }
}

fn short(text: &str) -> String {
    let one_line: String = text
        .chars()
        .map(|c| if c == '\n' { ' ' } else { c })
        .collect();
    match one_line.chars().count() > SHOWN_CHARS {
        true => one_line.chars().take(SHOWN_CHARS).chain(['…']).collect(),
        false => one_line,
    }
}
