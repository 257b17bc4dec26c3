//! Following a run on the command line: what happens is told, what it asks is asked where somebody sits at a terminal, until it
//! is over, waits for somebody who is not here, or is left with Ctrl-C.

use super::answering::{DECLINE, asked_here, asked_line, how_to_answer, is_approval};
use super::chosen::pending;
use super::heard::{WAIT_SECONDS, gone, heard};
use super::leaving::{Leaving, goes_on, perhaps_answered};
use super::prompt::{Lines, show};
use super::run::path;
use super::teller::Teller;
use super::tools::text;
use crate::client::Client;
use crate::context::Context;
use crate::out::{Failure, Result, printable};
use serde_json::Value;
use std::io::IsTerminal;

/// Shows what happens until the run is over, or waits for somebody who is not here.
pub(super) async fn follow(
    context: &Context,
    client: &Client,
    leaving: &mut Leaving,
    id: &str,
    quiet: bool,
) -> Result<Value> {
    follow_asked(context, client, leaving, id, quiet, None).await
}

/// The same; of several things that it asks, the one that is named is asked first.
pub(super) async fn follow_asked(
    context: &Context,
    client: &Client,
    leaving: &mut Leaving,
    id: &str,
    quiet: bool,
    first: Option<&str>,
) -> Result<Value> {
    let shows = !quiet && !context.out.json;
    let mut following = Following {
        context,
        client,
        id,
        first,
        teller: Teller::new(&context.out, shows),
        after: String::new(),
        lines: Lines::default(),
        leaving,
    };
    let followed = following.until_its_end().await;
    following.teller.end_line();
    followed
}

/// Whether somebody can be asked here.
pub(super) fn is_somebody_here(context: &Context) -> bool {
    std::io::stdin().is_terminal() && !context.out.json
}

struct Following<'a> {
    context: &'a Context,
    client: &'a Client,
    id: &'a str,
    first: Option<&'a str>,
    teller: Teller<'a>,
    /// The last event that was told.
    after: String,
    lines: Lines,
    leaving: &'a mut Leaving,
}

/// What came of asking here.
enum Asked {
    /// It is answered, here or elsewhere; the run goes on.
    Answered,
    /// Nobody is here.
    Nobody,
    /// Whoever was asked has left the prompt.
    Left,
}

/// Why no line came.
enum NoLine {
    Left,
    /// The question is gone, and how, where the run does not tell it itself.
    Gone(Option<String>),
    /// Nobody says any more whether it is.
    Unknown(Failure),
}

impl Following<'_> {
    async fn until_its_end(&mut self) -> Result<Value> {
        loop {
            let news = self.heard(WAIT_SECONDS).await?;
            let view = self.looked_at().await?;
            match text(&view, "status") {
                "running" if !news.any => self.teller.tell_silence(WAIT_SECONDS),
                "running" => {}
                "needs_input" => {
                    // What led to the question may have been written since.
                    self.heard(0).await?;
                    self.teller.end_line();
                    match self.ask(&view).await? {
                        Asked::Answered => {}
                        Asked::Nobody => return Ok(view),
                        // It may have got on meanwhile, which is then told.
                        Asked::Left => {
                            let view = self.looked_at().await?;
                            match text(&view, "status") {
                                "needs_input" => return Ok(view),
                                "running" => return Err(goes_on(self.client, self.id)),
                                _ => {}
                            }
                        }
                    }
                }
                _ if news.is_over => return Ok(view),
                _ => {}
            }
        }
    }

    async fn looked_at(&mut self) -> Result<Value> {
        let place = path(self.id);
        let left = || goes_on(self.client, self.id);
        self.leaving.or(left, self.client.get(&place)).await
    }

    async fn heard(&mut self, wait_seconds: u32) -> Result<Told> {
        let heard = heard(self.client, self.id, &self.after, wait_seconds);
        let left = || goes_on(self.client, self.id);
        let news = self.leaving.or(left, heard).await?;
        for event in &news.events {
            self.teller.tell(event);
        }
        news.last.clone_into(&mut self.after);
        Ok(Told {
            any: !news.events.is_empty(),
            is_over: news.is_over,
        })
    }

    /// Asks whoever sits here.
    async fn ask(&mut self, view: &Value) -> Result<Asked> {
        let all = pending(view);
        let named = all
            .iter()
            .find(|it| it["request_id"].as_str() == self.first);
        let Some(pending) = named.or(all.first()) else {
            // Somebody was faster.
            return Ok(Asked::Answered);
        };
        if !is_somebody_here(self.context) {
            return Ok(Asked::Nobody);
        }
        let out = &self.context.out;
        let say = |line: &str| out.say(printable(line));
        say(&asked_line(pending));
        for line in how_to_answer(pending) {
            say(&format!("  {line}"));
        }
        let declining = match is_approval(pending) {
            true => "do not call it",
            false => "do not answer",
        };
        say(&format!("  ({DECLINE}: {declining}; Ctrl-C: later)"));
        let (client, id) = (self.client, self.id);
        let request = text(pending, "request_id");
        let (lines, leaving) = (&mut self.lines, &mut *self.leaving);
        let mut why = NoLine::Left;
        loop {
            let mut prompted = |prompt: &str| {
                show(prompt);
                let line = async {
                    tokio::select! {
                        biased;
                        () = leaving.asked() => Err(NoLine::Left),
                        how = gone(client, id, request, text(view, "last_event")) => {
                            Err(how.map_or_else(NoLine::Unknown, NoLine::Gone))
                        }
                        line = lines.next() => line.ok_or(NoLine::Left),
                    }
                };
                let waiting = || tokio::runtime::Handle::current().block_on(line);
                let line = tokio::task::block_in_place(waiting);
                line.map_err(|no_line| why = no_line).ok()
            };
            let Some(mut body) = asked_here(pending, &mut prompted, &mut |wrong| say(wrong)) else {
                // The prompt still stands on its line.
                say("");
                let how = match why {
                    NoLine::Left => return Ok(Asked::Left),
                    NoLine::Gone(how) => Ok(how),
                    NoLine::Unknown(failure) => Err(failure),
                };
                lines.forget();
                how?.iter().for_each(|how| say(how));
                return Ok(Asked::Answered);
            };
            body["request_id"] = pending["request_id"].clone();
            let place = format!("{}/input", path(id));
            let sent = client.request("POST", &place, Some(body));
            let said = leaving.or(|| perhaps_answered(id), sent).await?;
            if said.is_success() {
                return Ok(Asked::Answered);
            }
            let refused = said.failure();
            if !matches!(said.status, 409 | 422) {
                return Err(refused);
            }
            for error in &refused.errors {
                out.warn(printable(error));
            }
            // What does not fit is asked for again; of what is not asked any more the run tells.
            if said.status == 409 {
                return Ok(Asked::Answered);
            }
        }
    }
}

/// What was told of it.
struct Told {
    any: bool,
    is_over: bool,
}
