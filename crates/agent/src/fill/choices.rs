//! Which of a few values is surely meant for a parameter, and what a request says yes or no to.

use super::mentions::{Mention, is_no, length_at, mention, mentions};
use super::said::Said;
use super::wanted::{Choice, End, Wanted};
use selection::speech::is_common;
use std::ops::Range;

/// The one choice that is surely meant for a parameter.
///
/// What is handed over as a text, from a place of the request on, chooses nothing.
pub(crate) fn chosen(
    said: &Said<'_>,
    wanted: &Wanted<'_>,
    choices: &[Choice],
    text_from: usize,
) -> Option<usize> {
    let mut mentions = mentions(said, choices);
    mentions.retain(|it| said.words[it.words.start].place.start < text_from);
    // Of a direction only what points there: who translates from Korean does not want it.
    if wanted.end.is_some() {
        // But for what stands beside the very name: `use the database source`.
        let is_own = |at: Option<usize>| {
            let word = at.and_then(|at| said.words.get(at));
            word.is_some_and(|it| it.stem == wanted.spoken)
        };
        mentions.retain(|it| {
            let beside = [it.words.start.checked_sub(1), Some(it.words.end)];
            it.end == wanted.end || beside.into_iter().any(is_own)
        });
    }
    let (denied, mut mentions): (Vec<Mention>, Vec<Mention>) =
        mentions.into_iter().partition(|it| it.is_not_meant(said));
    // What is named once and denied once is not certain either way.
    mentions.retain(|it| denied.iter().all(|other| other.choice != it.choice));
    let is_open = |it: &Mention| it.is_alternative(said);
    if mentions.iter().any(is_open) && (mentions.len() < 2 || only_of(&mentions).is_none()) {
        return None;
    }
    // Of `the blue and the red room` neither is the one.
    let is_joined =
        |pair: &[Mention]| pair[0].choice != pair[1].choice && pair[0].joins(&pair[1], said);
    if wanted.end.is_none() && mentions.windows(2).any(is_joined) {
        return None;
    }
    let named = |it: &&Mention| is_beside_name(said, wanted, &it.words);
    let by_name = mentions.iter().filter(named);
    if let Some(one) = only_of(by_name) {
        return Some(one);
    }
    let is_telling = |it: &&Mention| {
        let words = &said.words[it.words.clone()];
        let is_plain =
            words.len() == 1 && (is_common(&words[0].stem) || words[0].stem.chars().count() < 2);
        !is_plain && (wanted.required || it.is_led)
    };
    only_of(mentions.iter().filter(is_telling))
}

fn only_of<'m>(mentions: impl IntoIterator<Item = &'m Mention>) -> Option<usize> {
    let mut mentions = mentions.into_iter();
    let first = mentions.next()?.choice;
    mentions.all(|it| it.choice == first).then_some(first)
}

/// Whether a request speaks of two of the choices and leaves open which: `in celsius or fahrenheit`, `in both euros and dollars`.
/// It is asked for even where it may be left out.
pub(crate) fn is_left_open(said: &Said<'_>, choices: &[Choice], text_from: usize) -> bool {
    let mut mentions = mentions(said, choices);
    mentions
        .retain(|it| said.words[it.words.start].place.start < text_from && !it.is_not_meant(said));
    mentions.windows(2).any(|pair| {
        let is_near = pair[1].words.start <= pair[0].words.end + 2;
        let is_open = is_near && pair[0].is_alternative(said);
        pair[0].choice != pair[1].choice && (is_open || pair[0].joins(&pair[1], said))
    })
}

/// `sort by price`, `정렬은 가격순`: the name of the parameter stands beside the choice.
fn is_beside_name(said: &Said<'_>, wanted: &Wanted<'_>, words: &Range<usize>) -> bool {
    let near = words.start.saturating_sub(2)..(words.end + 1).min(said.words.len());
    let beside = near.filter(|at| !words.contains(at));
    let mut beside = beside.map(|at| said.words[at].stem.as_str());
    beside.any(|it| wanted.aliases.iter().any(|alias| alias == it))
}

/// Of two parameters with the same choices, the ones for where something begins and where it ends.
pub(crate) fn ends(said: &Said<'_>, choices: &[Choice]) -> Option<(usize, usize)> {
    let mentions = mentions(said, choices);
    let [first, second] = &mentions[..] else {
        return None;
    };
    if first.is_not_meant(said) || second.is_not_meant(said) || first.choice == second.choice {
        return None;
    }
    match (first.end, second.end) {
        (None | Some(End::From), Some(End::To)) => Some((first.choice, second.choice)),
        (Some(End::To), Some(End::From)) => Some((second.choice, first.choice)),
        _ => None,
    }
}

/// What a request says to a question of yes or no; nothing unless it names it.
pub(crate) fn yes_or_no(said: &Said<'_>, wanted: &Wanted<'_>) -> Option<bool> {
    // Who asks whether it is so does not say that it is to be.
    let first = said.words.first().map_or("", |it| it.stem.as_str());
    if matches!(first, "is" | "are" | "was" | "were") && said.request.trim_end().ends_with('?') {
        return None;
    }
    let words: Vec<&str> = wanted.spoken.split(' ').collect();
    let needs_verb = words
        .first()
        .is_some_and(|it| matches!(*it, "include" | "with" | "show" | "exclude"));
    let is_negative = words
        .first()
        .is_some_and(|it| matches!(*it, "exclude" | "no" | "without"));
    let telling: Vec<&str> = words
        .into_iter()
        .filter(|it| {
            let is_verb = matches!(
                *it,
                "is" | "has"
                    | "should"
                    | "include"
                    | "exclude"
                    | "with"
                    | "without"
                    | "use"
                    | "enable"
                    | "allow"
                    | "show"
                    | "no"
            );
            !is_verb && !is_common(it)
        })
        .collect();
    let phrase = telling.join(" ");
    if phrase.chars().count() < 3 {
        return None;
    }
    let at = (0..said.words.len()).find(|at| length_at(said, *at, &phrase).is_some())?;
    let found = mention(said, 0, at..at + telling.len());
    // `I don't want any archived orders`: what is denied, and how, is not certain.
    let part = said.words[..at].iter().rev();
    let mut part = part.take_while(|it| !it.ends_part).skip(2);
    if !found.is_denied && part.any(|it| is_no(&it.stem)) {
        return None;
    }
    let near = said.words[at.saturating_sub(3)..at]
        .iter()
        .map(|it| it.stem.as_str());
    let after = said.words.get(found.words.end).map_or("", |it| it.bare);
    let is_excluded = near
        .clone()
        .any(|it| matches!(it, "exclude" | "excluding" | "without" | "skip" | "hide"))
        || after.starts_with("제외");
    let is_included = near
        .clone()
        .any(|it| matches!(it, "include" | "including" | "with" | "also"))
        || after.starts_with("포함");
    let says = match (found.is_denied || is_excluded, is_included || !needs_verb) {
        (true, _) => false,
        (false, true) => true,
        (false, false) => return None,
    };
    Some(says != is_negative)
}
