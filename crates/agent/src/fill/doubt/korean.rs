//! What Korean denies or leaves out: it says so behind what it denies.

use super::sentences::{Sentence, WORDS_MAX};
use crate::fill::said::Said;
use crate::fill::texts::text_from;
use std::ops::Range;

/// How the word begins that follows what is left out.
const LEFT_OUT: [&str; 8] = [
    "말고", "빼고", "제외", "아니", "아닌", "이외", "외에", "대신",
];

/// What still may follow the verb that a sentence ends with: `하지 말아 주세요`, `하면 안 됩니다`.
const CLOSING: [&str; 14] = [
    "돼", "되", "된", "됩", "줘", "주", "줄", "부탁", "제발", "좀", "해", "하", "좋", "괜찮",
];

/// Whether what a sentence is asked about is left out, or one of a list that is: `내일 말고`, `4711, 4712 말고`.
pub(super) fn is_left_out(said: &Sentence<'_>) -> bool {
    let end = said.list_end(said.own.clone());
    let has_own = !said.own.is_empty() && end <= said.len();
    has_own && (said.bare(end - 1).ends_with("말고") || leaves_out(said.bare(end)))
}

/// Whether a word only leaves out: it names nothing itself.
pub(super) fn is_word(stem: &str) -> bool {
    LEFT_OUT.contains(&stem)
}

/// `아니면` offers another one instead.
fn leaves_out(word: &str) -> bool {
    !word.starts_with("아니면") && LEFT_OUT.iter().any(|it| word.starts_with(it))
}

/// Whether something is not to be done that stands before its verb: `곱하지 마`, `취소하면 안 돼`.
pub(super) fn is_forbidden(said: &Said<'_>, place: &Range<usize>) -> bool {
    let behind = following(said, place);
    if !behind.clone().any(|at| forbids(said, at)) {
        return false;
    }
    let text = text_from(said).filter(|it| place.start < *it);
    let is_own = |at: &usize| text.is_none_or(|text| said.words[*at].place.start < text);
    behind.filter(is_own).any(|at| forbids(said, at))
}

/// The same of a whole request. What it hands over is somebody's own words.
pub(super) fn is_any_forbidden(said: &Said<'_>) -> bool {
    let text = text_from(said);
    let is_own = |at: &usize| text.is_none_or(|text| said.words[*at].place.start < text);
    (0..said.words.len())
        .filter(is_own)
        .any(|at| forbids(said, at))
}

/// The words behind a place, in its sentence.
fn following(said: &Said<'_>, place: &Range<usize>) -> Range<usize> {
    let first = said.words.partition_point(|it| it.place.start < place.end);
    let last = first.checked_sub(1).map(|at| &said.words[at]);
    if last.is_some_and(|it| it.ends_sentence && it.place.end >= place.end) {
        return first..first;
    }
    let rest = said.words[first..].iter().take(WORDS_MAX);
    let end = rest.clone().position(|it| it.ends_sentence);
    first..first + end.map_or(rest.len(), |it| it + 1)
}

/// Whether a word says that something is not to be done, and does not only tell of it: `안 왔어요`, `늦지 않게`.
fn forbids(said: &Said<'_>, at: usize) -> bool {
    let word = said.words[at].bare;
    let before = said.previous(at).map_or("", |it| it.bare);
    let after = said.next(at).filter(|_| !said.words[at].ends_part);
    let after = after.map_or("", |it| it.bare);
    let last = |at: usize| is_last(said, at);
    // `하지 마`, `보내지마`; not `내일까지 마감`
    let told = match before.ends_with('지') && !before.ends_with("까지") {
        true => Some((before, word)),
        false => word.split_once('지').filter(|it| !it.0.is_empty()),
    };
    let is_told = told.is_some_and(|(verb, told)| {
        // `가지 말아야 할 곳`, `오지 말라는 날`
        let is_tale = (told.starts_with("말라는") || told.starts_with("말아야")) && !last(at);
        let forms = ["마요", "마세", "마십", "마시", "마라", "말"];
        let is_not = told == "마" || forms.iter().any(|it| told.starts_with(it));
        // `보내지 않아도 돼`, `취소되지 않게 해줘`
        let is_wish = ["않아도", "않았으면", "않을래", "않을게"]
            .iter()
            .any(|it| told.starts_with(it));
        let is_kept_from =
            (told.starts_with("않게") || told.starts_with("않도록")) && after.starts_with('해');
        !is_reminder(verb) && ((is_not && !is_tale) || ((is_wish || is_kept_from) && last(at)))
    });
    // `취소하면 안 돼`, and not `취소하면 안 되는 주문`
    let is_bad = |it: &str| {
        it.starts_with('돼')
            || (it.starts_with('되') && !it.starts_with("되는"))
            || it.starts_with('됩')
            || it.starts_with('된')
    };
    let is_banned = before.ends_with('면')
        && !is_reminder(before)
        && (word == "안" && is_bad(after) || word.strip_prefix('안').is_some_and(is_bad))
        && last(at);
    // `안 보내도 돼`, `취소 안 할래`
    let is_unwanted = word == "안"
        && ["도", "래", "래요", "게요"]
            .iter()
            .any(|it| after.ends_with(it))
        && last(at + 1);
    let is_needless = (word == "필요" && after.starts_with('없') && last(at + 1))
        || (word.starts_with("필요없") && last(at))
        || (word.starts_with("금지") && last(at));
    is_told || is_banned || is_unwanted || is_needless
}

/// Who is not to forget something means it: `잊지 마`, `늦으면 안 돼`.
fn is_reminder(verb: &str) -> bool {
    let verbs = ["잊", "까먹", "놓치", "빠뜨리", "늦"];
    verbs.iter().any(|it| verb.starts_with(it))
}

/// Whether nothing but what closes a sentence follows a word in its part.
fn is_last(said: &Said<'_>, at: usize) -> bool {
    let rest = said.words[at..].iter();
    let end = rest.clone().position(|it| it.ends_part || it.ends_sentence);
    let end = end.map_or(said.words.len(), |it| at + it + 1);
    let mut closing = said.words[at + 1..end].iter();
    closing.all(|word| CLOSING.iter().any(|it| word.bare.starts_with(it)))
}
