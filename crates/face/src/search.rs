//! Which tools fit a few words best: each word counts by how rare it is and by where it stands. Made once for a list of
//! tools, asked often.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// How much a word that stands more than once gains, and how much a long text loses.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.6;

/// What a word is worth that only begins like one of the query's.
const ALIKE: f32 = 0.4;
const ALIKE_MAX: usize = 24;

/// More words than this nobody needs to find a tool, and fewer letters say nothing.
const QUERY_WORDS_MAX: usize = 48;
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// A text of a tool and what it weighs.
pub type Field<'a> = (&'a str, f32);

/// The words of many tools, and what each is worth for which of them.
#[derive(Debug)]
pub struct Index {
    /// In order, each with where its worths begin.
    words: Vec<(Box<str>, u32)>,
    /// The number of a tool, and what the word is worth for it.
    worths: Vec<(u32, f32)>,
    tools: usize,
}

impl Index {
    pub fn new<'a>(tools: impl Iterator<Item = Vec<Field<'a>>>) -> Self {
        let mut counts: HashMap<String, Vec<(u32, f32)>> = HashMap::new();
        let mut lengths: Vec<f32> = Vec::new();
        for (number, fields) in (0_u32..).zip(tools) {
            let mut length = 0.0;
            for (text, weight) in fields {
                for word in words(cut(text)) {
                    length += weight;
                    count(&mut counts, word, number, weight);
                }
            }
            lengths.push(length);
        }
        let mut index = Index {
            words: Vec::with_capacity(counts.len()),
            worths: Vec::new(),
            tools: lengths.len(),
        };
        let mean = mean(&lengths);
        let mut counts: Vec<(String, Vec<(u32, f32)>)> = counts.into_iter().collect();
        counts.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (word, found) in counts {
            let start = u32::try_from(index.worths.len()).unwrap_or(u32::MAX);
            index.words.push((word.into_boxed_str(), start));
            let rarity = rarity(lengths.len(), found.len());
            let worths = found.into_iter().map(|(number, times)| {
                let length = lengths[number as usize] / mean;
                let damping = SATURATION * (1.0 - LENGTH + LENGTH * length);
                (
                    number,
                    rarity * times * (SATURATION + 1.0) / (times + damping),
                )
            });
            index.worths.extend(worths);
        }
        index
    }

    /// The numbers of the tools that fit best, the best first. What fits not at all is left out.
    pub fn best(&self, query: &str, most: usize) -> Vec<usize> {
        let mut scores: Vec<f32> = vec![0.0; self.tools];
        let mut asked: Vec<String> = words(cut(query)).take(QUERY_WORDS_MAX).collect();
        asked.sort_unstable();
        asked.dedup();
        for word in &asked {
            let (from, to) = self.alike(word);
            let mut alike = 0;
            for at in from..to {
                let weight = match &*self.words[at].0 == word.as_str() {
                    true => 1.0,
                    false if alike == ALIKE_MAX => continue,
                    false => {
                        alike += 1;
                        ALIKE
                    }
                };
                for (number, worth) in self.worths_of(at) {
                    scores[*number as usize] += weight * worth;
                }
            }
        }
        let mut found: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
        let better = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
        if found.len() > most {
            found.select_nth_unstable_by(most, better);
            found.truncate(most);
        }
        found.sort_unstable_by(better);
        found
    }

    fn worths_of(&self, at: usize) -> &[(u32, f32)] {
        let end = self.words.get(at + 1).map(|(_, end)| *end as usize);
        &self.worths[self.words[at].1 as usize..end.unwrap_or(self.worths.len())]
    }

    /// Where the words stand that begin as this one does; `calculate` and `calculator` share enough.
    fn alike(&self, word: &str) -> (usize, usize) {
        let chars = word.chars().count();
        let shared = match word.is_ascii() {
            true if chars > 4 => (chars * 3).div_ceil(4),
            true if chars > 2 => chars,
            // Two syllables are a whole word to us.
            _ => {
                let exact = |(known, _): &(Box<str>, u32)| (**known).cmp(word);
                return match self.words.binary_search_by(exact) {
                    Ok(at) => (at, at + 1),
                    Err(at) => (at, at),
                };
            }
        };
        let start = &word[..shared];
        let from = self.words.partition_point(|(known, _)| **known < *start);
        let rest = &self.words[from..];
        let count = rest.partition_point(|(known, _)| known.starts_with(start));
        (from, from + count)
    }
}

fn count(counts: &mut HashMap<String, Vec<(u32, f32)>>, word: String, number: u32, weight: f32) {
    match counts.entry(word) {
        Entry::Vacant(new) => {
            new.insert(vec![(number, weight)]);
        }
        Entry::Occupied(mut known) => match known.get_mut().last_mut() {
            Some((last, times)) if *last == number => *times += weight,
            _ => known.get_mut().push((number, weight)),
        },
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

fn cut(text: &str) -> &str {
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    &text[..end]
}

/// The words of a text, in small letters: parted where no letter or digit stands and where a new word begins with a
/// capital one. Korean, Chinese and Japanese are taken two characters at a time, since nothing parts their words.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.flat_map(parts).flat_map(|part| {
        if part.chars().next().is_some_and(is_syllable) {
            pairs(part)
        } else {
            vec![singular(&part.to_lowercase())]
        }
    })
}

/// `parseHTTPBody한글` to `parse`, `HTTP`, `Body`, `한글`.
fn parts(run: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 1..chars.len() {
        let (before, (here, this)) = (chars[at - 1].1, chars[at]);
        // `URLs` is one word.
        let rest = chars[at + 1..].iter().map(|(_, c)| *c);
        let is_plural = rest.clone().take(2).eq(['s']);
        let next_is_small = !is_plural && rest.clone().next().is_some_and(char::is_lowercase);
        let is_new = is_syllable(before) != is_syllable(this)
            || (this.is_uppercase() && (!before.is_uppercase() || next_is_small));
        if is_new {
            parts.push(&run[start..here]);
            start = here;
        }
    }
    if start < run.len() {
        parts.push(&run[start..]);
    }
    parts
}

fn pairs(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    match chars.len() {
        0 | 1 => vec![run.to_owned()],
        _ => chars.windows(2).map(|pair| pair.iter().collect()).collect(),
    }
}

fn is_syllable(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}'
        | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}')
}

fn singular(word: &str) -> String {
    let stem = word.strip_suffix('s').filter(|stem| {
        let is_word = stem.len() > 2 && stem.is_ascii();
        is_word && !stem.ends_with(['s', 'u', 'i'])
    });
    stem.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> String {
        words(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts_fall_into_words() {
        for (text, expected) in [
            ("web_search.v2-beta", "web search v2 beta"),
            ("parseHTTPBody", "parse http body"),
            ("getURLs", "get url"),
            ("Files, status & classes", "file status classe"),
            ("날씨를 알려줘", "날씨 씨를 알려 려줘"),
            ("PDF변환 도구", "pdf 변환 도구"),
            ("차", "차"),
            ("ÉCOLE  42", "école 42"),
            ("__", ""),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    fn index(tools: &[(&str, &str)]) -> Index {
        let fields =
            |(name, about): &(&'static str, &'static str)| vec![(*name, 3.0), (*about, 1.0)];
        let tools: Vec<(&'static str, &'static str)> = tools
            .iter()
            .map(|(a, b)| {
                let kept = |text: &str| -> &'static str { Box::leak(text.to_owned().into()) };
                (kept(a), kept(b))
            })
            .collect();
        Index::new(tools.iter().map(fields))
    }

    #[test]
    fn what_fits_best_comes_first_and_what_does_not_fit_stays_out() {
        let tools = [
            ("web_search", "Searches the web for pages"),
            ("sql_query", "Runs a query on a table and searches rows"),
            ("calculator", "Works out a sum"),
            ("weather", "도시의 날씨를 알려 준다"),
            ("doc_parser", "Turns a PDF or a 한글 문서 into text"),
        ];
        let index = index(&tools);
        let best = |query: &str| {
            let found = index.best(query, 5).into_iter();
            found.map(|at| tools[at].0).collect::<Vec<_>>().join(" ")
        };
        for (query, expected) in [
            ("search the web", "web_search sql_query"),
            ("webSearch", "web_search sql_query"),
            ("calculate something", "calculator"),
            ("calc", "calculator"),
            ("서울 날씨 알려줘", "weather"),
            ("한글 문서를 읽어줘", "doc_parser"),
            ("tables", "sql_query"),
            ("zebra", ""),
            ("", ""),
        ] {
            assert_eq!(best(query), expected, "{query}");
        }
        assert_eq!(index.best("search the web", 1), [0]);
        assert_eq!(index.best("search", 0), [] as [usize; 0]);
    }

    #[test]
    fn a_rare_word_is_worth_more_than_one_that_stands_everywhere() {
        let mut tools = vec![("file_tool", "Every file, file by file"); 6];
        tools.push(("other", "An invoice"));
        assert_eq!(index(&tools).best("file invoice", 1), [6]);
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        assert!(index(&[]).best("anything", 5).is_empty());
        assert!(index(&[("", "")]).best("anything", 5).is_empty());
    }
}
