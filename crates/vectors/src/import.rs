//! Filling a collection: lines of a file, or the columns of a database. What comes without a vector is embedded.

use crate::Result;
use crate::embeddings::{Embeddings, TEXTS_MAX};
use crate::error::Error;
use crate::filter::Filter;
use crate::jsonl::Line;
use crate::record::{Get, Include, Record, Space};
use crate::store::Store;
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Instant;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Imported {
    pub collection: String,
    pub records: usize,
    /// How many of them had to be embedded.
    pub embedded: usize,
}

/// Where to.
pub struct Target<'a> {
    pub store: &'a Store,
    pub collection: &'a str,
    /// How a collection that is not there yet shall measure.
    pub space: Space,
    /// None where no endpoint is configured: then every line must bring its vector.
    pub embeddings: Option<&'a Embeddings>,
}

/// Imports all lines. Nothing is stored before every line has a vector, and all are equally long.
pub async fn import(lines: Vec<Line>, into: &Target<'_>, deadline: Instant) -> Result<Imported> {
    let (records, embedded) = records(lines, into.embeddings, deadline).await?;
    if let Some(first) = records.first() {
        let expected = first.embedding.len();
        let other = records.iter().find(|it| it.embedding.len() != expected);
        if let Some(other) = other {
            return Err(Error::Dimension {
                what: format!("The vector of '{}'", other.id),
                collection: into.collection.to_owned(),
                expected,
                found: other.embedding.len(),
            });
        }
    }
    let imported = Imported {
        collection: into.collection.to_owned(),
        records: records.len(),
        embedded,
    };
    let (store, name) = (into.store, into.collection);
    store.create(name, into.space, deadline).await?;
    store.upsert(name, records, deadline).await?;
    Ok(imported)
}

async fn records(
    lines: Vec<Line>,
    embeddings: Option<&Embeddings>,
    deadline: Instant,
) -> Result<(Vec<Record>, usize)> {
    let bare = |line: &&Line| line.embedding.is_none();
    let texts: Vec<String> = lines
        .iter()
        .filter(bare)
        .map(|line| line.document.clone())
        .collect();
    let mut vectors = Vec::with_capacity(texts.len());
    if let Some(first) = lines.iter().find(bare) {
        let embeddings = embeddings.ok_or_else(|| {
            Error::Invalid(format!(
                "The record '{}' has no embedding, and no embeddings endpoint is configured; set TEXT_EMBEDDING_MODEL_URL and TEXT_EMBEDDING_MODEL_NAME, or give each record its own",
                first.id
            ))
        })?;
        for texts in texts.chunks(TEXTS_MAX) {
            vectors.extend(embeddings.embed(texts, deadline).await?);
        }
    }
    let mut made = vectors.into_iter().map(|made| made.vector);
    let record = |line: Line| Record {
        id: line.id,
        // There is one for each line that has none, in the same order.
        embedding: line.embedding.or_else(|| made.next()).unwrap_or_default(),
        document: Some(line.document),
        metadata: line.metadata.unwrap_or_default(),
    };
    Ok((lines.into_iter().map(record).collect(), texts.len()))
}

/// The documents of columns of a source that are none of these. A document is one of those where it says so and is named
/// so, and not what else is in the collection.
pub async fn other_columns(
    store: &Store,
    collection: &str,
    (source, ids): (&str, &HashSet<String>),
    deadline: Instant,
) -> Result<Vec<String>> {
    let prefix = format!("{source}:");
    let mut others = Vec::new();
    let mut get = Get {
        filter: Some(Filter::read(json!({"source": source}))?),
        limit: Some(PAGE),
        include: Include {
            documents: false,
            metadatas: false,
            embeddings: false,
        },
        ..Get::default()
    };
    loop {
        let found = store.get(collection, get.clone(), deadline).await?;
        get.offset += found.len();
        let is_last = found.len() < PAGE;
        let found = found.into_iter().map(|found| found.id);
        others.extend(found.filter(|id| id.starts_with(&prefix) && !ids.contains(id)));
        if is_last {
            return Ok(others);
        }
    }
}

/// Documents that are looked at with one request.
const PAGE: usize = 1_000;

/// A column of a database, as a search for columns should find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Where it was found: two sources may have tables of one name.
    pub source: String,
    /// As `part` writes it, with its schema before it where that is not the usual one.
    pub table: String,
    pub name: String,
    /// As the database writes it, such as VARCHAR(255).
    pub type_name: String,
    pub comment: Option<String>,
}

/// A schema or a table as a part of a longer name: in quotes where it could be taken for two parts, so that no two columns
/// of a source have one name.
pub fn part(name: &str) -> Cow<'_, str> {
    match name.contains(['.', '"']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")).into(),
        false => name.into(),
    }
}

impl Column {
    /// `users.email VARCHAR(255) 사용자 이메일 주소`.
    pub fn line(&self) -> Line {
        let name = format!("{}.{}", self.table, part(&self.name));
        let comment = self.comment.as_deref().map(str::trim).unwrap_or_default();
        let document = format!("{name} {} {comment}", self.type_name);
        let metadata = json!({
            "source": self.source, "table": self.table, "column": self.name, "type": self.type_name
        });
        Line {
            document: document.trim_end().to_owned(),
            embedding: None,
            metadata: metadata.as_object().cloned(),
            id: format!("{}:{name}", self.source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_written_as_the_agents_know_it() {
        let mut column = Column {
            source: "bga".to_owned(),
            table: "users".to_owned(),
            name: "email".to_owned(),
            type_name: "VARCHAR(255)".to_owned(),
            comment: Some(" 사용자 이메일 주소\n".to_owned()),
        };
        let line = column.line();
        assert_eq!(line.id, "bga:users.email");
        assert_eq!(line.document, "users.email VARCHAR(255) 사용자 이메일 주소");
        let metadata = line.metadata.unwrap();
        assert_eq!(
            (&metadata["source"], &metadata["table"]),
            (&json!("bga"), &json!("users"))
        );
        column.comment = None;
        assert_eq!(column.line().document, "users.email VARCHAR(255)");
        column.name = "e.mail \"x\"".to_owned();
        assert_eq!(column.line().id, "bga:users.\"e.mail \"\"x\"\"\"");
        assert_eq!(part("s.t"), "\"s.t\"");
    }
}
