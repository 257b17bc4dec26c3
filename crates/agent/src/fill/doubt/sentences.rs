//! The sentence around a place, words and quotes alike, and the lists in it.

use crate::fill::said::{BOTH, EITHER, Said, Word};
use crate::fill::units::{leading_unit, unit};
use std::ops::Range;

/// What is denied stands so near, even in a sentence without an end.
pub(super) const WORDS_MAX: usize = 100;

/// So far stand the numbers of a list from each other: `order 7 and the order 8`.
const NOUNS_MAX: usize = 4;

/// A word or a quote, and the mark behind it.
struct Piece<'s> {
    /// In small letters, without its ending, and with plain apostrophes.
    stem: String,
    bare: &'s str,
    particle: &'s str,
    is_quote: bool,
    mark: Mark,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    None,
    Comma,
    Colon,
    Other,
}

/// What can stand in one list.
#[derive(PartialEq)]
enum Kind {
    Mail,
    Number,
    Key,
    Name,
    Word,
    Quote,
}

/// A sentence, and which of its pieces were asked about.
pub(super) struct Sentence<'s> {
    pieces: Vec<Piece<'s>>,
    pub(super) own: Range<usize>,
}

/// Whether a word joins two of a list.
fn joins(stem: &str) -> bool {
    stem == "nor" || BOTH.contains(&stem) || EITHER.contains(&stem)
}

impl<'s> Sentence<'s> {
    pub(super) fn around(said: &'s Said<'_>, place: &Range<usize>) -> Self {
        let words = &said.words;
        let near = words.partition_point(|it| it.place.end <= place.start);
        let before = words[near.saturating_sub(WORDS_MAX)..near].iter().rev();
        let before = before.take_while(|it| !it.ends_sentence).count();
        let behind = words[near..].iter().take(WORDS_MAX);
        let is_end = |it: &Word<'_>| it.ends_sentence && it.place.end >= place.end;
        let end = behind.clone().position(is_end);
        let end = near + end.map_or(behind.len(), |it| it + 1);
        let words = &words[near - before..end];
        let edge = (near - before).checked_sub(1);
        let from = edge.map_or(0, |it| said.words[it].place.end);
        let to = match said.words.get(end) {
            // What stands between the last word and the next sentence, a quote, belongs to it.
            Some(next) => next.place.start,
            None => said.request.len(),
        };
        let to = to.max(place.end);
        let is_within = |it: &Range<usize>| it.start >= from && it.end <= to;
        let words = words.iter().map(|it| {
            let stem = it.stem.replace('’', "'");
            (it.place.clone(), stem, it.bare, it.particle, false)
        });
        let quotes = said.quotes.iter().filter(|it| is_within(&it.place));
        let quotes = quotes.map(|it| (it.place.clone(), String::new(), it.text, "", true));
        let mut all: Vec<_> = words.chain(quotes).collect();
        all.sort_by_key(|it| it.0.start);
        let is_own = |it: &Range<usize>| it.start < place.end && place.start < it.end;
        let first = all.iter().position(|it| is_own(&it.0));
        let first = first.unwrap_or(all.len());
        let count = all[first..].iter().take_while(|it| is_own(&it.0)).count();
        let starts: Vec<usize> = all.iter().map(|it| it.0.start).collect();
        let pieces = all.into_iter().enumerate();
        let pieces = pieces.map(|(at, (place, stem, bare, particle, is_quote))| {
            let next = starts.get(at + 1).copied().unwrap_or(to);
            Piece {
                stem,
                bare,
                particle,
                is_quote,
                mark: mark(&said.request[place.end..next.max(place.end)]),
            }
        });
        Sentence {
            pieces: pieces.collect(),
            own: first..first + count,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    pub(super) fn stem(&self, at: usize) -> &str {
        self.pieces.get(at).map_or("", |it| it.stem.as_str())
    }

    pub(super) fn bare(&self, at: usize) -> &str {
        self.pieces.get(at).map_or("", |it| it.bare)
    }

    /// Whether a piece is the last of its part.
    pub(super) fn ends_part(&self, at: usize) -> bool {
        let piece = self.pieces.get(at);
        piece.is_none_or(|it| it.mark != Mark::None)
    }

    pub(super) fn begins_part(&self, at: usize) -> bool {
        at.checked_sub(1).is_none_or(|it| self.ends_part(it))
    }

    /// Where the part that a piece stands in ends, and the list that it ends with: behind `except 42, 43` not before 43.
    /// Words from `nouns` on may be said again in it: `except user 42, user 43`.
    pub(super) fn end_with_list(&self, from: usize, nouns: usize) -> usize {
        let end = (from..self.len()).find(|at| self.ends_part(*at));
        let end = end.map_or(self.len(), |it| it + 1);
        self.end_from(from..end, nouns)
    }

    /// Where a list ends that goes on behind some pieces.
    pub(super) fn list_end(&self, items: Range<usize>) -> usize {
        let nouns = items.start.saturating_sub(1);
        self.end_from(items, nouns)
    }

    fn end_from(&self, mut items: Range<usize>, nouns: usize) -> usize {
        while let Some(item) = self.next_item(&items, nouns) {
            items.end = item.end;
        }
        items.end
    }

    /// Whether what was asked about stands in a list of several of its kind. What has a unit is none of them.
    pub(super) fn is_listed(&self) -> bool {
        let is_one = |item: &Range<usize>| {
            let bare = self.bare(item.start);
            let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit() || ",.".contains(c));
            let is_money = bare.starts_with(['$', '€', '₩', '£']);
            let has_unit = is_money || leading_unit(digits).is_some_and(|it| it.0.name != "times");
            item.len() == 1 && !has_unit
        };
        let next = self.next_item(&self.own, self.own.start.saturating_sub(1));
        let is_next = |at: usize| {
            let next = self.next_item(&(at..at + 1), at.saturating_sub(1));
            is_one(&(at..at + 1)) && next.is_some_and(|it| it.contains(&self.own.start))
        };
        let own = self.own.start.min(self.len());
        let mut near = own.saturating_sub(NOUNS_MAX)..own;
        next.is_some_and(|it| is_one(&it)) || near.any(is_next)
    }

    /// The next of a list whose last stands among some pieces: `42, 43`, `kim and lee`, `user 42 and user 43`, `4711과 4712`.
    fn next_item(&self, items: &Range<usize>, nouns: usize) -> Option<Range<usize>> {
        let last = items.end.checked_sub(1)?;
        let piece = self.pieces.get(last).filter(|_| !items.is_empty())?;
        let is_led_to = piece.mark == Mark::Colon;
        let is_joined = piece.joins()
            || is_led_to
            || piece.mark == Mark::Comma
            || (piece.mark == Mark::None && joins(self.stem(items.end)));
        if !is_joined || piece.mark == Mark::Other {
            return None;
        }
        let is_repeated = |at: usize| {
            let own = singular(self.stem(at));
            let mut said = nouns..items.end;
            !own.is_empty() && said.any(|it| singular(self.stem(it)) == own)
        };
        let is_light = |at: usize| joins(self.stem(at)) || is_article(self.stem(at));
        let mut at = items.end;
        while is_light(at) || (is_repeated(at) && !self.ends_part(at)) {
            at += 1;
        }
        let kind = self.pieces.get(at)?.kind();
        let is_same = match kind {
            // Of words only those that stand side by side are a list, and no verb begins one: `don't worry, kim`.
            Kind::Word | Kind::Name | Kind::Quote => {
                !is_led_to && last >= nouns && piece.kind() == kind
            }
            _ => is_led_to || items.clone().any(|it| self.pieces[it].kind() == kind),
        };
        let goes_on = |end: usize| {
            let is_unit = unit(self.stem(end)).is_some() && kind == Kind::Number;
            let is_run = kind == Kind::Name && self.pieces[end].kind() == Kind::Name;
            is_unit || is_run
        };
        let mut end = at + 1;
        while end < self.len() && !self.ends_part(end - 1) && goes_on(end) {
            end += 1;
        }
        is_same.then_some(at..end)
    }
}

impl Piece<'_> {
    /// Whether its ending joins it to the next.
    fn joins(&self) -> bool {
        let is_noun = matches!(self.kind(), Kind::Word | Kind::Name);
        let ends = |it: &&str| self.bare.ends_with(*it);
        match is_noun {
            // `사과` is an apple.
            true => matches!(self.particle, "와" | "과" | "랑" | "이랑" | "이나"),
            false => ["와", "과", "랑", "하고", "나"].iter().any(ends),
        }
    }

    fn kind(&self) -> Kind {
        let has = |is_one: fn(&char) -> bool| self.bare.chars().any(|c| is_one(&c));
        let begins = self.bare.trim_start_matches(['#', '$', '€', '₩', '£']);
        if self.bare.contains('@') {
            Kind::Mail
        } else if self.is_quote {
            Kind::Quote
        } else if begins.starts_with(|c: char| c.is_ascii_digit())
            && !begins.contains(|c: char| c.is_ascii_alphabetic() || "-:/".contains(c))
        {
            Kind::Number
        } else if has(char::is_ascii_digit) {
            Kind::Key
        } else if self.bare.starts_with(char::is_uppercase) {
            Kind::Name
        } else {
            Kind::Word
        }
    }
}

/// The mark among what stands between two pieces.
fn mark(between: &str) -> Mark {
    match () {
        () if between.contains(['.', '!', '?', '。', ';', ')', '→']) => Mark::Other,
        () if between.contains([':', '：']) => Mark::Colon,
        () if between.contains([',', '、', '，']) => Mark::Comma,
        () => Mark::None,
    }
}

pub(super) fn is_article(stem: &str) -> bool {
    matches!(stem, "the" | "a" | "an")
}

fn singular(stem: &str) -> &str {
    stem.strip_suffix('s').unwrap_or(stem)
}
