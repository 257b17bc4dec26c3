//! How alike request and tool are spelt: runs of two to four characters, each counted by how rare it is. Finds
//! `forecasting` in `forecast`, and words of Korean under their endings.

use crate::signs::spelled;
use crate::words::{cut, is_syllable, key};

/// Runs share a slot where their hashes do; there are so many slots that it rarely matters.
const SLOTS: usize = 1 << 16;

/// A tool's spelling is that of its name and of the beginning of its description, and that of its first examples.
const TEXT_CHARS_MAX: usize = 600;
const EXAMPLES_CHARS_MAX: usize = 1_200;

/// What stands for every number.
const NUMBER: char = '#';

/// A run that stands in many tools says little, and would cost the most time.
const COMMON_SHARE: f32 = 0.2;
const COMMON_LEAST: usize = 64;

/// The slots of one text in order, each with how often it is hit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Spelling(Vec<(u16, u16)>);

impl Spelling {
    pub(crate) fn new(text: &str) -> Self {
        Spelling::of(text, TEXT_CHARS_MAX)
    }

    /// That of the example prompts of a tool, as one text: together they show which words a tool is asked with, whichever
    /// of them is nearest.
    pub(crate) fn of_examples(examples: &[String]) -> Self {
        Spelling::of(&examples.join(" "), EXAMPLES_CHARS_MAX)
    }

    fn of(text: &str, chars_max: usize) -> Self {
        let mut slots: Vec<u16> = Vec::new();
        let buffer = letters(text, chars_max);
        let mut bytes = [0_u8; 16];
        for start in 0..buffer.len() {
            let mut end = 0;
            for (taken, c) in buffer[start..].iter().take(4).enumerate() {
                end += c.encode_utf8(&mut bytes[end..]).len();
                // What begins or ends with a gap says where a word begins or ends; a gap in the middle says nothing.
                if *c == ' ' && taken > 0 {
                    if taken > 1 {
                        slots.push(slot(&bytes[..end]));
                    }
                    break;
                }
                if taken > 0 {
                    slots.push(slot(&bytes[..end]));
                }
            }
        }
        slots.sort_unstable();
        let counted = slots.chunk_by(|a, b| a == b);
        let count = |run: &[u16]| (run[0], u16::try_from(run.len()).unwrap_or(u16::MAX));
        Spelling(counted.map(count).collect())
    }
}

/// The letters of a text between single gaps. Every number is the same: its digits say what a tool is to be given, not which
/// tool is meant. A digit beside a letter is part of a name, `mp3`, but for Korean, which puts no gap behind a number.
fn letters(text: &str, chars_max: usize) -> Vec<char> {
    let small = spelled(cut(text, 4 * chars_max)).to_lowercase();
    let all: Vec<char> = small.chars().take(chars_max).collect();
    let is_letter = |c: &char| c.is_alphabetic() && !is_syllable(*c);
    let mut letters = vec![' '];
    let mut at = 0;
    for run in all.chunk_by(|a, b| a.is_numeric() == b.is_numeric()) {
        at += run.len();
        let is_joined = letters.last().is_some_and(is_letter) || all.get(at).is_some_and(is_letter);
        if run[0].is_numeric() && !is_joined {
            letters.push(NUMBER);
            continue;
        }
        for c in run {
            let c = if c.is_alphanumeric() { *c } else { ' ' };
            if c != ' ' || letters.last() != Some(&' ') {
                letters.push(c);
            }
        }
    }
    if letters.last() != Some(&' ') {
        letters.push(' ');
    }
    letters
}

fn slot(bytes: &[u8]) -> u16 {
    (key(bytes) >> 16) as u16
}

/// The spellings of all tools.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Where the tools of each slot begin, and one more.
    starts: Vec<u32>,
    /// The number of a tool, and how much it has of the run.
    weights: Vec<(u32, f32)>,
    tools: usize,
}

/// What is known of spellings by the tools that are shown, and by no others.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How many of them have each slot.
    with: Vec<u32>,
    /// What makes each tool's spelling a vector of length 1.
    shares: Vec<f32>,
    tools: usize,
}

impl Index {
    pub(crate) fn new<'a>(spellings: impl Iterator<Item = &'a Spelling> + Clone) -> Self {
        let mut with = vec![0_u32; SLOTS];
        let mut tools = 0;
        for spelling in spellings.clone() {
            tools += 1;
            for (slot, _) in &spelling.0 {
                with[usize::from(*slot)] += 1;
            }
        }
        let mut starts = Vec::with_capacity(SLOTS + 1);
        let mut total = 0;
        for count in &with {
            starts.push(total);
            total += count;
        }
        starts.push(total);
        let mut weights = vec![(0, 0.0); total as usize];
        let mut next = starts.clone();
        for (number, spelling) in (0_u32..).zip(spellings) {
            for (slot, count) in &spelling.0 {
                let at = usize::from(*slot);
                weights[next[at] as usize] = (number, weight(*count));
                next[at] += 1;
            }
        }
        Index {
            starts,
            weights,
            tools,
        }
    }

    pub(crate) fn seen(&self, is_shown: &[bool]) -> Seen {
        if self.tools == 0 {
            return Seen::default();
        }
        let tools = is_shown.iter().filter(|it| **it).count();
        let mut squares = vec![0.0_f32; self.tools];
        let slot = |at: usize| {
            let own = self.tools_of(at);
            let shown = own
                .iter()
                .filter(|(number, _)| is_shown[*number as usize])
                .count();
            let with = u32::try_from(shown).unwrap_or(u32::MAX);
            let rarity = rarity(tools, with);
            for (number, weight) in own {
                squares[*number as usize] += (weight * rarity).powi(2);
            }
            with
        };
        Seen {
            with: (0..SLOTS).map(slot).collect(),
            shares: squares.iter().map(|it| 1.0 / long(*it)).collect(),
            tools,
        }
    }

    /// Adds the cosine of a request's spelling with that of each tool to the scores, which are nothing before.
    pub(crate) fn add(&self, seen: &Seen, asked: &Spelling, scores: &mut [f32]) {
        if seen.tools == 0 {
            return;
        }
        let common = common(seen.tools);
        let rarity = |slot: u16| rarity(seen.tools, seen.with[usize::from(slot)]);
        let square = |(slot, count): &(u16, u16)| (weight(*count) * rarity(*slot)).powi(2);
        let length = long(asked.0.iter().map(square).sum());
        for (slot, count) in &asked.0 {
            let at = usize::from(*slot);
            if !(1..=common).contains(&seen.with[at]) {
                continue;
            }
            let own = weight(*count) * rarity(*slot).powi(2) / length;
            for (number, weight) in self.tools_of(at) {
                scores[*number as usize] += own * weight;
            }
        }
        for (score, share) in scores.iter_mut().zip(&seen.shares) {
            *score *= share;
        }
    }

    fn tools_of(&self, at: usize) -> &[(u32, f32)] {
        &self.weights[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count need not be exact"
)]
fn common(tools: usize) -> u32 {
    ((tools as f32 * COMMON_SHARE) as usize).max(COMMON_LEAST) as u32
}

fn weight(count: u16) -> f32 {
    1.0 + f32::from(count).ln()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "how rare a run is need not be exact"
)]
fn rarity(all: usize, with: u32) -> f32 {
    ((1.0 + all as f32) / (1.0 + with as f32)).ln() + 1.0
}

/// The length of a vector from the sum of its squares; never nothing, since it is divided by.
fn long(squares: f32) -> f32 {
    squares.sqrt().max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(tools: &[&str], query: &str) -> Vec<f32> {
        let spellings: Vec<Spelling> = tools.iter().map(|it| Spelling::new(it)).collect();
        let mut scores = vec![0.0; tools.len()];
        let index = Index::new(spellings.iter());
        let seen = index.seen(&vec![true; tools.len()]);
        index.add(&seen, &Spelling::new(query), &mut scores);
        scores
    }

    #[test]
    fn the_same_text_is_as_alike_as_can_be() {
        let found = scores(
            &["weather forecast", "날씨 조회", "sum"],
            "Weather: forecast!",
        );
        assert!((found[0] - 1.0).abs() < 1e-4, "{found:?}");
        assert!(found[1].abs() < 1e-6 && found[2].abs() < 0.1, "{found:?}");
    }

    #[test]
    fn forms_of_a_word_are_alike() {
        let tools = [
            "weather_forecast",
            "stock price",
            "날씨를 조회한다",
            "주식을 조회한다",
        ];
        let best = |query: &str| {
            let found = scores(&tools, query);
            (0..found.len()).max_by(|a, b| found[*a].total_cmp(&found[*b]))
        };
        assert_eq!(best("forecasting"), Some(0));
        assert_eq!(best("오늘 날씨가 어때?"), Some(2));
        assert_eq!(best("주식은 얼마야"), Some(3));
    }

    #[test]
    fn which_number_it_is_says_nothing() {
        let found = scores(
            &["multiply 15 by 60", "3개에 2만원", "mp3"],
            "multiply 7 by 8",
        );
        assert!((found[0] - 1.0).abs() < 1e-4, "{found:?}");
        let korean = scores(&["3개에 2만원", "60"], "7개에 9만원");
        assert!((korean[0] - 1.0).abs() < 1e-4, "{korean:?}");
        // Such a one is part of a name.
        assert!(scores(&["mp3", "mp4"], "mp4")[0] < 0.9);
    }

    #[test]
    fn nothing_is_alike_to_nothing() {
        assert_eq!(scores(&[], "anything"), [] as [f32; 0]);
        assert_eq!(scores(&["", "tool"], ""), [0.0, 0.0]);
    }
}
