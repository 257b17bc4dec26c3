//! How well the words of a request fit those of each tool: BM25, with the words of a name worth more than those of a
//! parameter's description.

use crate::words::Word;
use std::collections::HashMap;

/// How much a word that stands more than once gains, and how much a long text loses.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.6;

/// A word of a request that says nothing by itself still tells apart two tools that are otherwise alike.
const COMMON: f32 = 0.25;

/// The words of one tool: each word's key with its weight, in order, and the sum of the weights.
#[derive(Debug, Default)]
pub(crate) struct Bag {
    words: Vec<(u32, f32)>,
    length: f32,
}

impl Bag {
    pub(crate) fn new<'a>(fields: impl Iterator<Item = (&'a [Word], f32)>) -> Self {
        let mut counts: HashMap<u32, f32> = HashMap::new();
        let mut length = 0.0;
        for (words, weight) in fields {
            for word in words {
                *counts.entry(word.key).or_default() += weight;
                length += weight;
            }
        }
        let mut words: Vec<(u32, f32)> = counts.into_iter().collect();
        words.sort_unstable_by_key(|(key, _)| *key);
        Bag { words, length }
    }

    pub(crate) fn has(&self, key: u32) -> bool {
        self.words.binary_search_by_key(&key, |it| it.0).is_ok()
    }
}

/// The words of all tools, and how often each has them.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// In order, each with where its tools begin.
    words: Vec<(u32, u32)>,
    /// The number of a tool, and how much it has of the word.
    times: Vec<(u32, f32)>,
    lengths: Vec<f32>,
}

/// What is known of words by the tools that are shown, and by no others.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How many of them have each word.
    with: Vec<u32>,
    /// What each tool loses for its length.
    dampings: Vec<f32>,
    tools: usize,
}

impl Index {
    pub(crate) fn new<'a>(bags: impl Iterator<Item = &'a Bag> + Clone) -> Self {
        let mut all: Vec<(u32, u32, f32)> = Vec::new();
        let mut lengths = Vec::new();
        for (number, bag) in (0_u32..).zip(bags) {
            lengths.push(bag.length);
            all.extend(bag.words.iter().map(|(key, times)| (*key, number, *times)));
        }
        all.sort_unstable_by_key(|(key, number, _)| (*key, *number));
        let mut index = Index {
            words: Vec::new(),
            times: Vec::with_capacity(all.len()),
            lengths,
        };
        for found in all.chunk_by(|a, b| a.0 == b.0) {
            let start = u32::try_from(index.times.len()).unwrap_or(u32::MAX);
            index.words.push((found[0].0, start));
            let times = found.iter().map(|(_, number, times)| (*number, *times));
            index.times.extend(times);
        }
        index
    }

    pub(crate) fn seen(&self, is_shown: &[bool]) -> Seen {
        let lengths = self.lengths.iter().zip(is_shown);
        let lengths: Vec<f32> = lengths.filter(|it| *it.1).map(|it| *it.0).collect();
        let mean = mean(&lengths);
        let damping = |length: &f32| SATURATION * (1.0 - LENGTH + LENGTH * (length / mean));
        let count = |at: usize| {
            let shown = self.tools_of(at).iter();
            let shown = shown.filter(|(number, _)| is_shown[*number as usize]);
            u32::try_from(shown.count()).unwrap_or(u32::MAX)
        };
        Seen {
            with: (0..self.words.len()).map(count).collect(),
            dampings: self.lengths.iter().map(damping).collect(),
            tools: lengths.len(),
        }
    }

    /// Adds what the words of a request are worth to the scores of the tools. Gives what they would be worth to a tool
    /// that had each of them once. No tool has a number: that it has some number is worth little, and which one is left over.
    pub(crate) fn add(&self, seen: &Seen, asked: &[Word], scores: &mut [f32]) -> f32 {
        let mut said: Vec<u32> = Vec::with_capacity(asked.len());
        let mut mass = 0.0;
        for word in asked {
            if word.is_number() {
                mass += rarity(seen.tools, 0);
            }
            if said.contains(&word.key) {
                continue;
            }
            said.push(word.key);
            let weight = if word.is_common { COMMON } else { 1.0 };
            let at = self.words.binary_search_by_key(&word.key, |it| it.0).ok();
            let with = at.map_or(0, |at| seen.with[at]);
            let rarity = rarity(seen.tools, with as usize);
            mass += weight * rarity;
            let Some(at) = at.filter(|_| with > 0) else {
                continue;
            };
            let most = weight * rarity * (SATURATION + 1.0);
            for (number, times) in self.tools_of(at) {
                let number = *number as usize;
                scores[number] += most * times / (times + seen.dampings[number]);
            }
        }
        mass
    }

    fn tools_of(&self, at: usize) -> &[(u32, f32)] {
        let end = self.words.get(at + 1).map(|(_, end)| *end as usize);
        &self.times[self.words[at].1 as usize..end.unwrap_or(self.times.len())]
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "how rare a word is need not be exact"
)]
fn rarity(all: usize, with: usize) -> f32 {
    let (all, with) = (all as f32, with as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "how long a text is need not be exact"
)]
fn mean(lengths: &[f32]) -> f32 {
    let sum: f32 = lengths.iter().sum();
    (sum / lengths.len().max(1) as f32).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    fn bags(tools: &[(&str, &str)]) -> Vec<Bag> {
        let bag = |(name, about): &(&str, &str)| {
            let (name, about) = (words(name), words(about));
            Bag::new([(&*name, 2.0), (&*about, 1.0)].into_iter())
        };
        tools.iter().map(bag).collect()
    }

    fn best(tools: &[(&str, &str)], query: &str) -> Option<usize> {
        let bags = bags(tools);
        let mut scores = vec![0.0; bags.len()];
        let index = Index::new(bags.iter());
        let seen = index.seen(&vec![true; bags.len()]);
        index.add(&seen, &words(query), &mut scores);
        let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
        (scores[best] > 0.0).then_some(best)
    }

    #[test]
    fn what_fits_best_is_worth_most() {
        let tools = [
            ("web_search", "Searches the web for pages"),
            ("sql_query", "Runs a query on a table"),
            ("calculator", "Works out a sum"),
            ("weather", "도시의 날씨를 알려 준다"),
        ];
        for (query, expected) in [
            ("search the web", Some(0)),
            ("tables", Some(1)),
            ("calculate something", Some(2)),
            ("서울 날씨 알려줘", Some(3)),
            ("zebra", None),
            ("", None),
        ] {
            assert_eq!(best(&tools, query), expected, "{query}");
        }
    }

    #[test]
    fn a_rare_word_is_worth_more_than_one_that_stands_everywhere() {
        let mut tools = vec![("file_tool", "Every file, file by file"); 6];
        tools.push(("other", "An invoice"));
        assert_eq!(best(&tools, "file invoice"), Some(6));
    }

    #[test]
    fn to_say_a_word_often_gains_little_and_to_say_many_words_loses() {
        let praise = "invoice ".repeat(50);
        let tools = [
            ("a", "Sends an invoice"),
            ("b", praise.as_str()),
            ("c", "x"),
        ];
        assert_eq!(best(&tools, "send the invoice"), Some(0));
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        assert_eq!(best(&[], "anything"), None);
        assert_eq!(best(&[("", "")], "anything"), None);
    }
}
