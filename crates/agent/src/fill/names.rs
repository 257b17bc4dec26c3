//! Whom or what a request names, where a parameter wants somebody, some place or the key of something.

use super::days::Times;
use super::doubt::{is_compared, is_denied, is_telling};
use super::said::{Said, Word};
use super::wanted::{End, Shape, Wanted};
use selection::speech::{ASKING, ASKING_KOREAN, VERBS, is_common, is_hangul, keys};

/// What is said of people and things in general: nobody's name.
const ROLES: [&str; 42] = [
    "who",
    "whom",
    "whose",
    "which",
    "anybody",
    "nobody",
    "anywhere",
    "everywhere",
    "somewhere",
    "nowhere",
    "somebody",
    "someone",
    "anyone",
    "everyone",
    "everybody",
    "user",
    "users",
    "customer",
    "person",
    "people",
    "team",
    "boss",
    "manager",
    "me",
    "him",
    "her",
    "them",
    "us",
    "사람",
    "사용자",
    "고객",
    "회원",
    "직원",
    "관리자",
    "사장",
    "팀장",
    "부장",
    "과장",
    "대리",
    "선생",
    "계정",
    "누군가",
];

/// How questions begin in Korean: nobody's name either.
const QUESTIONS: [&str; 7] = ["며칠", "몇", "누구", "누가", "무슨", "어느", "어떤"];

/// What comes before something of which only those who speak know which it is.
const POINTING: [&str; 22] = [
    "my", "the", "a", "an", "this", "that", "our", "your", "his", "her", "their", "some", "any",
    "every", "each", "all", "other", "내", "제", "우리", "그", "저희",
];

/// What Korean compares with that is no other of the same.
const USUAL: [&str; 9] = [
    "작년", "지난", "평소", "예전", "이전", "생각", "예상", "무엇", "누구",
];

/// What is looked at besides the request itself.
pub(crate) struct Surroundings<'s, 'a> {
    pub(crate) said: &'s Said<'a>,
    pub(crate) times: &'s Times,
    /// The words that the tool has itself, in order: they are no names.
    pub(crate) own: &'s [u32],
}

impl<'a> Surroundings<'_, 'a> {
    /// The one name that is surely meant.
    pub(crate) fn name(&self, wanted: &Wanted<'_>) -> Option<String> {
        if let Some(named) = self.called(wanted) {
            return Some(named);
        }
        let ways: [fn(&Self, &Wanted<'_>) -> Vec<String>; 4] =
            [Self::owners, Self::proper, |it, _| it.foreign(), Self::led];
        // The ways that find something have to agree.
        let mut found: Vec<String> = ways.iter().flat_map(|way| way(self, wanted)).collect();
        found.dedup();
        found.sort_unstable();
        found.dedup();
        match &found[..] {
            [one] => Some(one.clone()),
            [] => self.only_stranger(wanted),
            _ => None,
        }
    }

    /// Where something begins or ends, each with its mark: `from Pangyo to Suwon`, `판교에서 수원까지`.
    pub(crate) fn ends(&self) -> Option<(String, String)> {
        let at_end = |end: End| {
            let found = (0..self.said.words.len()).filter(|at| self.end(*at) == Some(end));
            let found: Vec<usize> = found.collect();
            match found[..] {
                [one] => Some(self.run(one)),
                _ => None,
            }
        };
        Some((at_end(End::From)?, at_end(End::To)?))
    }

    fn end(&self, at: usize) -> Option<End> {
        let word = &self.said.words[at];
        let lead = self.said.previous(at).map_or("", |it| it.stem.as_str());
        if !self.is_strange(at) {
            return None;
        }
        match (lead, word.particle) {
            ("from", _) | (_, "에서" | "부터" | "에서부터") => Some(End::From),
            ("to" | "until", _) | (_, "까지") => Some(End::To),
            _ => None,
        }
    }

    /// `user hong`, `a customer named Kim`, `사용자 lee의`: the parameter's own word stands before it.
    fn called(&self, wanted: &Wanted<'_>) -> Option<String> {
        let mut found: Vec<String> = Vec::new();
        for at in 0..self.said.words.len() {
            let before = self.said.previous(at).filter(|it| !it.ends_sentence);
            let lead = before.map_or("", |it| it.stem.as_str());
            let earlier = at.checked_sub(2).and_then(|at| self.said.words.get(at));
            let earlier = earlier.map_or("", |it| it.stem.as_str());
            let is_alias = |it: &str| {
                wanted.aliases.iter().any(|alias| alias == it)
                    || (it == "사용자" && wanted.spoken.contains("user"))
            };
            let is_named = matches!(lead, "named" | "called")
                || is_alias(lead)
                || (matches!(lead, "is" | "=") && is_alias(earlier));
            if is_named && self.is_strange(at) {
                found.push(self.run(at));
            }
        }
        found.dedup();
        match &found[..] {
            [one] => Some(one.clone()),
            _ => None,
        }
    }

    /// `park's allowance`, `hong의 제한량`, `choi님`.
    fn owners(&self, _: &Wanted<'_>) -> Vec<String> {
        let words = self.said.words.iter().enumerate();
        let found = words.filter(|(at, word)| {
            let is_owner = matches!(word.particle, "'s" | "’s" | "의" | "님께" | "님한테")
                || title(&word.stem).is_some();
            is_owner && self.is_strange(*at)
        });
        found.map(|(at, _)| self.run(at)).collect()
    }

    /// A run of words with capital letters within a sentence: `Brian Cho`, `New York`.
    fn proper(&self, wanted: &Wanted<'_>) -> Vec<String> {
        let words = &self.said.words;
        // All of `in New York` is a place.
        let is_where = |at: usize| {
            let goes_on = |at: &usize| is_capital(&words[*at]) && !words[*at].ends_part;
            let begin = at - (0..at).rev().take_while(goes_on).count();
            let lead = self.said.previous(begin).map_or("", |it| it.stem.as_str());
            wanted.shape == Shape::Name && matches!(lead, "in" | "at" | "near")
        };
        let is_proper = |at: usize| {
            is_capital(&words[at])
                && !words[at].begins_sentence
                && words[at].bare != "I"
                && !is_where(at)
        };
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.len() && !self.said.is_korean {
            let mut end = at;
            while end < words.len() && is_proper(end) && (end == at || !words[end - 1].ends_part) {
                end += 1;
            }
            if (at..end).any(|it| self.is_strange(it)) {
                found.push(self.run(at));
            }
            at = end.max(at + 1);
        }
        found
    }

    /// A word in Latin letters in a Korean sentence.
    fn foreign(&self) -> Vec<String> {
        if !self.said.is_korean {
            return Vec::new();
        }
        let words = self.said.words.iter().enumerate();
        let found = words.filter(|(at, word)| {
            let is_latin = word
                .stem
                .chars()
                .all(|c| c.is_ascii_alphabetic() || ".-_".contains(c));
            is_latin && self.is_strange(*at)
        });
        found.map(|(at, _)| self.run(at)).collect()
    }

    /// `the limit of hong`, `weather in busan`: what follows a preposition at the end of a sentence. In `of kim and of hong` both
    /// are found, so neither is surely the one.
    fn led(&self, wanted: &Wanted<'_>) -> Vec<String> {
        let leads: &[&str] = match wanted.shape {
            Shape::Place => &["in", "at", "near", "for"],
            _ => &["of", "for", "by"],
        };
        let words = self.said.words.iter().enumerate();
        let led: Vec<(usize, &Word<'_>)> = words
            .filter(|(at, _)| {
                let lead = self.said.previous(*at).map_or("", |it| it.stem.as_str());
                leads.contains(&lead) && self.is_strange(*at)
            })
            .collect();
        let is_last =
            |at: usize, word: &Word<'_>| word.ends_sentence || at + 1 == self.said.words.len();
        let has_last = led.iter().any(|(at, word)| is_last(*at, word));
        let found = led.iter().filter(|_| has_last);
        found.map(|(at, _)| self.run(*at)).collect()
    }

    /// All other words are the tool's own, or only ask. A place may stand anywhere; somebody where they do something (`may
    /// hong make`), or in Korean before what is asked about them: `김철수 제한량`, and not `제한량 초과`.
    fn only_stranger(&self, wanted: &Wanted<'_>) -> Option<String> {
        let says_own = |word: &Word<'_>| {
            let all = keys(&word.stem);
            all.iter().any(|it| self.own.binary_search(it).is_ok())
        };
        let first_own = self.said.words.iter().position(says_own)?;
        let strange = (0..self.said.words.len()).filter(|at| self.is_strange(*at));
        let strange: Vec<usize> = strange.collect();
        match strange[..] {
            [one] if wanted.shape == Shape::Place => Some(self.run(one)),
            [one] if self.said.is_korean && one < first_own => Some(self.run(one)),
            [one] if self.does_something(one, says_own) => Some(self.run(one)),
            _ => None,
        }
    }

    /// `may hong make`, `does kim have`
    fn does_something(&self, at: usize, says_own: impl Fn(&Word<'_>) -> bool) -> bool {
        let lead = self.said.previous(at).map_or("", |it| it.stem.as_str());
        let next = self
            .said
            .next(at)
            .filter(|_| !self.said.words[at].ends_part);
        let leads = [
            "may", "can", "does", "did", "will", "should", "could", "would",
        ];
        leads.contains(&lead) && next.is_some_and(|it| !says_own(it))
    }

    /// Whether a word may be a name: it says something, and nothing that the tool or the language says anyway.
    fn is_strange(&self, at: usize) -> bool {
        let word = &self.said.words[at];
        let stem = title(&word.stem).unwrap_or(&word.stem);
        let previous = self.said.previous(at).filter(|it| !it.ends_sentence);
        let is_pointed_at = previous.is_some_and(|it| POINTING.contains(&it.stem.as_str()));
        let is_time = self.times.taken().iter().any(|it| it.contains(&at));
        if is_time || (is_pointed_at && !is_capital(word)) || is_asking(word, stem) {
            return false;
        }
        let has_letters = stem.chars().any(char::is_alphabetic);
        let is_role = ROLES.contains(&stem);
        has_letters
            && !is_role
            && !is_telling(stem)
            && !self.is_own(stem)
            && !is_denied(self.said, &word.place)
            && !self.is_one_of_two(at)
    }

    /// `is Seoul colder than Busan?`, `김철수보다 이영희 한도가 높아?`: which of the two is meant is not said.
    fn is_one_of_two(&self, at: usize) -> bool {
        let words = self.said.words.iter().enumerate();
        // Another time is nobody else: `어제보다`.
        let is_other = |at: usize, it: &Word<'_>| {
            let is_time = self.times.taken().iter().any(|it| it.contains(&at));
            it.particle == "보다"
                && it.stem.chars().any(char::is_alphabetic)
                && !is_time
                && !USUAL.contains(&it.stem.as_str())
                && !it.bare.starts_with(|c: char| c.is_ascii_digit())
        };
        let mut others = words.filter(|(at, it)| is_other(*at, it));
        others.next().is_some() || is_compared(self.said, &self.said.words[at].place)
    }

    fn is_own(&self, stem: &str) -> bool {
        let all = keys(stem);
        let known = all.iter().filter(|it| self.own.binary_search(it).is_ok());
        all.is_empty() || known.count() * 2 >= all.len()
    }

    /// The name that begins with a word: with the next ones, where all have capital letters.
    fn run(&self, at: usize) -> String {
        let words = &self.said.words[at..];
        let first = &words[0];
        let mut last = first;
        if is_capital(first) && first.bare.is_ascii() && first.particle.is_empty() {
            let mut follows_on = !first.ends_part;
            for word in &words[1..] {
                if !follows_on || !is_capital(word) {
                    break;
                }
                follows_on = !word.ends_part && word.particle.is_empty();
                last = word;
            }
        }
        let end = last.place.end - last.particle.len();
        let text = &self.said.request[first.place.start..end];
        title(text).unwrap_or(text).to_owned()
    }
}

/// A name without the title that Korean puts to it.
fn title(stem: &str) -> Option<&str> {
    let body = stem.strip_suffix('님').or(stem.strip_suffix('씨'))?;
    (body.chars().count() >= 2).then_some(body)
}

fn is_capital(word: &Word<'_>) -> bool {
    word.bare.starts_with(char::is_uppercase)
}

/// Words that carry a request, and give nothing.
fn is_asking(word: &Word<'_>, stem: &str) -> bool {
    if is_common(stem)
        || ASKING.binary_search(&stem).is_ok()
        || matches!(stem, "day" | "per" | "daily")
    {
        return true;
    }
    if !stem.chars().any(is_hangul) {
        return false;
    }
    let is_known = ASKING_KOREAN
        .iter()
        .chain(&QUESTIONS)
        .any(|it| stem.starts_with(it) && stem.chars().count() <= it.chars().count() + 2);
    is_known || VERBS.iter().any(|it| word.bare.ends_with(it))
}
