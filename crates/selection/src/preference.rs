//! What a description says about when to take a tool: "prefer Y if Z", "only for X", "not for W", in English and in
//! Korean. Such sentences are taken out of the text that is compared, since the words of "not for invoices" would draw
//! the invoices; what they say is kept as rules. What a tool says in its own praise is taken out, and kept nowhere.

mod english;
mod korean;

use crate::praise::{before_claim, without_praise};
use english::{Found, Part, english};
use korean::korean;

/// A sentence about when to take which tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) kind: Kind,
    /// When it holds; always, where empty.
    pub(crate) condition: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Another tool is to be taken, known by what the sentence calls it.
    Prefer(String),
    /// This one is to be taken.
    Own,
    Only,
    Not,
}

/// A description without what is said about when to take the tool, and what is said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) rules: Vec<Rule>,
}

/// More rules than this nobody follows.
const RULES_MAX: usize = 8;

/// `parameters` are the names of what the tool itself is given: to use one of them is no choice between tools.
pub(crate) fn read(description: &str, parameters: &[&str]) -> Said {
    let mut said = Said::default();
    let mut last = None;
    for sentence in sentences(description) {
        let small = sentence.to_ascii_lowercase();
        let sentence = before_claim(sentence, &small);
        if sentence.is_empty() {
            continue;
        }
        let small = &small[..sentence.len()];
        let (found, about) = rules(
            Part {
                text: sentence,
                small,
            },
            parameters,
            &mut last,
        );
        if !about.is_empty() {
            if !said.text.is_empty() {
                said.text.push(' ');
            }
            said.text.push_str(&without_praise(&about));
            said.text.truncate(said.text.trim_end().len());
        }
        said.rules.extend(found);
    }
    said.rules.truncate(RULES_MAX);
    said
}

fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            '\n' | '。' => true,
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|it| !it.is_empty());
    found
}

/// The rules that a sentence gives, and what it says besides.
fn rules(whole: Part<'_>, parameters: &[&str], last: &mut Option<String>) -> (Vec<Rule>, String) {
    let mut found: Vec<Rule> = Vec::new();
    let mut about: Vec<&str> = Vec::new();
    let is_own = |name: &str| parameters.contains(&name);
    // `Not for X; use Y instead` gives two, and so does `Not for X, use Y`; the next to be read is the last here.
    let parts = parts(whole).into_iter().rev();
    let mut parts: Vec<(Part<'_>, bool)> = parts.map(|it| (it, false)).collect();
    while let Some((part, is_rest)) = parts.pop() {
        let found_here = english(part, &is_own).or_else(|| {
            korean(part.text).map(|rule| Found {
                rule,
                before: "",
                rest: None,
            })
        });
        let Some(Found {
            mut rule,
            before,
            rest,
        }) = found_here
        else {
            // What goes on from a rule, and what a tool does not do, says nothing of what it does.
            if !is_rest && !denies(part.small) {
                about.push(part.text);
            }
            continue;
        };
        // `In that case` is the case before.
        let is_that = matches!(
            rule.condition.as_str(),
            "" | "그"
                | "그때"
                | "이때"
                | "그런"
                | "that"
                | "that case"
                | "those"
                | "these"
                | "them"
                | "such cases"
        );
        if is_that && let Some(before) = last.as_ref() {
            rule.condition.clone_from(before);
        }
        *last = (rule.kind == Kind::Not).then(|| rule.condition.clone());
        let is_rule = !rule.condition.is_empty() || matches!(rule.kind, Kind::Prefer(_));
        about.push(if is_rule { before } else { part.text });
        found.extend(is_rule.then_some(rule));
        parts.extend(rest.map(|it| (it, true)));
    }
    // What a tool is only for is what it is for. Where other tools are named beside, that says more of these.
    if found.iter().all(|it| it.kind == Kind::Only) {
        return (found, whole.text.to_owned());
    }
    about.retain(|it| !it.is_empty());
    (found, about.join(" "))
}

/// Whether a part says what the tool does not do: `It reserves no room`. `Cancels an order that has not shipped` says what it does.
fn denies(small: &str) -> bool {
    let mut words = small.split_whitespace();
    let is_own = |it: &&str| matches!(*it, "it" | "this" | "the" | "tool" | "but");
    let first = words.find(|it| !is_own(it)).unwrap_or_default();
    let begins = matches!(
        first,
        "no" | "not" | "never" | "cannot" | "does" | "do" | "can"
    ) || first.ends_with("n't");
    let of_itself = small.starts_with("it ") || small.starts_with("this ");
    let english = (begins || of_itself)
        && small
            .split_whitespace()
            .any(|it| matches!(it, "no" | "not" | "never" | "cannot") || it.ends_with("n't"));
    // Korean says it at the end.
    let last = small.split_whitespace().next_back().unwrap_or_default();
    english || last.starts_with(['않', '못', '없'])
}

fn parts(whole: Part<'_>) -> Vec<Part<'_>> {
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for mark in [";", "—", "하고,"] {
        let found = whole.small.match_indices(mark);
        ends.extend(found.map(|(at, it)| (at, at + it.len())));
    }
    ends.sort_unstable();
    let mut start = 0;
    let mut found = Vec::new();
    for (end, next) in ends
        .into_iter()
        .chain([(whole.small.len(), whole.small.len())])
    {
        found.push(Part {
            text: whole.text[start..end].trim(),
            small: whole.small[start..end].trim(),
        });
        start = next;
    }
    found
}

/// What a sentence calls a tool, without what stands around the name.
pub(crate) fn name(text: &str) -> String {
    let trimmed = |text: &str| {
        text.trim_matches(|c: char| c.is_whitespace() || "`'\"“”‘’,.()".contains(c))
            .to_owned()
    };
    let mut name = trimmed(text);
    for word in ["the "] {
        if name.to_ascii_lowercase().starts_with(word) {
            name = trimmed(&name[word.len()..]);
        }
    }
    for word in [" tool", " function", " 도구", "도구"] {
        let is_own = name.eq_ignore_ascii_case("this tool") || name == "이 도구";
        if let Some(rest) = name.strip_suffix(word)
            && !is_own
        {
            name = trimmed(rest);
        }
    }
    name
}

/// Whether a name in a sentence is one that tools have: `ISO-8601` and `e-mail` may be anything.
fn is_tool_name(name: &str) -> bool {
    let is_one = !name.contains(char::is_whitespace);
    let is_small = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_camel = name.chars().any(|c| c.is_ascii_uppercase());
    is_one && (name.contains('_') || (is_small && (is_camel || name.contains('.'))))
}

pub(crate) fn is_identifier(name: &str) -> bool {
    let is_one = !name.contains(char::is_whitespace);
    let is_camel = name.chars().skip(1).any(char::is_uppercase);
    is_one && (name.contains(['_', '.', '-', '/']) || is_camel)
}

#[cfg(test)]
mod tests;
