//! A collection in memory: records side by side, in the order in which they were first stored. It is never changed;
//! storing makes another one, so that a search that is under way sees all of a change or nothing of it.

use super::Limits;
use super::distance::{Rows, distances, inverse_length};
use super::nearest::{Near, nearest};
use crate::Result;
use crate::error::Error;
use crate::record::{Found, Get, Hit, Include, Metadata, Query, Record, Space};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

#[derive(Debug, Clone, Default)]
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) space: Space,
    /// 0 before the first record.
    pub(crate) dimension: usize,
    /// All vectors, one after another.
    pub(crate) numbers: Vec<f32>,
    pub(crate) texts: Vec<Text>,
    /// For the cosine only.
    inverses: Vec<f32>,
    positions: HashMap<String, usize>,
}

/// What a record is beside its vector.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) id: String,
    pub(crate) document: Option<String>,
    pub(crate) metadata: Metadata,
}

impl Loaded {
    pub(crate) fn new(name: &str, space: Space) -> Self {
        Loaded {
            name: name.to_owned(),
            space,
            ..Loaded::default()
        }
    }

    /// One that was read from a file. The caller has seen to it that there are as many texts as vectors.
    pub(crate) fn of(
        name: &str,
        space: Space,
        dimension: usize,
        numbers: Vec<f32>,
        texts: Vec<Text>,
    ) -> Self {
        let positions = texts.iter().enumerate();
        let positions = positions.map(|(position, text)| (text.id.clone(), position));
        let mut loaded = Loaded {
            positions: positions.collect(),
            name: name.to_owned(),
            space,
            dimension,
            numbers,
            texts,
            inverses: Vec::new(),
        };
        loaded.measure_all();
        loaded
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The collection with these records added, or put in the place of those of the same name. As in ChromaDB, what
    /// is not said of a record stays: its document, and metadata of other names.
    pub(crate) fn with(&self, records: Vec<Record>, limits: &Limits) -> Result<Self> {
        let mut next = self.clone();
        for record in records {
            record.check()?;
            next.put(record, limits)?;
        }
        next.measure_all();
        Ok(next)
    }

    /// The collection without these records; the others keep their order.
    pub(crate) fn without(&self, ids: &[String]) -> Self {
        let gone: HashSet<&str> = ids.iter().map(String::as_str).collect();
        let rows = Rows {
            numbers: &self.numbers,
            dimension: self.dimension,
        };
        let mut numbers = Vec::with_capacity(self.numbers.len());
        let mut texts = Vec::with_capacity(self.texts.len());
        for (position, text) in self.texts.iter().enumerate() {
            if !gone.contains(text.id.as_str()) {
                numbers.extend_from_slice(rows.row(position));
                texts.push(text.clone());
            }
        }
        Loaded::of(&self.name, self.space, self.dimension, numbers, texts)
    }

    fn put(&mut self, record: Record, limits: &Limits) -> Result<()> {
        let found = record.embedding.len();
        if self.dimension == 0 {
            if found > limits.dimensions_max {
                return Err(Error::TooMuch(format!(
                    "The vector of '{}' has {found} dimensions; a collection of ours holds vectors of at most {}",
                    record.id, limits.dimensions_max
                )));
            }
            self.dimension = found;
        }
        if found != self.dimension {
            return Err(Error::Dimension {
                what: format!("The vector of '{}'", record.id),
                collection: self.name.clone(),
                expected: self.dimension,
                found,
            });
        }
        let Some(position) = self.positions.get(&record.id).copied() else {
            if self.len() >= limits.vectors_max {
                return Err(Error::TooMuch(format!(
                    "The collection '{}' would hold more than {} vectors; use a ChromaDB server for so many, or import less",
                    self.name, limits.vectors_max
                )));
            }
            self.positions.insert(record.id.clone(), self.len());
            self.numbers.extend_from_slice(&record.embedding);
            let mut text = Text {
                id: record.id,
                document: record.document,
                metadata: Metadata::new(),
            };
            text.tell(record.metadata);
            self.texts.push(text);
            return Ok(());
        };
        let start = position * self.dimension;
        self.numbers[start..start + self.dimension].copy_from_slice(&record.embedding);
        let text = &mut self.texts[position];
        text.document = record.document.or(text.document.take());
        text.tell(record.metadata);
        Ok(())
    }

    /// A search takes as long as it takes, but after the deadline no further one is begun.
    pub(crate) fn query(&self, query: &Query, deadline: Instant) -> Result<Vec<Vec<Hit>>> {
        query.check()?;
        if self.texts.is_empty() {
            return Ok(vec![Vec::new(); query.embeddings.len()]);
        }
        for (index, embedding) in query.embeddings.iter().enumerate() {
            if embedding.len() != self.dimension {
                return Err(Error::Dimension {
                    what: format!("The vector of search {}", index + 1),
                    collection: self.name.clone(),
                    expected: self.dimension,
                    found: embedding.len(),
                });
            }
        }
        // Asked once for all the vectors; without a filter all positions are as good as a list of them.
        let allowed: Option<Vec<usize>> = query.filter.as_ref().map(|filter| {
            let matches = |position: &usize| filter.matches(&self.texts[*position].metadata);
            (0..self.len()).filter(matches).collect()
        });
        let search = |embedding: &Vec<f32>| {
            if Instant::now() > deadline {
                return Err(Error::Deadline("The search"));
            }
            let near = match &allowed {
                Some(allowed) => self.near(embedding, allowed.iter().copied(), query.n_results),
                None => self.near(embedding, 0..self.len(), query.n_results),
            };
            let hits = near.into_iter().map(|near| Hit {
                distance: near.distance,
                found: self.found(near.position, query.include),
            });
            Ok(hits.collect())
        };
        query.embeddings.iter().map(search).collect()
    }

    fn near(
        &self,
        from: &[f32],
        positions: impl Iterator<Item = usize> + Clone,
        count: usize,
    ) -> Vec<Near> {
        let rows = Rows {
            numbers: &self.numbers,
            dimension: self.dimension,
        };
        let distances = distances(self.space, from, &rows, &self.inverses, positions.clone());
        let candidates = positions.zip(distances);
        let candidates = candidates.map(|(position, distance)| Near { distance, position });
        nearest(candidates, count)
    }

    pub(crate) fn get(&self, get: &Get) -> Vec<Found> {
        let mut positions: Vec<usize> = match &get.ids {
            Some(ids) => ids
                .iter()
                .filter_map(|id| self.positions.get(id).copied())
                .collect(),
            None => (0..self.len()).collect(),
        };
        positions.sort_unstable();
        positions.dedup();
        let matches = |position: &usize| {
            let metadata = &self.texts[*position].metadata;
            get.filter
                .as_ref()
                .is_none_or(|filter| filter.matches(metadata))
        };
        positions
            .into_iter()
            .filter(matches)
            .skip(get.offset)
            .take(get.limit.unwrap_or(usize::MAX))
            .map(|position| self.found(position, get.include))
            .collect()
    }

    fn found(&self, position: usize, include: Include) -> Found {
        let text = &self.texts[position];
        let rows = Rows {
            numbers: &self.numbers,
            dimension: self.dimension,
        };
        Found {
            id: text.id.clone(),
            document: text.document.clone().filter(|_| include.documents),
            metadata: include.metadatas.then(|| text.metadata.clone()),
            embedding: include.embeddings.then(|| rows.row(position).to_vec()),
        }
    }

    fn measure_all(&mut self) {
        if self.space == Space::Cosine && self.dimension > 0 {
            let rows = self.numbers.chunks_exact(self.dimension);
            self.inverses = rows.map(inverse_length).collect();
        }
    }
}

impl Text {
    fn tell(&mut self, metadata: Metadata) {
        for (key, value) in metadata {
            match value {
                Value::Null => self.metadata.shift_remove(&key),
                value => self.metadata.insert(key, value),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use serde_json::json;
    use std::time::Duration;

    fn record(id: &str, embedding: &[f32], document: &str, metadata: &Value) -> Record {
        Record {
            id: id.to_owned(),
            embedding: embedding.to_vec(),
            document: Some(document.to_owned()),
            metadata: metadata.as_object().unwrap().clone(),
        }
    }

    fn three() -> Loaded {
        let records = vec![
            record("a", &[1.0, 0.0], "first", &json!({"n": 1})),
            record("b", &[0.0, 1.0], "second", &json!({"n": 2})),
            record("c", &[1.0, 0.0], "third", &json!({"n": 3})),
        ];
        Loaded::new("abc", Space::L2)
            .with(records, &Limits::default())
            .unwrap()
    }

    fn asked(query: &Query) -> Result<Vec<Vec<Hit>>> {
        three().query(query, Instant::now() + Duration::from_secs(60))
    }

    fn ids(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.found.id.as_str()).collect()
    }

    #[test]
    fn the_nearest_come_first_and_only_what_was_asked_for() {
        let mut query = Query::new(vec![vec![1.0, 0.0], vec![0.0, 1.0]], 2);
        let late = three().query(&query, Instant::now() - Duration::from_secs(1));
        assert!(matches!(late, Err(Error::Deadline(_))));
        let found = asked(&query).unwrap();
        assert_eq!(ids(&found[0]), ["a", "c"]);
        assert_eq!(ids(&found[1]), ["b", "a"]);
        assert_eq!(found[1][1].distance, 2.0);
        assert_eq!(found[0][0].found.document.as_deref(), Some("first"));
        query.filter = Some(Filter::read(json!({"n": {"$gt": 1}})).unwrap());
        query.include = Include {
            documents: false,
            metadatas: false,
            embeddings: true,
        };
        let found = asked(&query).unwrap();
        assert_eq!(ids(&found[0]), ["c", "b"]);
        assert_eq!(found[0][0].found.document, None);
        assert_eq!(found[0][0].found.metadata, None);
        assert_eq!(
            found[0][0].found.embedding.as_deref(),
            Some(&[1.0, 0.0][..])
        );
    }

    #[test]
    fn a_record_of_a_known_name_takes_its_place() {
        let change = vec![
            Record {
                document: None,
                ..record("a", &[5.0, 5.0], "", &json!({"n": null, "m": 7}))
            },
            record("d", &[0.5, 0.5], "fourth", &json!({})),
        ];
        let next = three().with(change, &Limits::default()).unwrap();
        let all = next.get(&Get {
            include: Include {
                embeddings: true,
                ..Include::default()
            },
            ..Get::default()
        });
        assert_eq!(all.len(), 4);
        assert_eq!(all[0].document.as_deref(), Some("first"));
        assert_eq!(
            Value::Object(all[0].metadata.clone().unwrap()),
            json!({"m": 7})
        );
        assert_eq!(all[0].embedding.as_deref(), Some(&[5.0, 5.0][..]));
        let some = Get {
            ids: Some(vec!["d".into(), "x".into(), "b".into(), "d".into()]),
            ..Get::default()
        };
        let some: Vec<String> = next.get(&some).into_iter().map(|found| found.id).collect();
        assert_eq!(some, ["b", "d"]);
        let page = Get {
            offset: 1,
            limit: Some(2),
            ..Get::default()
        };
        let page: Vec<String> = next.get(&page).into_iter().map(|found| found.id).collect();
        assert_eq!(page, ["b", "c"]);
    }

    #[test]
    fn what_is_taken_away_is_gone_and_the_rest_is_as_before() {
        let gone = ["a".to_owned(), "nobody".to_owned()];
        let next = three().without(&gone);
        let all = next.get(&Get::default());
        let left: Vec<&str> = all.iter().map(|found| found.id.as_str()).collect();
        assert_eq!(left, ["b", "c"]);
        let near = Query::new(vec![vec![0.0, 1.0]], 1);
        let found = next.query(&near, Instant::now() + Duration::from_secs(60));
        assert_eq!(ids(&found.unwrap()[0]), ["b"]);
        let again = next.with(
            vec![record("a", &[0.0, 1.0], "again", &json!({}))],
            &Limits::default(),
        );
        assert_eq!(again.unwrap().len(), 3);
        let all = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(three().without(&all).len(), 0);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        let wrong = three().with(
            vec![record("x", &[1.0], "", &json!({}))],
            &Limits::default(),
        );
        let text = wrong.unwrap_err().to_string();
        assert!(
            text.contains("'x' has 1 dimensions") && text.contains("vectors of 2"),
            "{text}"
        );
        let wrong = asked(&Query::new(vec![vec![1.0; 3]], 1));
        let text = wrong.unwrap_err().to_string();
        assert!(
            text.contains("search 1 has 3") && text.contains("'abc' holds vectors of 2"),
            "{text}"
        );
        let limits = Limits {
            vectors_max: 3,
            dimensions_max: 1,
            ..Limits::default()
        };
        let many = three().with(vec![record("x", &[1.0, 2.0], "", &json!({}))], &limits);
        assert!(
            many.unwrap_err()
                .to_string()
                .contains("more than 3 vectors")
        );
        let long = Loaded::new("abc", Space::Ip)
            .with(vec![record("x", &[1.0, 2.0], "", &json!({}))], &limits);
        assert!(long.unwrap_err().to_string().contains("at most 1"));
    }
}
