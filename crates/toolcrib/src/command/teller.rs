//! What happens in a run, told on the command line as it happens: a line for each event, and the text as it is written.

use super::tools::text;
use crate::out::{Out, Paint, printable};
use agent::state::{DECLINED, REJECTED, why_rejected};
use serde_json::Value;
use std::collections::HashMap;
use std::io::Write;

/// What is shown of arguments and results on one line.
const SHOWN_CHARS: usize = 200;

/// The tool that asks: what it asks is shown where it is asked.
const ASKING: &str = "request_human_input";

pub(super) struct Teller<'a> {
    out: &'a Out,
    shows: bool,
    /// Whether the last thing written was a piece of text.
    writing: bool,
    /// What each call was shown to be called with.
    shown: HashMap<String, Value>,
    /// Calls under way, with their tools.
    running: Vec<(String, String)>,
    silent_seconds: u32,
}

impl<'a> Teller<'a> {
    pub(super) fn new(out: &'a Out, shows: bool) -> Self {
        Teller {
            out,
            shows,
            writing: false,
            shown: HashMap::new(),
            running: Vec::new(),
            silent_seconds: 0,
        }
    }

    pub(super) fn tell(&mut self, event: &Value) {
        self.silent_seconds = 0;
        if !self.shows {
            return;
        }
        let data = &event["data"];
        if text(event, "event") == "text_delta" {
            return self.write(text(data, "text"));
        }
        if let Some(line) = self.line(text(event, "event"), data) {
            self.end_line();
            let line = printable(&line);
            self.out.say(match data["is_error"] == true {
                true => self.out.paint(Paint::Red, &line),
                false => line,
            });
        }
    }

    fn line(&mut self, event: &str, data: &Value) -> Option<String> {
        let (id, tool) = (text(data, "call_id"), text(data, "tool"));
        let called = || format!("→ {tool} {}", short(&data["arguments"].to_string()));
        match event {
            "text_reset" => Some("… again".to_owned()),
            "tool_call" => {
                self.shown.insert(id.to_owned(), data["arguments"].clone());
                (tool != ASKING).then(called)
            }
            "tool_started" => {
                self.running.push((id.to_owned(), tool.to_owned()));
                // Somebody let it run with other arguments than it was asked for.
                let before = self.shown.insert(id.to_owned(), data["arguments"].clone());
                let is_edited = before.is_some_and(|before| before != data["arguments"]);
                is_edited.then(|| format!("{} (edited)", called()))
            }
            "tool_result" => {
                self.running.retain(|(running, _)| running != id);
                // Whoever was asked knows what they said.
                let is_answer = tool == ASKING && data["is_error"] != true;
                (!is_answer).then(|| result(data))
            }
            "progress" => Some(format!("… {}", text(data, "message"))),
            "note" => Some(format!("note: {}", text(data, "message"))),
            _ => None,
        }
    }

    /// Nothing has happened for some seconds more.
    pub(super) fn tell_silence(&mut self, seconds: u32) {
        let line = self.silence(seconds);
        if self.shows {
            self.end_line();
            self.out.say(printable(&line));
        }
    }

    /// Who is waited for, and for how long.
    fn silence(&mut self, seconds: u32) -> String {
        self.silent_seconds += seconds;
        let tools: Vec<&str> = self.running.iter().map(|(_, tool)| tool.as_str()).collect();
        let whom = match tools.is_empty() {
            true => "the model".to_owned(),
            false => tools.join(", "),
        };
        format!("… waiting for {whom}, {} s by now", self.silent_seconds)
    }

    /// A piece of the output, as it comes; for a terminal only, where it is read as it is written.
    fn write(&mut self, piece: &str) {
        if self.out.terminal {
            let mut out = std::io::stdout().lock();
            let _ = write!(out, "{}", printable(piece)).and_then(|()| out.flush());
            self.writing = true;
        }
    }

    pub(super) fn end_line(&mut self) {
        if std::mem::take(&mut self.writing) {
            self.out.line("");
        }
    }
}

/// How a call ended. What is said to the model of one that somebody did not want is not said to whoever reads along.
fn result(data: &Value) -> String {
    let told = text(data, "text");
    match (data["is_error"] == true, data["code"].as_str()) {
        (true, Some(DECLINED)) => "✗ not answered".to_owned(),
        (true, Some(REJECTED)) => {
            let why = short(why_rejected(told));
            format!("✗ not called: rejected{why}")
        }
        (true, _) => format!("✗ {}", short(&told.replace('\n', "; "))),
        (false, _) => format!("← {}", short(told)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;
    use serde_json::json;

    fn lines(events: &[(&str, Value)]) -> Vec<String> {
        let out = Out::new(false, &Environment::default());
        let mut teller = Teller::new(&out, true);
        let told = events.iter().map(|(event, data)| teller.line(event, data));
        told.flatten().collect()
    }

    #[test]
    fn what_somebody_edited_is_shown_as_it_is_called() {
        let call = |n: u8| json!({"call_id": "a", "tool": "pay", "arguments": {"n": n}});
        assert_eq!(
            lines(&[("tool_call", call(1)), ("tool_started", call(1))]),
            ["→ pay {\"n\":1}"]
        );
        assert_eq!(
            lines(&[("tool_call", call(1)), ("tool_started", call(2))]),
            ["→ pay {\"n\":1}", "→ pay {\"n\":2} (edited)"]
        );
    }

    #[test]
    fn an_end_is_told_in_words() {
        let end = |text: &str, is_error: bool| json!({"call_id": "a", "tool": "pay", "text": text, "is_error": is_error});
        let coded = |text: &str, code: &str| {
            let mut data = end(text, true);
            data["code"] = json!(code);
            data
        };
        let rejected = "The person who was asked did not let this call run: not today";
        for (data, expected) in [
            (
                coded(rejected, REJECTED),
                "✗ not called: rejected: not today",
            ),
            // A tool may say the same.
            (
                coded("The person who was asked does not want to", "tool_error"),
                "✗ The person who was asked does not want to",
            ),
            (coded("No.", DECLINED), "✗ not answered"),
            (
                end("Blocked\nAsk an admin.", true),
                "✗ Blocked; Ask an admin.",
            ),
            (end("1\n2", false), "← 1 2"),
        ] {
            assert_eq!(lines(&[("tool_result", data)]), [expected]);
        }
        let mut asked = end("blue", false);
        asked["tool"] = json!(ASKING);
        assert!(lines(&[("tool_result", asked)]).is_empty());
    }

    #[test]
    fn whoever_waits_is_told_for_whom() {
        let out = Out::new(false, &Environment::default());
        let mut teller = Teller::new(&out, true);
        assert_eq!(teller.silence(20), "… waiting for the model, 20 s by now");
        let call = json!({"call_id": "a", "tool": "pay", "arguments": {}});
        teller.line("tool_started", &call);
        assert_eq!(teller.silence(20), "… waiting for pay, 40 s by now");
        teller.line("tool_result", &call);
        assert_eq!(teller.silence(20), "… waiting for the model, 60 s by now");
    }
}
