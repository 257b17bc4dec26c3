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

/// The words of all tools, and what each is worth for which of them.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// In order, each with where its worths begin.
    words: Vec<(u32, u32)>,
    /// The number of a tool, and what the word is worth for it.
    worths: Vec<(u32, f32)>,
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
        let mean = mean(&lengths);
        let mut index = Index {
            words: Vec::new(),
            worths: Vec::with_capacity(all.len()),
            tools: lengths.len(),
        };
        for found in all.chunk_by(|a, b| a.0 == b.0) {
            let start = u32::try_from(index.worths.len()).unwrap_or(u32::MAX);
            index.words.push((found[0].0, start));
            let rarity = rarity(lengths.len(), found.len());
            index.worths.extend(found.iter().map(|(_, number, times)| {
                let length = lengths[*number as usize] / mean;
                let damping = SATURATION * (1.0 - LENGTH + LENGTH * length);
                let worth = rarity * times * (SATURATION + 1.0) / (times + damping);
                (*number, worth)
            }));
        }
        index
    }

    /// Adds what the words of a request are worth to the scores of the tools. Gives what they would be worth to a tool
    /// that had each of them once. No tool has a number: that it has some number is worth little, and which one is left over.
    pub(crate) fn add(&self, asked: &[Word], scores: &mut [f32]) -> f32 {
        let mut seen: Vec<u32> = Vec::with_capacity(asked.len());
        let mut mass = 0.0;
        for word in asked {
            if word.is_number() {
                mass += rarity(self.tools, 0);
            }
            if seen.contains(&word.key) {
                continue;
            }
            seen.push(word.key);
            let weight = if word.is_common { COMMON } else { 1.0 };
            let worths = self.worths_of(word.key);
            mass += weight * rarity(self.tools, worths.len());
            for (number, worth) in worths {
                scores[*number as usize] += weight * worth;
            }
        }
        mass
    }

    fn worths_of(&self, key: u32) -> &[(u32, f32)] {
        let Ok(at) = self.words.binary_search_by_key(&key, |it| it.0) else {
            return &[];
        };
        let end = self.words.get(at + 1).map(|(_, end)| *end as usize);
        &self.worths[self.words[at].1 as usize..end.unwrap_or(self.worths.len())]
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
        Index::new(bags.iter()).add(&words(query), &mut scores);
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
