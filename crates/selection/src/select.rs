//! From a request to the tools it needs: ranked among those that may be seen, moved by rules, and judged whether to call
//! one at all.

use crate::clauses::clauses;
use crate::corpus::Corpus;
use crate::deed;
use crate::features::{Features, Top};
use crate::outcome::{Outcome, Verdict, judge};
use crate::preference::is_identifier;
use crate::rank::{Asked, Signals, nearest};
use crate::rules;
use crate::signs::is_formula;
use crate::values::Given;
use crate::why::Why;
use crate::words::cut;

/// More of a request says nothing more about which tool it needs.
const REQUEST_BYTES_MAX: usize = 2_000;

/// So many are looked at closely.
const CLOSE: usize = 48;

/// What a request gains for a tool that it calls by its name.
const CALLED: f32 = 0.5;

/// What a tool gains that takes all that the request gives and only some tools take: an address, a file, a number of
/// an order. One that takes nothing of it loses as much.
const TAKES: f32 = 0.04;

/// What a tool loses of which nothing that it needs is given. One that needs nothing loses half of it: that nothing is
/// missing says little there.
const LACKS: f32 = 0.055;

/// What a tool gains that looks something up where the request asks for that, or does something where it asks for that. The
/// other way round it loses as much.
const DEED: f32 = 0.015;

/// What a tool loses that wants numbers one by one where a formula is given.
const FORMULA: f32 = 0.15;

/// A clause brings a tool of its own if that fits nearly as well as the best tool of any clause does.
const CLAUSE_SHARE: f32 = 0.6;

/// What a request needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    pub outcome: Outcome,
    /// How sure that is, from 0 to 1.
    pub certainty: f32,
    /// What spoke for the outcome.
    pub because: String,
    /// The tools to call, in the order in which the request asks for them. Empty unless something is to be called or
    /// asked for.
    pub tools: Vec<usize>,
    /// The best first.
    pub candidates: Vec<Candidate>,
    pub features: Features,
    /// Whether the meaning of the request counted: it does not where the encoder gave no vector for it.
    pub has_meaning: bool,
}

/// A tool that may be right.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its place among the items of the corpus.
    pub at: usize,
    pub score: f32,
    pub why: Why,
}

/// A tool while it is looked at closely.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) at: usize,
    pub(crate) score: f32,
    /// Of the texts that were asked, the one that it fits best.
    text: usize,
    example: Option<f32>,
    pub(crate) rule: Option<String>,
}

impl Corpus {
    /// What a request needs among the tools that may be seen.
    #[must_use]
    pub fn select(
        &self,
        request: &str,
        visible: impl Fn(usize) -> bool,
        limit: usize,
    ) -> Selection {
        let request = cut(request.trim(), REQUEST_BYTES_MAX);
        let shown: Vec<usize> = (0..self.parts.len()).filter(|at| visible(*at)).collect();
        let texts = self.texts(request);
        let given = Given::new(request);
        let whole = Ranking::new(self, &texts);
        let mut ranked = whole.close(self, &given, &shown);
        rules::apply(self, &texts.asked[0], &mut ranked);
        let top = whole.top(self, &given, &ranked, &shown);
        let features = Features::new(request, &given, &top);
        let verdict = match ranked.is_empty() {
            true => Verdict::nothing(),
            false => judge(&features),
        };
        let tools = match verdict.outcome {
            Outcome::None => Vec::new(),
            Outcome::Ask => ranked.first().map(|it| it.at).into_iter().collect(),
            Outcome::Call => whole.needed(self, &ranked, &shown),
        };
        ranked.truncate(limit);
        let explain = |it: Ranked| Candidate {
            at: it.at,
            score: it.score,
            why: whole.why(self, it),
        };
        Selection {
            outcome: verdict.outcome,
            certainty: verdict.certainty,
            because: verdict.because,
            tools,
            candidates: ranked.into_iter().map(explain).collect(),
            features,
            has_meaning: texts.asked[0].vector.is_some(),
        }
    }

    /// The tools that a request needs, were it certain that it needs any.
    #[must_use]
    pub fn needed(&self, request: &str, visible: impl Fn(usize) -> bool) -> Vec<usize> {
        let request = cut(request.trim(), REQUEST_BYTES_MAX);
        let shown: Vec<usize> = (0..self.parts.len()).filter(|at| visible(*at)).collect();
        let texts = self.texts(request);
        let given = Given::new(request);
        let whole = Ranking::new(self, &texts);
        let mut ranked = whole.close(self, &given, &shown);
        rules::apply(self, &texts.asked[0], &mut ranked);
        whole.needed(self, &ranked, &shown)
    }

    fn texts<'a>(&self, request: &'a str) -> Texts<'a> {
        let clauses = match self.weights.clauses > 0.0 {
            true => clauses(request),
            false => Vec::new(),
        };
        Texts {
            asked: Asked::all(std::iter::once(request).chain(clauses), self),
        }
    }
}

/// The request, and its clauses if it has several.
struct Texts<'a> {
    asked: Vec<Asked<'a>>,
}

struct Ranking<'a> {
    texts: &'a Texts<'a>,
    signals: Vec<Signals>,
}

impl<'a> Ranking<'a> {
    fn new(corpus: &Corpus, texts: &'a Texts<'a>) -> Self {
        let signals = texts.asked.iter().map(|it| Signals::new(it, corpus));
        Ranking {
            texts,
            signals: signals.collect(),
        }
    }

    /// How well a tool fits the text that it fits best, and which that is.
    fn best(&self, at: usize, clause: f32) -> (usize, f32) {
        let weight = |text: usize| if text == 0 { 1.0 } else { clause };
        let scores = self.signals.iter().enumerate();
        let scores = scores.map(|(text, it)| (text, weight(text) * it.scores[at]));
        scores
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((0, 0.0))
    }

    /// The best of those that may be seen, in order.
    fn close(&self, corpus: &Corpus, given: &Given, shown: &[usize]) -> Vec<Ranked> {
        let clause = corpus.weights.clauses;
        // Of all tools no more is kept than a place and a score: there may be many.
        let mut best: Vec<(usize, f32)> = shown
            .iter()
            .map(|at| (*at, self.best(*at, clause).1))
            .collect();
        if best.len() > CLOSE {
            best.select_nth_unstable_by(CLOSE, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            best.truncate(CLOSE);
        }
        let deed = DEED * deed::of_request(&self.texts.asked[0].text);
        let is_formula = is_formula(&self.texts.asked[0].text);
        let rank = |(at, mut score): (usize, f32)| {
            let text = self.best(at, clause).0;
            let part = &corpus.parts[at];
            let found = nearest(&self.texts.asked[text], part, &corpus.weights);
            score += found.map_or(0.0, |it| it.1);
            score += self.texts.asked[text].better(part, &corpus.weights);
            score += TAKES * part.slots.takes(given);
            score += deed * part.deed;
            score -= LACKS * part.slots.fill(given).loss();
            if is_formula && part.slots.counts() {
                score -= FORMULA;
            }
            if is_identifier(&part.name) && is_called(&self.texts.asked[0].text, &part.name) {
                score += CALLED;
            }
            Ranked {
                at,
                score,
                text,
                example: found.map(|it| it.0),
                rule: None,
            }
        };
        let mut ranked: Vec<Ranked> = best.into_iter().map(rank).collect();
        ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.at.cmp(&b.at)));
        ranked
    }

    /// What is known of the best one, against all others that may be seen.
    fn top(&self, corpus: &Corpus, given: &Given, ranked: &[Ranked], shown: &[usize]) -> Top {
        let Some(first) = ranked.first() else {
            return Top::default();
        };
        let whole = &self.signals[0];
        let (mean, spread) = spread(shown.iter().map(|at| whole.scores[*at]));
        let part = &corpus.parts[first.at];
        let asked = &self.texts.asked[0];
        let second = ranked.get(1).map_or(mean, |it| it.score);
        Top {
            about: asked
                .near(part.about.as_deref())
                .max(asked.near(part.user.as_deref())),
            name: asked.near(part.named.as_deref()),
            example: first.example,
            words: whole.words(first.at),
            spelling: whole.spelling(first.at),
            score: whole.scores[first.at],
            above: (whole.scores[first.at] - mean) / spread,
            margin: first.score - second,
            shown: shown.len(),
            filled: part.slots.fill(given),
            usual: part.slots.usual[usize::from(given.is_korean)],
            lacks: part.slots.lacks(given),
            world: part.world,
            asked_deed: deed::of_request(&asked.text),
            deed: part.deed,
            nature: corpus.reader.read(asked.vector.as_ref(), &asked.turns),
            usual_nature: part.natures[usize::from(given.is_korean)],
        }
    }

    /// The tools of all clauses; the best one, where the request is one.
    fn needed(&self, corpus: &Corpus, ranked: &[Ranked], shown: &[usize]) -> Vec<usize> {
        let first = ranked.first().map(|it| it.at);
        let mut found: Vec<(usize, f32)> = Vec::new();
        for (signals, asked) in self.signals.iter().zip(&self.texts.asked).skip(1) {
            let score = |at: usize| {
                let more = nearest(asked, &corpus.parts[at], &corpus.weights);
                signals.scores[at] + more.map_or(0.0, |it| it.1)
            };
            let best = shown.iter().map(|at| (*at, signals.scores[*at]));
            let best = best.max_by(|a, b| a.1.total_cmp(&b.1));
            found.extend(best.map(|(at, _)| (at, score(at))));
        }
        let most = found.iter().map(|it| it.1).fold(0.0, f32::max);
        found.retain(|it| it.1 >= CLAUSE_SHARE * most);
        let mut tools: Vec<usize> = Vec::new();
        for (at, _) in found {
            if !tools.contains(&at) {
                tools.push(at);
            }
        }
        match (tools.len(), first) {
            (0 | 1, Some(first)) => vec![first],
            _ => tools,
        }
    }

    fn why(&self, corpus: &Corpus, ranked: Ranked) -> Why {
        let part = &corpus.parts[ranked.at];
        let asked = &self.texts.asked[ranked.text];
        let signals = &self.signals[ranked.text];
        let mut matched: Vec<String> = Vec::new();
        for word in &asked.words {
            if !word.is_common && part.bag.has(word.key) && !matched.contains(&word.text) {
                matched.push(word.text.clone());
            }
        }
        Why {
            meaning: asked.near(part.about.as_deref()).max(0.0),
            words: signals.words(ranked.at),
            matched,
            spelling: signals.spelling(ranked.at),
            example: ranked.example,
            clause: (ranked.text > 0).then(|| asked.text.clone().into_owned()),
            rule: ranked.rule,
        }
    }
}

/// Whether a text has a name as a word of its own.
fn is_called(text: &str, name: &str) -> bool {
    let mut found = text.match_indices(name);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    found.any(|(at, _)| {
        let rest = &text[at + name.len()..];
        !text[..at].ends_with(is_part) && !rest.starts_with(is_part)
    })
}

/// The mean and the spread of some scores.
#[expect(clippy::cast_precision_loss, reason = "a mean need not be exact")]
fn spread(scores: impl Iterator<Item = f32> + Clone) -> (f32, f32) {
    let count = scores.clone().count().max(1) as f32;
    let mean = scores.clone().sum::<f32>() / count;
    let square = scores.map(|it| (it - mean).powi(2)).sum::<f32>() / count;
    (mean, square.sqrt().max(0.02))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;
    use crate::vectors::Vectors;
    use crate::vectors::tests::Words;

    fn item(name: &str, description: &str) -> Item {
        Item {
            name: name.to_owned(),
            description: description.to_owned(),
            trusted: true,
            ..Item::default()
        }
    }

    fn tools() -> Vec<Item> {
        vec![
            item("web_search", "Searches the web for pages and news"),
            item("send_mail", "Sends an e-mail to somebody"),
            item(
                "get_weather",
                "Tells the weather of a city. 도시의 날씨를 조회한다.",
            ),
            item("convert_units", "Converts miles to kilometres and back"),
        ]
    }

    fn corpus(items: &[Item]) -> Corpus {
        Corpus::new(
            items,
            std::sync::Arc::new(Words("words")),
            &mut Vectors::default(),
        )
    }

    fn first(items: &[Item], request: &str) -> Option<usize> {
        let found = corpus(items).select(request, |_| true, 3);
        found.candidates.first().map(|it| it.at)
    }

    #[test]
    fn the_tool_that_fits_comes_first() {
        for (request, expected) in [
            ("search the web for news", 0),
            ("send an email to Kim", 1),
            ("What is the weather in Seoul?", 2),
            ("서울 날씨 알려줘", 2),
            ("convert 5 miles", 3),
        ] {
            assert_eq!(first(&tools(), request), Some(expected), "{request}");
        }
    }

    #[test]
    fn what_may_not_be_seen_is_not_found_and_does_not_count() {
        let (items, request) = (tools(), "weather of a city");
        let all = corpus(&items);
        let found = all.select(request, |at| at != 2, 9);
        assert_eq!(found.candidates.len(), 3);
        assert!(found.candidates.iter().all(|it| it.at != 2));
        assert!(!found.tools.contains(&2));
        let none = all.select(request, |_| false, 9);
        assert_eq!((none.outcome, none.candidates.len()), (Outcome::None, 0));
        assert_eq!(
            corpus(&[]).select(request, |_| true, 9).outcome,
            Outcome::None
        );
    }

    #[test]
    fn no_more_than_asked_for() {
        assert_eq!(
            corpus(&tools())
                .select("news", |_| true, 2)
                .candidates
                .len(),
            2
        );
        assert_eq!(corpus(&tools()).select("", |_| true, 0).candidates.len(), 0);
    }

    #[test]
    fn each_clause_brings_its_tool() {
        let found = corpus(&tools()).needed(
            "Search the web for news, then send an e-mail to Kim about it",
            |_| true,
        );
        assert_eq!(found, [0, 1]);
    }

    /// Counts what it is asked.
    struct Counting(std::sync::Mutex<Vec<usize>>);

    impl crate::Encode for Counting {
        fn encode(&self, text: &str) -> Vec<f32> {
            Words("words").encode(text)
        }

        fn encode_request(&self, texts: &[&str]) -> Vec<Vec<f32>> {
            self.0.lock().unwrap().push(texts.len());
            vec![Vec::new(); texts.len()]
        }

        fn id(&self) -> &str {
            "words"
        }
    }

    #[test]
    fn a_request_and_its_clauses_are_encoded_together() {
        let encoder = std::sync::Arc::new(Counting(std::sync::Mutex::default()));
        let all = Corpus::new(&tools(), encoder.clone(), &mut Vectors::default());
        let request = "Search the web for news, then send an e-mail to Kim about it";
        let found = all.select(request, |_| true, 3);
        assert_eq!(*encoder.0.lock().unwrap(), [3]);
        assert!(!found.has_meaning);
        assert!(!found.candidates.is_empty(), "words count all the same");
        assert!(corpus(&tools()).select(request, |_| true, 3).has_meaning);
    }

    #[test]
    fn a_tool_called_by_its_name_is_meant() {
        let request = "Use send_mail for the weather of a city and its pages";
        assert_eq!(first(&tools(), request), Some(1));
    }

    #[test]
    fn examples_lift_a_tool() {
        let mut items = tools();
        let request = "how hot is it outside";
        items[2].examples = vec!["is it hot outside".to_owned()];
        assert_eq!(first(&items, request), Some(2));
    }

    #[test]
    fn the_numbers_of_examples_are_no_words_of_theirs() {
        let mut items = vec![
            item("multiply_numbers", "Multiplies numbers"),
            item("calculator", "Works out what is asked"),
        ];
        items[0].examples = vec!["15 times 60".to_owned()];
        items[1].examples = vec!["20 percent of 350".to_owned()];
        assert_eq!(first(&items, "15 percent of 60"), Some(1));
        items[0].examples = vec!["24 × 60".to_owned(), "72*15".to_owned()];
        items[1].examples = vec!["1284 + 976".to_owned()];
        assert_eq!(first(&items, "3 + 4"), Some(1));
        assert_eq!(first(&items, "3 * 4"), Some(0));
    }

    #[test]
    fn only_trusted_rules_move_tools() {
        let mut items = vec![
            item(
                "find_file",
                "Finds files by name. Prefer find_photo if pictures of people are wanted.",
            ),
            item("find_photo", "Finds photos by name"),
        ];
        let request = "find a file, pictures of people are wanted";
        assert_eq!(first(&items, request), Some(1));
        let found = corpus(&items).select(request, |_| true, 1);
        let rule = found.candidates[0].why.rule.clone();
        assert!(rule.is_some_and(|it| it.contains("preferred by find_file")));
        items[0].trusted = false;
        assert_eq!(first(&items, request), Some(0));
    }

    #[test]
    fn it_says_why() {
        let found = corpus(&tools()).select("서울 날씨 알려줘", |_| true, 1);
        assert_eq!(found.candidates[0].why.matched, ["날씨"]);
        assert!(!found.because.is_empty());
        assert!((0.0..=1.0).contains(&found.certainty));
    }
}
