//! Whether a day that is named is the one that is meant, and whether something begins or ends then.

use super::Reader;
use crate::fill::doubt::{is_denied, is_near};
use crate::fill::wanted::End;

impl Reader<'_, '_> {
    /// Another day is meant: `not tomorrow`, `a week from today`, `내일 말고`; or it tells of something else: `어제 얘기한 방`.
    pub(super) fn is_turned(&self, end: usize) -> bool {
        let before = |back: usize| {
            let at = self.at.checked_sub(back);
            let word = at.and_then(|at| self.said.words.get(at));
            word.map_or("", |it| it.stem.as_str())
        };
        let is_span = matches!(
            before(2),
            "day" | "days" | "week" | "weeks" | "month" | "months" | "year" | "years"
        );
        let next = self.said.words.get(end).map_or("", |it| it.bare);
        // Of a day that is yet to come nothing can be told: `내일 중요한 회의`.
        let own = self.said.words[self.at].stem.as_str();
        let is_ahead = ["내일", "모레", "글피", "다음", "오는"];
        let is_ahead = is_ahead.iter().any(|it| own.starts_with(it));
        let tells = ["한", "던", "했던", "된", "온", "본", "준"];
        is_denied(self.said, &self.said.place(&(self.at..end)))
            || (is_span && matches!(before(1), "from" | "after" | "before"))
            || (!is_ahead && next.chars().count() > 2 && tells.iter().any(|it| next.ends_with(it)))
    }

    /// `around 2026-12-01`. What is said about tomorrow may be about that very day.
    pub(super) fn is_near(&self, end: usize) -> bool {
        let is_topic = self.at > 0
            && self.said.words[self.at - 1].stem == "about"
            && !self.small(0).starts_with(|c: char| c.is_ascii_digit());
        !is_topic && is_near(self.said, &(self.at..end))
    }

    pub(super) fn is_beyond(&self) -> bool {
        let before = self.said.previous(self.at);
        before.is_some_and(|it| matches!(it.stem.as_str(), "after" | "before"))
    }

    /// Whether what was found is a beginning or an end: `from today`, `내일까지`.
    pub(super) fn end(&self, end: usize) -> Option<End> {
        let lead = self
            .said
            .previous(self.at)
            .map_or("", |it| it.stem.as_str());
        let last = self.said.words.get(end - 1).map_or("", |it| it.bare);
        if last.ends_with("부터") || last.ends_with("에서") {
            return Some(End::From);
        }
        if last.ends_with("까지") {
            return Some(End::To);
        }
        match lead {
            "from" | "since" | "starting" | "between" | "after" => Some(End::From),
            "to" | "until" | "till" | "through" | "by" | "before" | "ending" | "and" => {
                Some(End::To)
            }
            _ => None,
        }
    }
}
