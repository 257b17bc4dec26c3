//! What is sent to a ChromaDB server and what comes back, as they stand on the wire.

use crate::filter::Filter;
use crate::record::{self, Found, Get, Hit, Include, Metadata, Query, Record, Space};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize)]
pub(super) struct Create<'a> {
    name: &'a str,
    get_or_create: bool,
    configuration: Value,
}

impl<'a> Create<'a> {
    pub(super) fn new(name: &'a str, space: Space) -> Self {
        Create {
            name,
            get_or_create: true,
            configuration: json!({"hnsw": {"space": space}}),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Collection {
    pub(super) id: String,
    name: String,
    pub(super) dimension: Option<usize>,
    #[serde(default)]
    configuration_json: Value,
    #[serde(default)]
    metadata: Value,
}

impl Collection {
    /// Where it stands depends on the index and, for old collections, on the metadata.
    pub(super) fn space(&self) -> Space {
        let configured = ["/hnsw/space", "/spann/space"]
            .iter()
            .find_map(|place| self.configuration_json.pointer(place));
        let said = configured.or_else(|| self.metadata.get("hnsw:space"));
        said.and_then(Value::as_str)
            .and_then(|text| text.parse().ok())
            .unwrap_or_default()
    }

    pub(super) fn told(self) -> record::Collection {
        record::Collection {
            space: self.space(),
            name: self.name,
            dimension: self.dimension,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Upsert<'a> {
    ids: Vec<&'a str>,
    embeddings: Vec<&'a [f32]>,
    documents: Vec<Option<&'a str>>,
    /// Null where there is none: an empty object is refused.
    metadatas: Vec<Option<&'a Metadata>>,
}

impl<'a> Upsert<'a> {
    pub(super) fn new(records: &'a [Record]) -> Self {
        let metadata = |record: &'a Record| {
            let metadata = &record.metadata;
            (!metadata.is_empty()).then_some(metadata)
        };
        Upsert {
            ids: records.iter().map(|record| record.id.as_str()).collect(),
            embeddings: records.iter().map(|record| &record.embedding[..]).collect(),
            documents: records
                .iter()
                .map(|record| record.document.as_deref())
                .collect(),
            metadatas: records.iter().map(metadata).collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Remove<'a> {
    pub(super) ids: &'a [String],
}

#[derive(Serialize)]
pub(super) struct Ask<'a> {
    query_embeddings: &'a [Vec<f32>],
    n_results: usize,
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    filter: Option<&'a Filter>,
    include: Vec<&'static str>,
}

impl<'a> Ask<'a> {
    pub(super) fn new(query: &'a Query) -> Self {
        let mut include = words(query.include);
        include.push("distances");
        Ask {
            query_embeddings: &query.embeddings,
            n_results: query.n_results,
            filter: query.filter.as_ref(),
            include,
        }
    }
}

/// What a search found: a list for each vector in each of the lists.
#[derive(Deserialize)]
pub(super) struct Answered {
    ids: Vec<Vec<String>>,
    #[serde(default)]
    distances: Lists<f32>,
    #[serde(default)]
    documents: Lists<String>,
    #[serde(default)]
    metadatas: Lists<Metadata>,
    #[serde(default)]
    embeddings: Lists<Vec<f32>>,
}

type Lists<T> = Option<Vec<Vec<Option<T>>>>;

impl Answered {
    pub(super) fn hits(self, include: Include) -> Vec<Vec<Hit>> {
        let mut distances = self.distances.unwrap_or_default().into_iter();
        let mut documents = self.documents.unwrap_or_default().into_iter();
        let mut metadatas = self.metadatas.unwrap_or_default().into_iter();
        let mut embeddings = self.embeddings.unwrap_or_default().into_iter();
        let one = |ids: Vec<String>| {
            let fetched = Fetched {
                ids,
                documents: documents.next(),
                metadatas: metadatas.next(),
                embeddings: embeddings.next(),
            };
            let mut distances = distances.next().unwrap_or_default().into_iter();
            let hit = |found| Hit {
                distance: distances.next().flatten().unwrap_or(f32::NAN),
                found,
            };
            fetched.found(include).into_iter().map(hit).collect()
        };
        self.ids.into_iter().map(one).collect()
    }
}

#[derive(Serialize)]
pub(super) struct Fetch<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<&'a [String]>,
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    filter: Option<&'a Filter>,
    offset: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    include: Vec<&'static str>,
}

impl<'a> Fetch<'a> {
    pub(super) fn new(get: &'a Get) -> Self {
        Fetch {
            ids: get.ids.as_deref(),
            filter: get.filter.as_ref(),
            offset: get.offset,
            limit: get.limit,
            include: words(get.include),
        }
    }
}

/// Records, each told in the same place of several lists.
#[derive(Deserialize)]
pub(super) struct Fetched {
    ids: Vec<String>,
    #[serde(default)]
    documents: Option<Vec<Option<String>>>,
    #[serde(default)]
    metadatas: Option<Vec<Option<Metadata>>>,
    #[serde(default)]
    embeddings: Option<Vec<Option<Vec<f32>>>>,
}

impl Fetched {
    pub(super) fn found(self, include: Include) -> Vec<Found> {
        let mut documents = self.documents.unwrap_or_default().into_iter();
        let mut metadatas = self.metadatas.unwrap_or_default().into_iter();
        let mut embeddings = self.embeddings.unwrap_or_default().into_iter();
        let one = |id| {
            let metadata = metadatas.next().flatten();
            Found {
                id,
                document: documents.next().flatten(),
                metadata: include.metadatas.then(|| metadata.unwrap_or_default()),
                embedding: embeddings.next().flatten(),
            }
        };
        self.ids.into_iter().map(one).collect()
    }
}

fn words(include: Include) -> Vec<&'static str> {
    let all = [
        (include.documents, "documents"),
        (include.metadatas, "metadatas"),
        (include.embeddings, "embeddings"),
    ];
    let wanted = all.into_iter().filter(|(is_wanted, _)| *is_wanted);
    wanted.map(|(_, word)| word).collect()
}
