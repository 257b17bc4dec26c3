//! Sentences of English about when to take which tool. A sentence counts only where it speaks of the tool itself, or tells
//! whoever chooses what to do: `coupons that are not for sale` and `customers prefer cash` are about something else.

use super::{Kind, Rule, is_tool_name, name};

/// A rule, and what stands around it in the same part of a sentence.
pub(super) struct Found<'a> {
    pub(super) rule: Rule,
    /// What is said of the tool before the rule.
    pub(super) before: &'a str,
    /// What may be a rule of its own: `Not for X, use Y instead`.
    pub(super) rest: Option<Part<'a>>,
}

/// A part of a sentence, as it stands and in small letters; places are the same in both.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    pub(super) small: &'a str,
}

/// The rule of a part; none where it speaks of something else. `is_own` knows the names of the tool's parameters.
pub(super) fn english<'a>(part: Part<'a>, is_own: &dyn Fn(&str) -> bool) -> Option<Found<'a>> {
    not(part)
        .or_else(|| only(part))
        .or_else(|| prefer(part, is_own))
        .or_else(|| better(part, is_own))
}

impl<'a> Part<'a> {
    /// What stands before and after the first of some phrases.
    fn around(self, phrases: &[&str]) -> Option<(Part<'a>, Part<'a>)> {
        let found = phrases
            .iter()
            .filter_map(|it| Some((self.find(it)?, it.len())));
        let (at, length) = found.min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))?;
        Some((self.cut(0, at), self.cut(at + length, self.small.len())))
    }

    /// Where a phrase stands by itself, not within a word.
    fn find(self, phrase: &str) -> Option<usize> {
        let mut found = self.small.match_indices(phrase).map(|(at, _)| at);
        found.find(|at| {
            let before = self.small[..*at].chars().next_back();
            let after = self.small[at + phrase.len()..].chars().next();
            !(before.is_some_and(is_letter) || after.is_some_and(is_letter))
        })
    }

    fn cut(self, from: usize, to: usize) -> Part<'a> {
        let small = &self.small[from..to];
        let left = small.len() - small.trim_start().len();
        let right = small.trim_end().len().max(left);
        Part {
            text: &self.text[from + left..from + right],
            small: &small[left..right],
        }
    }

    /// What follows one of some phrases that it begins with.
    fn after(self, phrases: &[&str]) -> Option<Part<'a>> {
        let begins = |it: &&&str| {
            let rest = self.small.strip_prefix(**it);
            rest.is_some_and(|rest| !rest.starts_with(is_letter))
        };
        let longest = phrases.iter().filter(begins).max_by_key(|it| it.len())?;
        Some(self.cut(longest.len(), self.small.len()))
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

const WHEN: [&str; 8] = [
    "if",
    "when",
    "for",
    "to",
    "whenever",
    "in case of",
    "in cases where",
    "where",
];

/// How a tool speaks of itself.
const OWN: [&str; 9] = [
    "this tool",
    "this function",
    "this action",
    "this one",
    "this",
    "the tool",
    "tool",
    "it",
    "it's",
];

/// What leads to a rule besides.
const LEADS: [&str; 19] = [
    "is",
    "be",
    "should",
    "must",
    "may",
    "can",
    "to",
    "please",
    "you",
    "use",
    "used",
    "intended",
    "meant",
    "suitable",
    "then",
    "so",
    "instead",
    "instead of",
    "works",
];

/// What is said of the tool before a rule; none where these words speak of something else, so that it is no rule.
fn lead<'a>(before: Part<'a>) -> Option<&'a str> {
    let mut small = before.small;
    let mut is_joined = false;
    loop {
        small = small.trim_end();
        let last = |list: &[&str]| {
            let found = list.iter().filter_map(|it| {
                let rest = small.strip_suffix(it)?;
                (!rest.ends_with(is_letter)).then_some(rest)
            });
            found.min_by_key(|it| it.len())
        };
        if let Some(rest) = last(&OWN).or_else(|| last(&LEADS)) {
            small = rest;
        } else if let Some(rest) = last(&["but", "and", "though"]) {
            (small, is_joined) = (rest, true);
        } else {
            break;
        }
    }
    let marks = ['(', ',', ':', '-', '–', '—', '.'];
    let is_apart = is_joined || small.is_empty() || small.ends_with(marks);
    let kept = before.text[..small.len()].trim_end_matches(marks);
    is_apart.then(|| kept.trim_end())
}

/// How a condition begins and ends that is put as a sentence: what it is about stands between.
const BEGINS: [&str; 18] = [
    "this tool",
    "it",
    "it is about",
    "the user wants to",
    "the user wants",
    "the user asks for",
    "the user asks about",
    "the user asks to",
    "the user needs",
    "the request is about",
    "the question is about",
    "you need to",
    "you want to",
    "you need",
    "you want",
    "asked about",
    "asked for",
    "asked to",
];

fn condition(part: Part<'_>) -> String {
    let text = part
        .text
        .trim_matches(|c: char| c.is_whitespace() || ",.:!()".contains(c));
    let part = Part {
        text,
        small: &text.to_ascii_lowercase(),
    };
    let begun = part.after(&BEGINS).map(|it| text.len() - it.small.len());
    text[begun.unwrap_or(0)..].trim().to_owned()
}

/// Of a condition only what stands before another rule.
fn until_rule(asked: Part<'_>) -> (Part<'_>, Option<Part<'_>>) {
    let places = VERBS
        .iter()
        .chain(&["prefer"])
        .filter_map(|it| asked.find(it));
    let marks = [',', '('];
    match places.min() {
        Some(at) if asked.small[..at].trim_end().ends_with(marks) => {
            let rest = asked.cut(at, asked.small.len());
            (asked.cut(0, at), Some(rest))
        }
        _ => (asked, None),
    }
}

const NOT_USED: [&str; 12] = [
    "do not use",
    "don't use",
    "do not call",
    "don't call",
    "never use",
    "never call",
    "should not be used",
    "not to be used",
    "must not be used",
    "cannot be used",
    "avoid using",
    "avoid",
];

const NOT_MADE: [&str; 8] = [
    "not intended",
    "not suitable",
    "not meant",
    "not designed",
    "not appropriate",
    "not recommended",
    "unsuitable",
    "not the right tool",
];

const NOT_DONE: [&str; 7] = [
    "does not handle",
    "doesn't handle",
    "does not cover",
    "doesn't cover",
    "does not work for",
    "doesn't work for",
    "not for",
];

fn not(part: Part<'_>) -> Option<Found<'_>> {
    let all: Vec<&str> = [&NOT_USED[..], &NOT_MADE, &NOT_DONE].concat();
    let (before, after) = part.around(&all)?;
    let said = &part.small[before.small.len()..];
    let said = said[..said.len() - after.small.len()].trim();
    let asked = match () {
        () if NOT_DONE.contains(&said) => after,
        () if NOT_USED.contains(&said) => after.after(&OWN).unwrap_or(after).after(&WHEN)?,
        () => after.after(&WHEN)?,
    };
    let (asked, rest) = until_rule(asked);
    Some(Found {
        rule: Rule {
            kind: Kind::Not,
            condition: condition(asked),
        },
        before: lead(before)?,
        rest,
    })
}

fn only(part: Part<'_>) -> Option<Found<'_>> {
    let for_what = [
        "only for",
        "only when",
        "only if",
        "only to",
        "exclusively for",
        "solely for",
        "strictly for",
    ];
    let (before, asked) = match part.around(&for_what) {
        Some((before, asked)) => (before, asked),
        None => {
            let (before, after) =
                part.around(&["only use", "only call", "only to be used", "only be used"])?;
            (before, after.after(&OWN).unwrap_or(after).after(&WHEN)?)
        }
    };
    let (asked, rest) = until_rule(asked);
    Some(Found {
        rule: Rule {
            kind: Kind::Only,
            condition: condition(asked),
        },
        // `Search first only if asked` is about something else.
        before: lead(before)?,
        rest,
    })
}

const VERBS: [&str; 6] = ["use", "call", "choose", "try", "go with", "switch to"];

/// `Prefer Y if Z`, `For Z, use Y instead`.
fn prefer<'a>(part: Part<'a>, is_own: &dyn Fn(&str) -> bool) -> Option<Found<'a>> {
    let is_preferred = part.find("prefer").is_some();
    let (before, after) = match part.around(&["prefer"]) {
        Some(found) => found,
        None => part.around(&VERBS)?,
    };
    // `For Z, use Y` says when before what.
    let first = before.after(&WHEN);
    let kept = match first {
        Some(_) => "",
        None => lead(before)?,
    };
    let (named, asked) = match (first, after.around(&WHEN)) {
        (Some(asked), rest) => (rest.map_or(after, |(named, _)| named), Some(asked)),
        (None, Some((named, asked))) => (named, Some(asked)),
        (None, None) => (after, None),
    };
    let is_instead = part.find("instead").is_some() || part.find("rather than").is_some();
    let named = named
        .around(&["instead of", "instead", "over", "rather than"])
        .map_or(named, |(name, _)| name);
    let kind = kind(named, is_preferred, is_preferred || is_instead, is_own)?;
    let asked = asked.map(|it| {
        it.around(&["instead", "unless"])
            .map_or(it, |(first, _)| first)
    });
    Some(Found {
        rule: Rule {
            kind,
            condition: asked.map(condition).unwrap_or_default(),
        },
        before: kept,
        rest: None,
    })
}

/// `Y is better for Z`, `For Z, Y should be used instead`.
fn better<'a>(part: Part<'a>, is_own: &dyn Fn(&str) -> bool) -> Option<Found<'a>> {
    let (before, after) = part.around(&[
        "is preferred",
        "is better suited",
        "is the better choice",
        "is better",
        "is recommended",
        "should be used",
        "should be preferred",
    ])?;
    let is_preferred = part.find("should be used").is_none();
    let first = before.after(&WHEN);
    let (named, asked) = match first {
        // What stands between the condition and the name is a comma.
        Some(asked) => {
            let at = asked.small.rfind(',')?;
            let named = asked.cut(at + 1, asked.small.len());
            (named, Some(asked.cut(0, at)))
        }
        None => (before, after.around(&WHEN).map(|(_, asked)| asked)),
    };
    let kind = kind(named, is_preferred, false, is_own)?;
    let asked = asked.map(|it| it.around(&["instead"]).map_or(it, |(first, _)| first));
    Some(Found {
        rule: Rule {
            kind,
            condition: asked.map(condition).unwrap_or_default(),
        },
        before: "",
        rest: None,
    })
}

/// Which tool is meant; none where it is no tool. Any words may name one where they are put as a choice.
fn kind(
    named: Part<'_>,
    is_preferred: bool,
    is_choice: bool,
    is_own: &dyn Fn(&str) -> bool,
) -> Option<Kind> {
    let is_marked = named.text.contains('`')
        || [" tool", " function"]
            .iter()
            .any(|it| named.small.ends_with(it));
    let is_article = named.after(&["a", "an"]).is_some();
    let name = name(named.text);
    let is_name = is_marked || is_tool_name(&name) || (is_choice && !is_article);
    if name.is_empty() || !is_name || is_own(&name) {
        return None;
    }
    match OWN.contains(&name.to_ascii_lowercase().as_str()) {
        true if is_preferred => Some(Kind::Own),
        // `Use it for sums instead of guessing` says what it is for.
        true => None,
        false => Some(Kind::Prefer(name)),
    }
}
