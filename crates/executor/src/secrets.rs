//! The secret values of one call, and hiding them in whatever is written down about it. The work is bounded by the
//! length of what is looked through, however many secrets there are.

use aho_corasick::Anchored;
use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::noncontiguous::NFA;
use catalog::redaction::HIDDEN;
use serde_json::Value;
use std::cmp::Ordering;
use std::ops::Range;

/// Up to so many are looked for one after the other, whatever their length.
const FEW: usize = 32;
/// All of them together; each byte costs the automaton some forty.
const AUTOMATON_BYTES_MAX: usize = 256 * 1024;

/// Stands in place of a text in which the secrets cannot be looked for.
pub(crate) const HIDDEN_WHOLE: &str =
    "*** (hidden whole: the call has more secret values than can be looked for)";

/// Values that must not appear in the log.
pub(crate) enum Secrets {
    /// Longest first, so that one that begins another does not leave the other's end behind.
    Few(Vec<String>),
    /// In the same order.
    Many(Vec<String>, Box<NFA>),
    TooMany,
}

impl Secrets {
    /// The forms a secret takes in text: itself, and as it stands inside JSON.
    pub(crate) fn new(secrets: Vec<String>) -> Self {
        let escaped = |secret: &String| {
            let json = Value::from(secret.as_str()).to_string();
            json[1..json.len() - 1].to_owned()
        };
        let mut all: Vec<String> = secrets.iter().map(escaped).collect();
        all.extend(secrets);
        all.sort_by(|a, b| longest_first(a, b));
        all.dedup();
        if all.len() <= FEW {
            return Secrets::Few(all);
        }
        if all.iter().map(String::len).sum::<usize>() > AUTOMATON_BYTES_MAX {
            return Secrets::TooMany;
        }
        match NFA::builder().prefilter(false).build(&all) {
            Ok(automaton) => Secrets::Many(all, Box::new(automaton)),
            Err(_) => Secrets::TooMany,
        }
    }

    /// These and more.
    pub(crate) fn with(&self, more: Vec<String>) -> Self {
        match self {
            Secrets::Few(all) | Secrets::Many(all, _) => {
                Secrets::new(all.iter().cloned().chain(more).collect())
            }
            Secrets::TooMany => Secrets::TooMany,
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Secrets::Few(all) if all.is_empty())
    }

    pub(crate) fn are_too_many(&self) -> bool {
        matches!(self, Secrets::TooMany)
    }

    /// Hides them in every string, number and name.
    pub(crate) fn scrub(&self, value: &mut Value) {
        match value {
            _ if self.is_none() => {}
            _ if self.are_too_many() => *value = Value::from(HIDDEN_WHOLE),
            Value::String(text) => {
                if let Some(scrubbed) = self.hidden_in(text) {
                    *text = scrubbed;
                }
            }
            Value::Number(number) if self.has(&number.to_string()) => *value = Value::from(HIDDEN),
            Value::Array(items) => items.iter_mut().for_each(|v| self.scrub(v)),
            Value::Object(members) => {
                if members.keys().any(|name| self.hidden_in(name).is_some()) {
                    let old = std::mem::take(members);
                    *members = old
                        .into_iter()
                        .map(|(name, value)| (self.scrub_text(name), value))
                        .collect();
                }
                members.values_mut().for_each(|v| self.scrub(v));
            }
            _ => {}
        }
    }

    pub(crate) fn scrub_text(&self, text: String) -> String {
        self.hidden_in(&text).unwrap_or(text)
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.hidden_in(text).is_some()
    }

    /// Whether the text is one of them, and nothing more.
    fn has(&self, text: &str) -> bool {
        match self {
            Secrets::Few(all) | Secrets::Many(all, _) => {
                let found = all.binary_search_by(|secret| longest_first(secret, text));
                found.is_ok()
            }
            Secrets::TooMany => true,
        }
    }

    /// The text without them; none where none of them is in it.
    fn hidden_in(&self, text: &str) -> Option<String> {
        match self {
            Secrets::Few(all) => {
                let mut scrubbed = None;
                for secret in all {
                    let shown: &str = scrubbed.as_deref().unwrap_or(text);
                    if shown.contains(secret.as_str()) {
                        scrubbed = Some(shown.replace(secret.as_str(), HIDDEN));
                    }
                }
                scrubbed
            }
            Secrets::Many(_, automaton) => hide(text, &found(automaton, text)),
            Secrets::TooMany => Some(HIDDEN_WHOLE.to_owned()),
        }
    }
}

fn longest_first(a: &str, b: &str) -> Ordering {
    b.len().cmp(&a.len()).then_with(|| a.cmp(b))
}

/// Where secrets are, in one pass; those that overlap count as one.
fn found(automaton: &NFA, text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let Ok(mut state) = automaton.start_state(Anchored::No) else {
        unreachable!("the automaton is built for searches that begin anywhere");
    };
    for (at, byte) in text.bytes().enumerate() {
        state = automaton.next_state(Anchored::No, state, byte);
        if !automaton.is_match(state) {
            continue;
        }
        // Of all that end here the longest is the first: what is shorter lies inside it.
        let length = automaton.pattern_len(automaton.match_pattern(state, 0));
        let mut range = at + 1 - length..at + 1;
        while let Some(last) = found.pop_if(|last| last.end > range.start) {
            range.start = range.start.min(last.start);
        }
        found.push(range);
    }
    found
}

fn hide(text: &str, found: &[Range<usize>]) -> Option<String> {
    let mut shown = String::new();
    let mut from = 0;
    for range in found {
        shown.push_str(&text[from..range.start]);
        shown.push_str(HIDDEN);
        from = range.end;
    }
    shown.push_str(&text[from..]);
    (!found.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::{Duration, Instant};

    /// These, alone and among many others.
    fn both(secrets: &[&str]) -> [Secrets; 2] {
        let few: Vec<String> = secrets.iter().map(|&s| s.to_owned()).collect();
        let others = (0..1_000).map(|number| format!("other-{number:06}"));
        let many = few.iter().cloned().chain(others).collect();
        let both = [Secrets::new(few), Secrets::new(many)];
        assert!(matches!(both, [Secrets::Few(_), Secrets::Many(..)]));
        both
    }

    #[test]
    fn a_secret_that_begins_another_leaves_nothing_of_it() {
        for secrets in both(&["pass", "word", "password123", "ssword123"]) {
            let text = secrets.scrub_text("password123 pass.password".to_owned());
            assert_eq!(text, "*** ***.******");
        }
    }

    #[test]
    fn of_secrets_that_overlap_nothing_is_left() {
        let [_, many] = both(&["abcd", "cdefgh", "é-öä", "before-é-öä"]);
        let text = many.scrub_text("xabcdefghx before-é-öä é-öä".to_owned());
        assert_eq!(text, "x***x *** ***");
    }

    #[test]
    fn a_secret_of_several_lines_is_found_inside_json_text() {
        let key = "-----BEGIN KEY-----\nabc\"def\n-----END KEY-----";
        for secrets in both(&[key]) {
            let text = secrets.scrub_text(json!({"key": key}).to_string());
            assert_eq!(text, r#"{"key":"***"}"#);
        }
    }

    #[test]
    fn names_of_members_and_numbers_are_scrubbed_too() {
        for secrets in both(&["hunter2", "1234567"]) {
            let mut value = json!({"hunter2": {"a hunter2": ["hunter2", 1_234_567]}, "other": 1});
            secrets.scrub(&mut value);
            let shown = json!({"***": {"a ***": ["***", "***"]}, "other": 1});
            assert_eq!(value, shown);
        }
    }

    /// One after the other these took seconds each; the bound is far above what they take now.
    #[test]
    fn many_secrets_cost_no_more_than_a_look_through_the_text() {
        let began = Instant::now();
        let marked: Vec<String> = (0..15_000).map(|n| format!("item {n}")).collect();
        let text = "an item, and what is said of it; ".repeat(25_000);
        assert_eq!(Secrets::new(marked).scrub_text(text.clone()), text);
        let all: Vec<String> = (0..100_000).map(|n| format!("s{n:06}")).collect();
        let mut value = json!({"output": text, "numbers": vec![7; 100_000]});
        Secrets::new(all).scrub(&mut value);
        assert_eq!(value, json!(HIDDEN_WHOLE));
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "{:?}",
            began.elapsed()
        );
    }

    #[test]
    fn a_long_secret_is_looked_for_all_the_same() {
        let secrets = Secrets::new(vec!["long".repeat(AUTOMATON_BYTES_MAX)]);
        let text = format!("a {} b", "long".repeat(AUTOMATON_BYTES_MAX));
        assert_eq!(secrets.scrub_text(text), "a *** b");
    }
}
