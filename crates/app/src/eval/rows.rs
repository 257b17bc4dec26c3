//! Requests of which it is known what is right for them: one JSON object a line.

use super::given;
use selection::{Item, Outcome};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A request and what is right for it.
#[derive(Debug, Clone)]
pub struct Row {
    /// With the turns of the user that came before it, if any did.
    pub query: String,
    /// None where only the right tool is said.
    pub outcome: Option<Outcome>,
    pub gold: Vec<String>,
    /// Of a request that says too little, the tool that it is about.
    pub about: Option<String>,
    /// en or ko, unless the row says another.
    pub language: String,
    pub pool: Pool,
}

/// What is chosen from.
#[derive(Debug, Clone)]
pub enum Pool {
    /// Every tool of the workspace.
    All,
    /// Some of its tools, by name.
    Named(Vec<String>),
    /// Tools that come with the row.
    Given(Arc<Vec<Item>>),
}

impl Row {
    /// All tools of the workspace that it speaks of.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let among = match &self.pool {
            Pool::Named(names) => names.as_slice(),
            Pool::All | Pool::Given(_) => &[],
        };
        let all = self.gold.iter().chain(&self.about).chain(among);
        all.map(String::as_str)
    }
}

/// What is wrong with a file of rows.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1 on.
    pub line: usize,
    pub why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// All rows of a text; `folder` is where the files are that rows name. All faults at once.
pub fn read_rows(text: &str, folder: &Path) -> Result<Vec<Row>, Vec<Fault>> {
    let mut pools = Pools {
        folder,
        known: HashMap::new(),
    };
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match row(line, &mut pools) {
            Ok(row) => rows.push(row),
            Err(why) => faults.push(Fault {
                line: number + 1,
                why,
            }),
        }
    }
    if rows.is_empty() && faults.is_empty() {
        faults.push(Fault {
            line: 1,
            why: "there are no rows; one looks like {\"query\": \"What is 2 + 2?\", \"outcome\": \"call\", \"gold\": [\"calculator\"]}".to_owned(),
        });
    }
    match faults.is_empty() {
        true => Ok(rows),
        false => Err(faults),
    }
}

fn row(line: &str, pools: &mut Pools<'_>) -> Result<Row, String> {
    let row: Value = serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"))?;
    let own = row["query"].as_str().filter(|it| !it.trim().is_empty());
    let own = own.ok_or("query: expected a text")?;
    // Every second turn is the user's.
    let before = texts(&row, "history")?;
    let mut turns: Vec<&str> = before.iter().step_by(2).map(String::as_str).collect();
    turns.push(own);
    let query = turns.join("\n");
    let gold = texts(&row, "gold")?;
    let outcome = match (row["outcome"].as_str(), gold.is_empty()) {
        (Some("call"), false) => Some(Outcome::Call),
        (Some("call"), true) => {
            return Err("gold: expected the names of the tools to call".to_owned());
        }
        (Some("none"), _) => Some(Outcome::None),
        (Some("ask" | "human"), _) => Some(Outcome::Ask),
        (None, true) if row["outcome"].is_null() => Some(Outcome::None),
        (None, false) if row["outcome"].is_null() => None,
        (other, _) => {
            let got = other.map_or_else(|| row["outcome"].to_string(), |it| format!("'{it}'"));
            return Err(format!("outcome: expected call, none or ask, got {got}"));
        }
    };
    let language = row["lang"].as_str().map(str::to_owned);
    Ok(Row {
        language: language.unwrap_or_else(|| language_of(own).to_owned()),
        query,
        outcome,
        gold,
        about: row["about"].as_str().map(str::to_owned),
        pool: pools.of(&row)?,
    })
}

fn texts(row: &Value, name: &str) -> Result<Vec<String>, String> {
    let all = match &row[name] {
        Value::Null => return Ok(Vec::new()),
        Value::Array(all) => all.iter(),
        _ => return Err(format!("{name}: expected a list of texts")),
    };
    let text = |it: &Value| it.as_str().map(str::to_owned);
    let all: Option<Vec<String>> = all.map(text).collect();
    all.ok_or_else(|| format!("{name}: expected a list of texts"))
}

fn language_of(text: &str) -> &'static str {
    let is_hangul = |c: char| matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}');
    match text.chars().any(is_hangul) {
        true => "ko",
        false => "en",
    }
}

/// Files of tools are read once.
struct Pools<'a> {
    folder: &'a Path,
    known: HashMap<String, Arc<Vec<Item>>>,
}

impl Pools<'_> {
    fn of(&mut self, row: &Value) -> Result<Pool, String> {
        if let Some(file) = row["tools_ref"].as_str() {
            if let Some(known) = self.known.get(file) {
                return Ok(Pool::Given(Arc::clone(known)));
            }
            let text = std::fs::read_to_string(self.folder.join(file));
            let text = text.map_err(|error| format!("tools_ref: {file}: {error}"))?;
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let tools = lines.map(|line| {
                let tool = serde_json::from_str(line).map_err(|error| error.to_string());
                tool.and_then(|tool| given::item(&tool))
            });
            let tools: Result<Vec<Item>, String> = tools.collect();
            let tools = tools.map_err(|why| format!("tools_ref: {file}: {why}"))?;
            let tools = Arc::new(tools);
            self.known.insert(file.to_owned(), Arc::clone(&tools));
            return Ok(Pool::Given(tools));
        }
        match &row["tools"] {
            Value::Null => Ok(Pool::All),
            Value::Array(all) if !all.is_empty() && all.iter().all(Value::is_string) => {
                Ok(Pool::Named(texts(row, "tools")?))
            }
            Value::Array(all) => {
                let tools: Result<Vec<Item>, String> = all.iter().map(given::item).collect();
                Ok(Pool::Given(Arc::new(
                    tools.map_err(|why| format!("tools: {why}"))?,
                )))
            }
            _ => Err("tools: expected a list of names or of tools".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Row>, Vec<String>> {
        let rows = read_rows(text, Path::new("."));
        rows.map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_row_says_what_is_right() {
        let text = r#"{"query": "2+2?", "outcome": "call", "gold": ["calculator"]}

{"query": "안녕", "outcome": "human", "gold": []}
{"query": "hi", "gold": [], "lang": "fr", "tools": ["a", "b"]}
{"query": "to Busan", "history": ["a taxi", "where to?"], "gold": ["taxi"], "tools": [{"name": "taxi", "description": "Calls one"}]}"#;
        let rows = read(text).unwrap();
        let told: Vec<(Option<Outcome>, &str)> =
            rows.iter().map(|it| (it.outcome, &*it.language)).collect();
        assert_eq!(
            told,
            [
                (Some(Outcome::Call), "en"),
                (Some(Outcome::Ask), "ko"),
                (Some(Outcome::None), "fr"),
                (None, "en")
            ]
        );
        assert!(matches!(&rows[2].pool, Pool::Named(names) if names == &["a", "b"]));
        assert!(matches!(&rows[3].pool, Pool::Given(tools) if tools.len() == 1));
        assert_eq!(rows[3].query, "a taxi\nto Busan");
    }

    #[test]
    fn every_fault_is_told_with_its_line() {
        let text = "{\"query\": \"\"}\nnonsense\n{\"query\": \"x\", \"outcome\": \"perhaps\", \"gold\": []}\n{\"query\": \"x\", \"gold\": \"a\"}\n{\"query\": \"x\", \"outcome\": \"call\"}\n{\"query\": \"x\", \"gold\": [], \"tools_ref\": \"none.jsonl\"}";
        let faults = read(text).unwrap_err();
        let starts = [
            "line 1: query: expected a text",
            "line 2: not JSON",
            "line 3: outcome: expected call, none or ask, got 'perhaps'",
            "line 4: gold: expected a list of texts",
            "line 5: gold: expected the names",
            "line 6: tools_ref: none.jsonl: ",
        ];
        assert_eq!(faults.len(), starts.len(), "{faults:?}");
        for (fault, start) in faults.iter().zip(starts) {
            assert!(fault.starts_with(start), "{fault}");
        }
        assert!(read("\n").unwrap_err()[0].contains("there are no rows"));
    }
}
