//! How often the right tool is chosen: requests of which that is known, what was chosen for them, and the sums.

mod given;
mod rows;

pub use given::Given;
pub use rows::{Fault, Pool, Row, read_rows};

use selection::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// So many requests are shown for each mistake.
const SHOWN: usize = 3;

/// What was chosen for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub outcome: Outcome,
    /// What would be called.
    pub tools: Vec<String>,
    /// The candidate that fits best, called or not.
    pub best: Option<String>,
}

impl Chosen {
    pub(crate) fn told(&self) -> String {
        match self.outcome {
            Outcome::Call => self.tools.join(" + "),
            other => other.to_string(),
        }
    }
}

impl Row {
    /// Whether what was chosen is right: the outcome and, where something is to be called, the tool that comes first. A
    /// row that only says which tool is right says nothing of the outcome.
    pub fn is_right(&self, chosen: &Chosen) -> bool {
        let is_tool = |tool: Option<&String>| tool.is_some_and(|it| self.gold.contains(it));
        match self.outcome {
            None => is_tool(chosen.best.as_ref()),
            Some(Outcome::Call) => chosen.outcome == Outcome::Call && is_tool(chosen.tools.first()),
            Some(other) => chosen.outcome == other,
        }
    }

    fn is_exact(&self, chosen: &Chosen) -> bool {
        let sorted = |mut names: Vec<String>| {
            names.sort_unstable();
            names
        };
        chosen.outcome == Outcome::Call && sorted(chosen.tools.clone()) == sorted(self.gold.clone())
    }

    pub(crate) fn wanted(&self) -> String {
        match self.outcome {
            None | Some(Outcome::Call) => self.gold.join(" + "),
            Some(other) => other.to_string(),
        }
    }

    fn kind(&self) -> &'static str {
        match self.outcome {
            None | Some(Outcome::Call) => "call",
            Some(Outcome::None) => "none",
            Some(Outcome::Ask) => "ask",
        }
    }
}

/// How many of some rows are right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, ToSchema)]
pub struct Share {
    pub n: usize,
    pub right: usize,
    /// From 0 to 1.
    pub accuracy: f64,
}

impl Share {
    #[expect(clippy::cast_precision_loss, reason = "nobody has that many rows")]
    fn add(&mut self, is_right: bool) {
        self.n += 1;
        self.right += usize::from(is_right);
        self.accuracy = self.right as f64 / self.n as f64;
    }
}

/// What was chosen instead of something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Confusion {
    /// A tool, or none, or ask.
    pub expected: String,
    pub chosen: String,
    pub n: usize,
    /// Some of the requests.
    pub queries: Vec<String>,
}

/// How often the right thing was chosen.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct Report {
    pub n: usize,
    /// From 0 to 1: the outcome and, for a call, the tool that comes first.
    pub accuracy: f64,
    #[schema(value_type = Object)]
    pub by_outcome: BTreeMap<&'static str, Share>,
    #[schema(value_type = Object)]
    pub by_language: BTreeMap<String, Share>,
    /// The mean over outcomes of how often only the outcome was right.
    pub balanced: f64,
    /// How often the best candidate is a right tool, whatever the outcome, where one is to be called.
    pub top1: Share,
    /// How often exactly the tools were chosen that requests for several need.
    pub several: Share,
    /// The same of all requests for which something is to be called: not only its first tool is right.
    pub exact: Share,
    /// The most frequent first.
    pub confusions: Vec<Confusion>,
}

impl Report {
    pub fn new<'a>(judged: impl Iterator<Item = (&'a Row, &'a Chosen)>) -> Self {
        let mut report = Report::default();
        let mut all = Share::default();
        let mut outcomes: BTreeMap<&'static str, Share> = BTreeMap::new();
        let mut confused: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
        for (row, chosen) in judged {
            let is_right = row.is_right(chosen);
            all.add(is_right);
            report
                .by_outcome
                .entry(row.kind())
                .or_default()
                .add(is_right);
            let language = report.by_language.entry(row.language.clone());
            language.or_default().add(is_right);
            if let Some(outcome) = row.outcome {
                let only = outcomes.entry(row.kind()).or_default();
                only.add(chosen.outcome == outcome);
            }
            if row.kind() == "call" {
                let best = chosen.best.as_ref();
                report
                    .top1
                    .add(best.is_some_and(|it| row.gold.contains(it)));
            }
            if row.outcome == Some(Outcome::Call) {
                let is_exact = row.is_exact(chosen);
                report.exact.add(is_exact);
                if row.gold.len() > 1 {
                    report.several.add(is_exact);
                }
            }
            if !is_right {
                let told = match row.outcome {
                    None => chosen.best.clone().unwrap_or_else(|| "none".to_owned()),
                    Some(_) => chosen.told(),
                };
                let pair = confused.entry((row.wanted(), told)).or_default();
                pair.push(&row.query);
            }
        }
        (report.n, report.accuracy) = (all.n, all.accuracy);
        report.balanced = mean(outcomes.values().map(|it| it.accuracy));
        report.confusions = confusions(confused);
        report
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are three outcomes")]
fn mean(shares: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = shares.len().max(1) as f64;
    shares.sum::<f64>() / count
}

fn confusions(confused: BTreeMap<(String, String), Vec<&str>>) -> Vec<Confusion> {
    let confusion = |((expected, chosen), queries): ((String, String), Vec<&str>)| Confusion {
        expected,
        chosen,
        n: queries.len(),
        queries: queries.into_iter().take(SHOWN).map(str::to_owned).collect(),
    };
    let mut all: Vec<Confusion> = confused.into_iter().map(confusion).collect();
    all.sort_by(|a, b| b.n.cmp(&a.n).then(a.expected.cmp(&b.expected)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(query: &str, outcome: Option<Outcome>, gold: &[&str]) -> Row {
        Row {
            query: query.to_owned(),
            outcome,
            gold: gold.iter().map(|it| (*it).to_owned()).collect(),
            about: None,
            language: "en".to_owned(),
            pool: Pool::All,
        }
    }

    fn chosen(outcome: Outcome, tools: &[&str], best: &str) -> Chosen {
        Chosen {
            outcome,
            tools: tools.iter().map(|it| (*it).to_owned()).collect(),
            best: Some(best.to_owned()),
        }
    }

    #[test]
    fn a_call_is_right_by_its_outcome_and_its_first_tool() {
        let asked = row("q", Some(Outcome::Call), &["a", "b"]);
        assert!(asked.is_right(&chosen(Outcome::Call, &["b"], "b")));
        assert!(!asked.is_right(&chosen(Outcome::Call, &["c", "a"], "c")));
        assert!(!asked.is_right(&chosen(Outcome::Ask, &["request_human_input"], "a")));
        let only_tool = row("q", None, &["a"]);
        assert!(only_tool.is_right(&chosen(Outcome::None, &[], "a")));
        assert!(!only_tool.is_right(&chosen(Outcome::Call, &["b"], "b")));
        let none = row("q", Some(Outcome::None), &[]);
        assert!(none.is_right(&chosen(Outcome::None, &[], "a")));
        assert!(!none.is_right(&chosen(Outcome::Call, &["a"], "a")));
    }

    #[test]
    fn sums_are_by_outcome_and_language_and_mistakes_are_gathered() {
        let rows = [
            row("one", Some(Outcome::Call), &["a"]),
            row("two", Some(Outcome::Call), &["a"]),
            row("three", Some(Outcome::None), &[]),
            row("four", Some(Outcome::Call), &["a", "b"]),
            row("five", Some(Outcome::Call), &["a", "b"]),
        ];
        let answers = [
            chosen(Outcome::Call, &["a"], "a"),
            chosen(Outcome::Call, &["b"], "b"),
            chosen(Outcome::Call, &["b"], "b"),
            chosen(Outcome::Call, &["b", "a"], "b"),
            chosen(Outcome::Call, &["a"], "a"),
        ];
        let report = Report::new(rows.iter().zip(&answers));
        assert_eq!((report.n, report.accuracy), (5, 0.6));
        let call = report.by_outcome["call"];
        assert_eq!((call.n, call.right), (4, 3));
        assert_eq!(report.by_language["en"].n, 5);
        assert_eq!(report.balanced, 0.5);
        assert_eq!((report.top1.n, report.top1.right), (4, 3));
        assert_eq!((report.several.n, report.several.right), (2, 1));
        assert_eq!((report.exact.n, report.exact.right), (4, 2));
        let told: Vec<(&str, &str)> = report
            .confusions
            .iter()
            .map(|it| (&*it.expected, &*it.chosen))
            .collect();
        assert_eq!(told, [("a", "b"), ("none", "b")]);
        assert_eq!(report.confusions[0].queries, ["two"]);
    }
}
