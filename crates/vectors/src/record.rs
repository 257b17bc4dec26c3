//! What is stored, what is asked for and what is found, in the words of ChromaDB.

use crate::Result;
use crate::error::Error;
use crate::filter::Filter;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// Names and values that a search can be narrowed by. Values are strings, numbers and booleans.
pub type Metadata = Map<String, Value>;

/// One text with its vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub id: String,
    pub embedding: Vec<f32>,
    pub document: Option<String>,
    /// In an `upsert` these are added to what is there, and a null takes away.
    pub metadata: Metadata,
}

/// How near is near. The distances are ChromaDB's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// The square of the Euclidean distance; what ChromaDB takes where nothing is said.
    #[default]
    L2,
    /// 1 minus the cosine of the angle.
    Cosine,
    /// 1 minus the inner product.
    Ip,
}

/// A search for the nearest records to each of some vectors.
#[derive(Debug, Clone)]
pub struct Query {
    pub embeddings: Vec<Vec<f32>>,
    /// For each vector.
    pub n_results: usize,
    pub filter: Option<Filter>,
    pub include: Include,
}

/// Records by their names, or all of them, in the order in which they were first stored.
#[derive(Debug, Clone, Default)]
pub struct Get {
    pub ids: Option<Vec<String>>,
    pub filter: Option<Filter>,
    pub offset: usize,
    pub limit: Option<usize>,
    pub include: Include,
}

/// What is wanted of a record beside its id (and, in a search, its distance).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Include {
    pub documents: bool,
    pub metadatas: bool,
    pub embeddings: bool,
}

/// A record that was found. What was not asked for is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Vec<f32>>,
}

/// A record that a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    pub distance: f32,
    #[serde(flatten)]
    pub found: Found,
}

/// A collection, told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Collection {
    pub name: String,
    pub space: Space,
    /// None before the first record.
    pub dimension: Option<usize>,
}

/// A collection in the list of all. One that cannot be asked keeps no other out of it.
#[derive(Debug, Clone)]
pub struct Counted {
    pub name: String,
    /// None where it cannot be read.
    pub space: Option<Space>,
    /// None before the first record, and where it cannot be read.
    pub dimension: Option<usize>,
    /// How many records it holds, or why nobody knows.
    pub count: Result<usize>,
}

/// Vectors in one search, and results for each of them: what a call can ask for at once.
pub const QUERIES_MAX: usize = 1_000;
pub const RESULTS_MAX: usize = 10_000;
pub(crate) const ID_BYTES_MAX: usize = 1_024;

impl Default for Include {
    fn default() -> Self {
        Include {
            documents: true,
            metadatas: true,
            embeddings: false,
        }
    }
}

impl Query {
    pub fn new(embeddings: Vec<Vec<f32>>, n_results: usize) -> Self {
        Query {
            embeddings,
            n_results,
            filter: None,
            include: Include::default(),
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        if !(1..=RESULTS_MAX).contains(&self.n_results) {
            return Err(Error::Invalid(format!(
                "n_results is {}; it must be from 1 to {RESULTS_MAX}",
                self.n_results
            )));
        }
        if self.embeddings.len() > QUERIES_MAX {
            return Err(Error::TooMuch(format!(
                "{} searches at once are too many; {QUERIES_MAX} are allowed, so ask in parts",
                self.embeddings.len()
            )));
        }
        let unusable = |embedding: &Vec<f32>| embedding.is_empty() || !is_finite(embedding);
        match self.embeddings.iter().position(unusable) {
            Some(index) => Err(Error::Invalid(format!(
                "The vector of search {} is empty or holds what is no number",
                index + 1
            ))),
            None => Ok(()),
        }
    }
}

impl Record {
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |what: &str| {
            let id = self.id.chars().take(100).collect::<String>();
            Err(Error::Invalid(format!("The record '{id}' {what}")))
        };
        if self.id.is_empty() {
            return Err(Error::Invalid(
                "A record has an empty id; every record needs one of its own".to_owned(),
            ));
        }
        if self.id.len() > ID_BYTES_MAX {
            return bad(&format!("has an id of more than {ID_BYTES_MAX} bytes"));
        }
        if self.embedding.is_empty() {
            return bad("has an empty vector");
        }
        if !is_finite(&self.embedding) {
            return bad("has a vector with a number that is infinite or none at all");
        }
        match unusable_metadata(&self.metadata) {
            Some(what) => bad(&what),
            None => Ok(()),
        }
    }
}

/// What is wrong with metadata, if anything.
pub(crate) fn unusable_metadata(metadata: &Metadata) -> Option<String> {
    let wrong = metadata.iter().find_map(|(key, value)| match value {
        Value::Array(_) => Some((key, "a list")),
        Value::Object(_) => Some((key, "an object")),
        _ => None,
    });
    if let Some((key, found)) = wrong {
        return Some(format!(
            "has {found} as its metadata '{key}'; a string, a number or a boolean is expected"
        ));
    }
    let reserved = |key: &&String| key.is_empty() || key.starts_with("chroma:");
    metadata.keys().find(reserved).map(|key| {
        format!("has metadata of the name '{key}', which is empty or reserved; take another name")
    })
}

pub(crate) fn is_finite(vector: &[f32]) -> bool {
    vector.iter().all(|number| number.is_finite())
}

/// Refuses what is no name of a collection. The rule is ChromaDB's, so that a name is good in both stores; and because
/// such a name holds no slash and begins with no dot, it is also the name of a file.
pub(crate) fn check_name(name: &str) -> Result<()> {
    const MAX: usize = 200;
    let letter = |c: char| c.is_ascii_alphanumeric();
    let is_good = (3..=MAX).contains(&name.len())
        && name.chars().all(|c| letter(c) || "._-".contains(c))
        && name.starts_with(letter)
        && name.ends_with(letter);
    match is_good {
        true => Ok(()),
        false => Err(Error::Invalid(format!(
            "'{}' is no name of a collection; a name has 3 to {MAX} of a-z, A-Z, 0-9, '.', '_' and '-', and begins and ends with a letter or digit",
            name.chars().take(100).collect::<String>()
        ))),
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::L2 => "l2",
            Space::Cosine => "cosine",
            Space::Ip => "ip",
        })
    }
}

impl std::str::FromStr for Space {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "l2" => Ok(Space::L2),
            "cosine" => Ok(Space::Cosine),
            "ip" => Ok(Space::Ip),
            _ => Err(Error::Invalid(format!(
                "'{text}' is no distance; l2, cosine and ip are"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_that_could_be_paths_are_refused() {
        for name in ["abc", "column_metadata", "a.b-c", "A00", &"x".repeat(200)] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "ab",
            "../x",
            "a/b",
            ".abc",
            "abc.",
            "a b c",
            "칼럼들",
            "abc\0",
            &"x".repeat(201),
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn records_that_cannot_be_kept_are_refused_with_the_reason() {
        let record = |id: &str, embedding: &[f32], metadata: Value| Record {
            id: id.to_owned(),
            embedding: embedding.to_vec(),
            document: None,
            metadata: metadata.as_object().unwrap().clone(),
        };
        let refused = |record: Record| record.check().unwrap_err().to_string();
        assert!(
            record("a", &[1.0], json!({"x": null, "y": 1.5}))
                .check()
                .is_ok()
        );
        assert!(refused(record("", &[1.0], json!({}))).contains("empty id"));
        assert!(refused(record("a", &[], json!({}))).contains("'a' has an empty vector"));
        assert!(refused(record("a", &[f32::NAN], json!({}))).contains("infinite"));
        assert!(
            refused(record("a", &[1.0], json!({"tags": [1]})))
                .contains("a list as its metadata 'tags'")
        );
        assert!(refused(record("a", &[1.0], json!({"chroma:x": 1}))).contains("reserved"));
    }
}
