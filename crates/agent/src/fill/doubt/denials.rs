//! What English denies or leaves out, and how far that reaches: a list that begins with it belongs to it as a whole.

use super::sentences::{Sentence, is_article};
use std::ops::Range;

/// What leaves out all that follows in its part.
const LEAVING: [&str; 6] = [
    "except",
    "excepting",
    "excluding",
    "besides",
    "avoid",
    "than",
];

/// Negations that do not end in `n't`.
const NEGATIONS: [&str; 13] = [
    "not", "cannot", "never", "neither", "nor", "dont", "doesnt", "didnt", "isnt", "cant", "wont",
    "mustnt", "shouldnt",
];

/// What somebody cannot do, or what does not happen, without anything being forbidden: `I can't find order 7`.
const STATES: [&str; 32] = [
    "find",
    "found",
    "see",
    "seen",
    "get",
    "getting",
    "got",
    "gotten",
    "receive",
    "received",
    "arrive",
    "arrived",
    "come",
    "know",
    "understand",
    "remember",
    "recall",
    "reach",
    "access",
    "hear",
    "heard",
    "work",
    "working",
    "load",
    "open",
    "connect",
    "log",
    "locate",
    "have",
    "show",
    "wait",
    "believe",
];

/// What may stand between a negation and its verb: `why can't I find it`, `not been able to find it`.
const BETWEEN: [&str; 15] = [
    "i", "we", "you", "he", "she", "it", "they", "yet", "even", "been", "able", "to", "seem",
    "really", "actually",
];

/// Before these nobody stands who does something: what follows is an order.
const NOBODY: [&str; 9] = [
    "please", "and", "but", "so", "or", "just", "also", "then", "to",
];

/// What ends the noun phrase that `without` leaves out.
const PREPOSITIONS: [&str; 16] = [
    "to", "in", "into", "at", "on", "onto", "from", "for", "with", "by", "via", "until", "before",
    "after", "near", "as",
];

/// Those of whom one is left out: `everyone but kim`.
const ALL: [&str; 16] = [
    "all",
    "any",
    "every",
    "each",
    "no",
    "none",
    "everyone",
    "everybody",
    "everything",
    "everywhere",
    "anyone",
    "anybody",
    "anything",
    "anywhere",
    "nobody",
    "nothing",
];

/// Whether what a sentence is asked about is denied or left out by what stands before it.
pub(super) fn is_denied_before(said: &Sentence<'_>) -> bool {
    let own = said.own.start;
    own < said.len() && (0..own).any(|at| reach(said, at).is_some_and(|it| it.contains(&own)))
}

/// Whether it is the one of all that is left out: `everyone but kim`.
pub(super) fn is_exception(said: &Sentence<'_>) -> bool {
    let own = said.own.start;
    let is_but = |at: &usize| said.stem(*at) == "but";
    let mut all = (0..own.min(said.len())).filter(is_but);
    all.any(|at| exception(said, at).is_some_and(|it| it.contains(&own)))
}

/// The same of what stands behind it, or behind the list that it is one of: `orders 7, 8 must not be cancelled`.
pub(super) fn is_denied_behind(said: &Sentence<'_>) -> bool {
    let end = said.list_end(said.own.clone());
    if said.ends_part(end.saturating_sub(1)) {
        return false;
    }
    let last = (end..said.len()).find(|at| said.ends_part(*at));
    (end..=last.unwrap_or(said.len())).any(|at| match said.stem(at) {
        "must" | "should" | "shall" | "may" | "need" => said.stem(at + 1) == "not",
        "not" => said.stem(at + 1) == "to" && said.stem(at + 2) == "be",
        own => matches!(own, "mustn't" | "shouldn't" | "needn't"),
    })
}

/// Whether a word only denies: it names nothing itself.
pub(super) fn is_word(stem: &str) -> bool {
    let alone = ["without", "outside", "stop", "rather", "apart", "aside"];
    is_negation(stem) || LEAVING.contains(&stem) || alone.contains(&stem)
}

/// Whether a request begins with that something is not to be done.
pub(super) fn is_order_not_to(words: &[String]) -> bool {
    let is_lead = |it: &str| {
        let helps = matches!(it, "do" | "must" | "should" | "need");
        helps || matches!(it, "please" | "you" | "there" | "there's" | "is")
    };
    let first = words.iter().take_while(|it| is_lead(it.as_str())).count();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let lead = first.checked_sub(1).map_or("", word);
    let (own, next) = (word(first), word(first + 1));
    match own {
        "don't" | "dont" | "never" | "mustn't" | "shouldn't" | "needn't" => !is_reminder(next),
        // `is it not so` only asks.
        "not" => matches!(lead, "do" | "must" | "should" | "need") && !is_reminder(next),
        "no" => matches!(next, "need" | "longer"),
        _ => false,
    }
}

/// What a word denies.
fn reach(said: &Sentence<'_>, at: usize) -> Option<Range<usize>> {
    let (own, next) = (said.stem(at), said.stem(at + 1));
    let behind = |from: usize, nouns: usize| {
        // `not, 5` begins anew, and `except: 5` goes on.
        let to = said.end_with_list(from - 1, nouns);
        (to > from).then_some(from..to)
    };
    let all = |from: usize| behind(from, from);
    match (own, next) {
        ("apart" | "aside", "from") | ("instead" | "exception", "of") => all(at + 2),
        // `save for later` is something to do.
        ("save", "for") if has_before(said, at) => all(at + 2),
        ("no", "need" | "longer") => all(at + 2),
        ("no", "more") if said.stem(at + 2) != "than" => all(at + 2),
        ("outside" | "without", _) if !said.ends_part(at) => phrase(said, at + 1),
        ("but", _) => exception(said, at),
        // Who stops a job wants that very one.
        ("stop", _) if is_doing(next) => all(at + 1),
        // Of numbers it says in which range they are.
        ("than", _) if next.starts_with(|c: char| c.is_ascii_digit()) => None,
        _ if LEAVING.contains(&own) => all(at + 1),
        // Behind a verb that is said again nothing is denied: `don't cancel 7, cancel 8`.
        _ if is_negation(own) && !is_reminder(next) && !is_state(said, at) => behind(
            at + 1,
            at + 1 + usize::from(own != "not" || is_helping(said, at)),
        ),
        _ => None,
    }
}

/// One noun phrase, up to the next preposition: `without charts to kim`; but `without mailing to kim` is all of it.
fn phrase(said: &Sentence<'_>, from: usize) -> Option<Range<usize>> {
    let from = from + usize::from(said.stem(from) == "of");
    if is_doing(said.stem(from)) {
        return Some(from..said.end_with_list(from, from + 1));
    }
    let mut end = from;
    while end < said.len() {
        // `without those in Seoul`
        let is_told = end > from
            && matches!(
                said.stem(end - 1),
                "those" | "one" | "ones" | "anyone" | "anything" | "people"
            );
        if PREPOSITIONS.contains(&said.stem(end)) && !is_told {
            return (end > from).then_some(from..end);
        }
        end += 1;
        if said.ends_part(end - 1) {
            break;
        }
    }
    Some(from..said.list_end(from..end))
}

/// `everyone but the boss`, and not `that, but in celsius`.
fn exception(said: &Sentence<'_>, at: usize) -> Option<Range<usize>> {
    if said.begins_part(at) || said.ends_part(at) {
        return None;
    }
    let is_passed = |at: &usize| is_article(said.stem(*at)) || said.stem(*at) == "for";
    let from = (at + 1..said.len()).find(|at| !is_passed(at))?;
    let mut before = (0..at).rev().take_while(|it| !said.ends_part(*it));
    if before.any(|it| ALL.contains(&said.stem(it))) {
        return phrase(said, from);
    }
    Some(from..said.list_end(from..from + 1))
}

fn has_before(said: &Sentence<'_>, at: usize) -> bool {
    !said.begins_part(at) && !NOBODY.contains(&said.stem(at - 1))
}

fn is_negation(stem: &str) -> bool {
    stem.ends_with("n't") || NEGATIONS.contains(&stem)
}

/// Who is not to forget something means it.
fn is_reminder(next: &str) -> bool {
    matches!(next, "forget" | "hesitate" | "fail")
}

/// Whether a verb that a `not` belongs to stands before it, so that another follows.
fn is_helping(said: &Sentence<'_>, at: usize) -> bool {
    let lead = at.checked_sub(1).map_or("", |it| said.stem(it));
    matches!(
        lead,
        "do" | "does"
            | "did"
            | "can"
            | "could"
            | "has"
            | "have"
            | "had"
            | "am"
            | "is"
            | "are"
            | "was"
            | "must"
            | "should"
            | "need"
    )
}

fn is_doing(stem: &str) -> bool {
    stem.len() > 4 && stem.ends_with("ing") && stem != "thing"
}

/// Whether a negation tells how things are: `I can't find it`, and not `don't find it`.
fn is_state(said: &Sentence<'_>, at: usize) -> bool {
    let verb = (at + 1..said.len()).find(|it| !BETWEEN.contains(&said.stem(*it)));
    if !verb.is_some_and(|it| STATES.contains(&said.stem(it))) {
        return false;
    }
    let back = |at: usize| at.checked_sub(1).map_or("", |it| said.stem(it));
    match said.stem(at) {
        "don't" | "dont" | "never" => has_before(said, at),
        "not" if back(at) == "do" => has_before(said, at - 1),
        "not" => is_helping(said, at) && !matches!(back(at), "must" | "should" | "need"),
        own => !matches!(own, "mustn't" | "shouldn't" | "needn't" | "neither" | "nor"),
    }
}
