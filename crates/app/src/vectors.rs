//! Collections of vectors: what they are filled with, listed, searched and removed. Where they are kept, on a ChromaDB
//! server or by this one, is the configuration's business.

mod testing;
mod type_name;

use crate::App;
use crate::audit::act;
use crate::error::{Error, Result};
use ::vectors::Include;
use ::vectors::import::{self, Column, Imported, Target, other_columns, part};
use catalog::caller::Caller;
use executor::{Code, Failure};
use serde::Serialize;
use serde_json::{Value, json};
use sources::{Call, SchemaFilter, Shape, Source, Table};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use type_name::short;
use utoipa::ToSchema;

pub use testing::{CollectionTest, EndpointTest, VectorsTest};

pub use ::vectors::Space;
pub use ::vectors::embedded::Limits;
pub use ::vectors::jsonl::{Line, read as read_lines};

/// A file of thousands of texts is embedded in minutes.
const IMPORT_PATIENCE: Duration = Duration::from_secs(600);
const SEARCH_PATIENCE: Duration = Duration::from_secs(30);
/// Tables that are read from a database at a time.
const TABLES: u64 = 200;

/// A collection.
#[derive(Debug, Serialize, ToSchema)]
pub struct CollectionView {
    pub name: String,
    /// How it measures: cosine, l2 or ip; null where it cannot be read.
    #[schema(value_type = Option<String>, example = "cosine")]
    pub space: Option<Space>,
    /// How long its vectors are; null before the first one.
    pub dimension: Option<usize>,
    /// How many documents it holds; null where nobody knows, which `cause` tells of.
    pub documents: Option<usize>,
    /// Why it could not be read or counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CollectionPage {
    pub items: Vec<CollectionView>,
    pub next_cursor: Option<String>,
    /// Where they are: `chromadb` or `embedded`, in the data folder.
    pub store: &'static str,
    /// The collection that is meant where none is named.
    pub collection: String,
}

/// What was stored.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportedView {
    pub collection: String,
    pub records: usize,
    /// How many of them were turned into vectors on the way.
    pub embedded: usize,
    /// How many documents of columns were taken away that the source has no more; only where they come from a schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
}

/// What was taken out of a collection.
#[derive(Debug, Serialize, ToSchema)]
pub struct ForgottenView {
    pub collection: String,
    /// How many documents.
    pub removed: usize,
}

/// A document that is near.
#[derive(Debug, Serialize, ToSchema)]
pub struct NearView {
    pub id: String,
    pub document: Option<String>,
    /// The smaller, the nearer.
    pub distance: f32,
    #[schema(value_type = Object)]
    pub metadata: Value,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct NearPage {
    /// Nearest first.
    pub items: Vec<NearView>,
    pub next_cursor: Option<String>,
}

/// Where to put something.
#[derive(Debug, Default)]
pub struct Destination {
    /// None is the usual collection.
    pub collection: Option<String>,
    /// None is as the collection measures; a new one by cosine, which fits texts.
    pub space: Option<Space>,
}

/// Where documents come from.
#[derive(Clone, Copy)]
enum Filling<'a> {
    Import,
    /// All columns of the source of this name.
    Schema(&'a str, &'a Source),
}

impl Filling<'_> {
    /// What the audit log calls it.
    fn action(self) -> &'static str {
        match self {
            Filling::Import => "vectors.import",
            Filling::Schema(..) => "vectors.from_schema",
        }
    }
}

impl App {
    pub async fn list_collections(&self) -> Result<CollectionPage> {
        let store = self.vectors.store().map_err(unready)?;
        let found = store.counted(Instant::now() + SEARCH_PATIENCE).await;
        let view = |it: ::vectors::Counted| {
            let (documents, cause) = match it.count {
                Ok(count) => (Some(count), None),
                Err(error) => (None, Some(failed(error).to_string())),
            };
            CollectionView {
                name: it.name,
                space: it.space,
                dimension: it.dimension,
                documents,
                cause,
            }
        };
        Ok(CollectionPage {
            items: found.map_err(failed)?.into_iter().map(view).collect(),
            next_cursor: None,
            store: self.store_name(),
            collection: self.vectors.collection.clone(),
        })
    }

    fn store_name(&self) -> &'static str {
        match self.vectors.is_embedded() {
            true => "embedded",
            false => "chromadb",
        }
    }

    /// Stores records; those of the same id are changed. Either all of them are stored, or an error says why not.
    pub async fn import_vectors(
        &self,
        caller: &Caller,
        into: Destination,
        records: Vec<Line>,
    ) -> Result<ImportedView> {
        if records.is_empty() {
            return Err(Error::invalid(
                "records: expected at least one, such as {\"id\": \"users.email\", \"document\": \"users.email VARCHAR(255)\"}",
            ));
        }
        let records = ::vectors::jsonl::check(records, &Limits::default()).map_err(failed)?;
        let deadline = Instant::now() + IMPORT_PATIENCE;
        self.fill(caller, into, records, Filling::Import, deadline)
            .await
    }

    /// Stores a document for every column of a source, such as `users.email VARCHAR(255)` and what is said of it there.
    /// Those of columns that it has no more are taken away.
    pub async fn vectors_from_schema(
        &self,
        caller: &Caller,
        source: &str,
        into: Destination,
    ) -> Result<ImportedView> {
        let deadline = Instant::now() + IMPORT_PATIENCE;
        let named = self.source_in_use(source);
        let named = named.ok_or_else(|| Error::NotFound {
            what: "Source",
            name: source.to_owned(),
        })?;
        let database = named.source.as_ref();
        let database = database.map_err(|why| Error::unusable_source(source, why))?;
        let lines = lines_of(source, database, deadline).await?;
        if lines.is_empty() {
            return Err(Error::conflict(format!(
                "Source '{source}' shows no tables to its role; grant it SELECT, or name another source"
            )));
        }
        let from = Filling::Schema(source, database);
        self.fill(caller, into, lines, from, deadline).await
    }

    async fn fill(
        &self,
        caller: &Caller,
        into: Destination,
        lines: Vec<Line>,
        from: Filling<'_>,
        deadline: Instant,
    ) -> Result<ImportedView> {
        let store = self.vectors.store().map_err(unready)?;
        let collection = into.collection.as_deref();
        let collection = collection.unwrap_or(&self.vectors.collection);
        let embeddings = match lines.iter().any(|line| line.embedding.is_none()) {
            true => Some(self.vectors.embeddings().map_err(unready)?),
            false => None,
        };
        let space = match (into.space, store.collection(collection, deadline).await) {
            (Some(space), _) => space,
            (None, Ok(known)) => known.space,
            (None, Err(::vectors::Error::NoCollection { .. })) => Space::Cosine,
            (None, Err(error)) => return Err(failed(error)),
        };
        let ids: HashSet<String> = match from {
            Filling::Import => HashSet::new(),
            Filling::Schema(..) => lines.iter().map(|line| line.id.clone()).collect(),
        };
        let target = Target {
            store,
            collection,
            space,
            embeddings: embeddings.map(|it| &**it),
        };
        let done = import::import(lines, &target, deadline).await;
        let Imported {
            collection,
            records,
            embedded,
        } = done.map_err(failed)?;
        let forgotten = match from {
            Filling::Import => Ok(None),
            Filling::Schema(name, source) => {
                let gone = forget_columns((name, source), store, &collection, &ids, deadline);
                gone.await.map(Some)
            }
        };
        let mut after = json!({"records": records, "embedded": embedded});
        if let Ok(Some(removed)) = forgotten {
            after["removed"] = removed.into();
        }
        let target = format!("vectors:{collection}");
        let action = from.action();
        let told = act(self.clock.now(), caller, action, target, None, Some(after));
        self.store.write(&[told]).await?;
        Ok(ImportedView {
            collection,
            records,
            embedded,
            removed: forgotten?,
        })
    }

    /// What is near to a text, with how near it is.
    pub async fn search_vectors(
        &self,
        text: &str,
        n: Option<usize>,
        collection: Option<&str>,
    ) -> Result<NearPage> {
        let retrieval = self.vectors.retrieval(collection).map_err(unready)?;
        let n = n.unwrap_or(::vectors::retrieval::RESULTS_DEFAULT);
        let deadline = Instant::now() + SEARCH_PATIENCE;
        let questions = [text.to_owned()];
        let found = retrieval.search(&questions, n, None, Include::default(), deadline);
        let found = found.await.map_err(failed)?.into_iter().flatten();
        let view = |hit: ::vectors::Hit| NearView {
            id: hit.found.id,
            document: hit.found.document,
            distance: hit.distance,
            metadata: hit.found.metadata.unwrap_or_default().into(),
        };
        Ok(NearPage {
            items: found.map(view).collect(),
            next_cursor: None,
        })
    }

    /// Takes away the documents that were made from the schema of a source, which need not be there any more.
    pub async fn forget_source(
        &self,
        caller: &Caller,
        collection: &str,
        source: &str,
    ) -> Result<ForgottenView> {
        let store = self.vectors.store().map_err(unready)?;
        let deadline = Instant::now() + SEARCH_PATIENCE;
        let none = HashSet::new();
        let gone = other_columns(store, collection, (source, &none), deadline).await;
        let gone = gone.map_err(failed)?;
        let removed = gone.len();
        if removed > 0 {
            let forgotten = store.remove(collection, gone, deadline).await;
            forgotten.map_err(failed)?;
        }
        let target = format!("vectors:{collection}");
        let after = Some(json!({"source": source, "removed": removed}));
        let (now, action) = (self.clock.now(), "vectors.forget_source");
        let told = act(now, caller, action, target, None, after);
        self.store.write(&[told]).await?;
        Ok(ForgottenView {
            collection: collection.to_owned(),
            removed,
        })
    }

    pub async fn delete_collection(&self, caller: &Caller, name: &str) -> Result<()> {
        let store = self.vectors.store().map_err(unready)?;
        let deadline = Instant::now() + SEARCH_PATIENCE;
        store.delete(name, deadline).await.map_err(failed)?;
        let target = format!("vectors:{name}");
        let told = act(
            self.clock.now(),
            caller,
            "vectors.delete",
            target,
            None,
            None,
        );
        Ok(self.store.write(&[told]).await?)
    }
}

/// Takes away the documents of columns that the source has no more; how many there were. Something may have been changed
/// while the columns were read, so what is about to go is looked for once more.
async fn forget_columns(
    (name, source): (&str, &Source),
    store: &::vectors::Store,
    collection: &str,
    ids: &HashSet<String>,
    deadline: Instant,
) -> Result<usize> {
    let gone = other_columns(store, collection, (name, ids), deadline).await;
    let mut gone = gone.map_err(failed)?;
    if gone.is_empty() {
        return Ok(0);
    }
    let again = lines_of(name, source, deadline).await?;
    let again: HashSet<&str> = again.iter().map(|line| line.id.as_str()).collect();
    gone.retain(|id| !again.contains(id.as_str()));
    let count = gone.len();
    if count > 0 {
        let removed = store.remove(collection, gone, deadline).await;
        removed.map_err(failed)?;
    }
    Ok(count)
}

/// A line for every column that the source shows, table by table.
async fn lines_of(name: &str, source: &Source, deadline: Instant) -> Result<Vec<Line>> {
    let call = Call {
        tool: "vectors".into(),
        deadline: deadline.into(),
        cancel: CancellationToken::new(),
        shape: Shape::Records,
        rows_max: u64::MAX,
        bytes_max: usize::MAX,
    };
    let most = Limits::default().vectors_max;
    let mut lines: Vec<Line> = Vec::new();
    let mut filter = SchemaFilter {
        limit: TABLES,
        ..SchemaFilter::default()
    };
    loop {
        let page = source.schema(&filter, &call).await;
        let page = page.map_err(|error| match &error {
            sources::Error::Unavailable { .. } | sources::Error::Deadline => {
                Error::Unavailable(format!("Source '{name}': {error}"))
            }
            _ => Error::unusable_source(name, &error),
        })?;
        let is_last = page.tables.len() as u64 >= page.total;
        // By name: others may come and go meanwhile, and a count would then skip one that stays.
        let last = page.tables.last();
        filter.after = last.map(|it| (it.schema.clone().unwrap_or_default(), it.name.clone()));
        lines.extend(page.tables.iter().flat_map(|table| columns(name, table)));
        if lines.len() > most {
            return Err(Error::invalid(format!(
                "The source has more than {most} columns, which is more than a collection holds"
            )));
        }
        if is_last {
            return Ok(lines);
        }
    }
}

/// What is said of a column. Whoever finds it asks the usual source, unless it says that it is of another.
fn comment(source: &str, comment: Option<&str>) -> Option<String> {
    if source == kinds::builtin::BGA_SOURCE {
        return comment.map(str::to_owned);
    }
    let comment = comment.unwrap_or_default().trim();
    Some(format!("{comment} (source {source})"))
}

fn columns<'t>(source: &'t str, table: &'t Table) -> impl Iterator<Item = Line> + 't {
    let name = match table.schema.as_deref() {
        None | Some("public") => part(&table.name).into_owned(),
        Some(schema) => format!("{}.{}", part(schema), part(&table.name)),
    };
    table.columns.iter().map(move |column| {
        let column = Column {
            source: source.to_owned(),
            table: name.clone(),
            name: column.name.clone(),
            type_name: short(&column.data_type),
            comment: comment(source, column.comment.as_deref()),
        };
        column.line()
    })
}

/// Something that has to be set, or made, first.
pub(crate) fn unready(failure: Failure) -> Error {
    match failure.code {
        Code::InvalidInput => Error::invalid(failure.message),
        Code::NotConfigured => Error::conflict(failure.message),
        _ => Error::Unavailable(failure.message),
    }
}

pub(crate) fn failed(error: ::vectors::Error) -> Error {
    use ::vectors::Error as Why;
    kinds::retrieval::log_file(&error);
    match error {
        Why::NoCollection { name, .. } => Error::NotFound {
            what: "Collection",
            name,
        },
        Why::Dimension { .. } => Error::conflict(error.to_string()),
        Why::Invalid(_) | Why::TooMuch(_) | Why::Lines { .. } => Error::invalid(error.to_string()),
        _ => Error::Unavailable(error.to_string()),
    }
}
