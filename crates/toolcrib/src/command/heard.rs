//! What is new in the log of a run; and, at a prompt, whether what is asked there is still asked.

use super::run::path;
use super::tools::text;
use crate::client::{Answer, Client};
use crate::out::{Cause, Failure, Result};
use serde_json::Value;
use std::time::Duration;

/// How long one question for events may take.
pub(super) const WAIT_SECONDS: u32 = 20;

/// What a server has not answered by then, it does not answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(WAIT_SECONDS as u64 + 10);

/// How long somebody at a prompt is left alone where the server does not say what has happened.
const AGAIN: Duration = Duration::from_secs(2);

/// How often in a row it may fail to say so: a server that is started anew goes on with the run.
const TRIES_MAX: u32 = 8;

/// What a look at the log of a run gave.
pub(super) struct News {
    pub(super) events: Vec<Value>,
    /// The last event that is known now.
    pub(super) last: String,
    pub(super) is_over: bool,
}

impl News {
    fn of(mut log: Value, after: &str) -> Self {
        let events = match log["events"].take() {
            Value::Array(events) => events,
            _ => Vec::new(),
        };
        let last = events.iter().rev().find_map(|it| it["id"].as_str());
        News {
            last: last.unwrap_or(after).to_owned(),
            is_over: log["is_over"] == true,
            events,
        }
    }
}

/// What is new in the log of a run.
pub(super) async fn heard(
    client: &Client,
    id: &str,
    after: &str,
    wait_seconds: u32,
) -> Result<News> {
    let log = looked(client, id, after, wait_seconds).await?;
    Ok(News::of(log.ok()?, after))
}

async fn looked(client: &Client, id: &str, after: &str, wait_seconds: u32) -> Result<Answer> {
    let place = format!("{}/log?wait_seconds={wait_seconds}&after={after}", path(id));
    client.request("GET", &place, None).await
}

/// Waits until a question is gone, from this event on: how, where the run does not tell it itself. An error where nobody says it
/// any more.
pub(super) async fn gone(
    client: &Client,
    id: &str,
    request: &str,
    from: &str,
) -> Result<Option<String>> {
    let mut after = from.to_owned();
    let mut tries = 0;
    loop {
        let looked = looked(client, id, &after, WAIT_SECONDS);
        let trouble = match tokio::time::timeout(ANSWERED_WITHIN, looked).await {
            Ok(Ok(answer)) if answer.is_success() => {
                let news = News::of(answer.value(), &after);
                if let Some(how) = news.events.iter().find_map(|it| ends(it, request)) {
                    return Ok(how);
                }
                if news.is_over {
                    return Ok(None);
                }
                (after, tries) = (news.last, 0);
                continue;
            }
            Ok(Ok(answer)) if is_final(answer.status) => {
                return Err(unasked(id, answer.status, answer.failure()));
            }
            Ok(Ok(answer)) => answer.failure(),
            Ok(Err(failure)) => failure,
            Err(_) => Failure::new(Cause::Unreachable, "the server does not answer any more"),
        };
        tries += 1;
        if tries == TRIES_MAX {
            return Err(trouble.hint(later(id)));
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// How an event has ended a question, where it has; the run itself tells the rest.
fn ends(event: &Value, request: &str) -> Option<Option<String>> {
    let data = &event["data"];
    match text(event, "event") {
        "answered" if text(data, "request_id") == request => {
            let what = match data["declined"] == true {
                true => "declined",
                false => "answered",
            };
            Some(Some(format!("{what} elsewhere, by '{}'", text(data, "by"))))
        }
        "note" if text(data, "code") == "cancel_asked" => Some(None),
        _ => None,
    }
}

/// Whether asking the same again is answered the same. A server that has too much to do, or fails, may answer next time.
fn is_final(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 408 | 429)
}

/// Whoever sits at the prompt may not answer any more, or has nothing to answer.
fn unasked(id: &str, status: u16, refused: Failure) -> Failure {
    match status {
        404 => refused.hint("`toolcrib runs list` shows the runs that there are"),
        _ => refused.hint(later(id)),
    }
}

/// What becomes of the run.
fn later(id: &str) -> String {
    format!("run {id} waits for its answer; give it later with `toolcrib runs answer {id}`")
}
