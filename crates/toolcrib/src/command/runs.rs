//! `toolcrib runs`: what is under way, what waits for somebody, and answering it.

use super::answering::{asked_line, decided, declined, how_to_answer, is_approval, said};
use super::call::refused;
use super::chosen::{chosen, pending};
use super::following::{follow, follow_asked, is_somebody_here};
use super::input::Input;
use super::leaving::{self, Leaving, as_it_was, perhaps_answered};
use super::limits::show;
use super::run::{ended, path};
use super::tools::text;
use crate::cli::Runs;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Out, Result, printable};
use agent::words::{Verb, verb};
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
            let left = || as_it_was(&id);
            let work = async |client: &Client, leaving: &mut Leaving| {
                let view = leaving.or(left, client.get(&path(&id))).await?;
                // What this process does not drive, nobody does.
                if matches!(client, Client::Local(_)) && text(&view, "status") == "running" {
                    let why = format!("run {id} is under way, and no server goes on with it");
                    let stop = format!("`toolcrib runs cancel {id}` stops it");
                    return Err(Failure::failed(why)
                        .hint("start one with `toolcrib serve`")
                        .hint(stop));
                }
                follow(context, client, leaving, &id, false).await
            };
            let view = leaving::with(context, left, work).await?;
            ended(context, &view, false)
        }
        Runs::Answer {
            id,
            answer,
            decline,
            request,
            text,
            arguments,
        } => {
            // Before anything is asked of a server: who types them may leave with Ctrl-C.
            let arguments = arguments.map(|given| Input::option(&given, "--arguments"));
            let arguments = arguments.transpose()?.map(|it| it.text);
            let more = More { text, arguments };
            let answer = given(context, answer, decline, &more)?;
            answer_one(context, &id, answer, request.as_deref(), more).await
        }
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
            waits_for(it),
            text(it, "input").chars().take(60).collect(),
        ];
        cells.to_vec()
    };
    let header = ["id", "status", "agent", "begun", "waits for", "request"];
    show(&context.out, &page, &header, row);
    Ok(())
}

/// What somebody has to answer before a run goes on, in few words.
fn waits_for(run: &Value) -> String {
    let pending = pending(run);
    let Some(first) = pending.first() else {
        return String::new();
    };
    let what = match (is_approval(first), text(first, "tool")) {
        (true, tool) => format!("approval of {tool}"),
        (false, "") => "question".to_owned(),
        (false, tool) => format!("question for {tool}"),
    };
    match pending.len() {
        1 => what,
        all => format!("{what} and {} more", all - 1),
    }
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
    for pending in pending(&view) {
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

/// What is given in place of an answer at the prompt.
enum Given {
    Line(String),
    Decline,
    /// Nothing: it is asked for.
    Ask,
}

fn given(context: &Context, answer: Option<String>, decline: bool, more: &More) -> Result<Given> {
    let how =
        "`toolcrib runs answer ID ANSWER` answers, `toolcrib runs answer ID --decline` does not";
    let given = match (answer, decline) {
        (Some(_), true) => {
            let why = "an answer and --decline: give one or the other";
            return Err(Failure::usage(why).hint(how));
        }
        (Some(line), false) => return Ok(Given::Line(line)),
        (None, true) => Given::Decline,
        (None, false) => Given::Ask,
    };
    if let Some(option) = more.first() {
        let why = format!("{option} belongs to an answer, and there is none");
        return Err(Failure::usage(why).hint(how));
    }
    if matches!(given, Given::Ask) && !is_somebody_here(context) {
        let why = "an answer is missing, or --decline";
        let shows = "`toolcrib runs show ID` tells what is asked";
        return Err(Failure::usage(why).hint(how).hint(shows));
    }
    Ok(given)
}

async fn answer_one(
    context: &Context,
    id: &str,
    answer: Given,
    request: Option<&str>,
    more: More,
) -> Result {
    let left = || as_it_was(id);
    let work = async |client: &Client, leaving: &mut Leaving| {
        let view = leaving.or(left, client.get(&path(id))).await?;
        let pending = chosen(&view, request)?;
        let mut body = match answer {
            Given::Ask => return follow_asked(context, client, leaving, id, false, request).await,
            Given::Decline => declined(),
            Given::Line(line) if is_approval(pending) => {
                json!({"answer": decision(&line, &more)?})
            }
            Given::Line(line) => {
                if let Some(option) = more.first() {
                    let why = format!(
                        "{option} belongs to the decision about a call, and the run asks a question"
                    );
                    return Err(Failure::usage(why).hint(asked_line(pending)));
                }
                json!({"answer": said(&pending["schema"], &line)})
            }
        };
        body["request_id"] = pending["request_id"].clone();
        let place = format!("{}/input", path(id));
        let sent = client.request("POST", &place, Some(body));
        leaving.or(|| perhaps_answered(id), sent).await?.ok()?;
        follow(context, client, leaving, id, false).await
    };
    let view = leaving::with(context, left, work).await?;
    ended(context, &view, false)
}

/// What belongs to a decision.
struct More {
    text: Option<String>,
    arguments: Option<String>,
}

impl More {
    /// The option that is given, if one is.
    fn first(&self) -> Option<&'static str> {
        let text = self.text.as_ref().map(|_| "--text");
        self.arguments.as_ref().map(|_| "--arguments").or(text)
    }

    /// The option that is given and means nothing with this decision.
    fn unfit(&self, verb: Option<Verb>) -> Option<&'static str> {
        let option = self.first()?;
        let fits = match verb {
            Some(Verb::Edit) => self.text.is_none(),
            Some(Verb::Reject | Verb::Respond) => self.arguments.is_none(),
            Some(Verb::Approve | Verb::Always) | None => false,
        };
        match (fits, verb) {
            (true, _) => None,
            (false, Some(Verb::Edit)) => Some("--text"),
            (false, _) => Some(option),
        }
    }
}

/// What is decided about a call: in words, or as the API wants it.
fn decision(answer: &str, more: &More) -> Result<Value> {
    let belongs = "--arguments gives those of `edit`, --text the words of `reject` and `respond`";
    let whole = serde_json::from_str::<Value>(answer);
    let whole = whole.ok().filter(Value::is_object);
    let said = verb(answer).filter(|_| whole.is_none());
    // Of a word that decides nothing that is told, and not what else is wrong.
    let is_known = whole.is_some() || said.is_some();
    if let Some(option) = more.unfit(said.map(|(verb, _)| verb)).filter(|_| is_known) {
        let why = format!("{option} does not belong to '{answer}'");
        return Err(Failure::usage(why).hint(belongs));
    }
    let behind = said.map(|(_, rest)| rest).filter(|rest| !rest.is_empty());
    if let (Some(option), Some(behind)) = (more.first(), behind) {
        let why = format!("'{behind}' and {option}: give one or the other");
        return Err(Failure::usage(why));
    }
    if let Some(whole) = whole {
        return Ok(whole);
    }
    let rest = |verb: Verb| match verb {
        Verb::Edit => more.arguments.clone(),
        Verb::Reject | Verb::Respond => more.text.clone(),
        Verb::Approve | Verb::Always => None,
    };
    // As a server refuses what is no answer to a question.
    let unfit = |why| refused(&app::Error::invalid(format!("answer: {why}"))).hint(belongs);
    decided(answer, rest).map_err(unfit)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_waits_for_is_said_in_few_words() {
        let approval = json!({"kind": "approval", "tool": "pay"});
        let question = json!({"kind": "question", "tool": null});
        let asking = json!({"kind": "question", "tool": "book"});
        for (pending, expected) in [
            (json!([]), ""),
            (json!([question]), "question"),
            (json!([asking]), "question for book"),
            (json!([approval, question]), "approval of pay and 1 more"),
        ] {
            assert_eq!(waits_for(&json!({"pending": pending})), expected);
        }
    }
}
