//! The one seam: a ChromaDB server or the store of our own, which are asked the same and answer the same.

use crate::Result;
use crate::chroma::Chroma;
use crate::embedded::Embedded;
use crate::record::{Collection, Counted, Found, Get, Hit, Query, Record, Space};
use std::time::Instant;

/// Where vectors are kept.
pub enum Store {
    Chroma(Box<Chroma>),
    Embedded(Embedded),
}

impl From<Chroma> for Store {
    fn from(chroma: Chroma) -> Self {
        Store::Chroma(Box::new(chroma))
    }
}

impl From<Embedded> for Store {
    fn from(embedded: Embedded) -> Self {
        Store::Embedded(embedded)
    }
}

impl Store {
    /// Makes a collection, unless there is one of this name; that one must measure in the same way.
    pub async fn create(&self, name: &str, space: Space, deadline: Instant) -> Result<()> {
        match self {
            Store::Chroma(store) => store.create(name, space, deadline).await,
            Store::Embedded(store) => store.create(name, space, deadline).await,
        }
    }

    pub async fn delete(&self, name: &str, deadline: Instant) -> Result<()> {
        match self {
            Store::Chroma(store) => store.delete(name, deadline).await,
            Store::Embedded(store) => store.delete(name, deadline).await,
        }
    }

    pub async fn collections(&self, deadline: Instant) -> Result<Vec<Collection>> {
        match self {
            Store::Chroma(store) => store.collections(deadline).await,
            Store::Embedded(store) => store.collections(deadline).await,
        }
    }

    /// The same, each with how many records it holds.
    pub async fn counted(&self, deadline: Instant) -> Result<Vec<Counted>> {
        match self {
            Store::Chroma(store) => store.counted(deadline).await,
            Store::Embedded(store) => store.counted(deadline).await,
        }
    }

    /// A collection, or the error that names those that exist.
    pub async fn collection(&self, name: &str, deadline: Instant) -> Result<Collection> {
        match self {
            Store::Chroma(store) => store.collection(name, deadline).await,
            Store::Embedded(store) => store.collection(name, deadline).await,
        }
    }

    /// Adds records, or changes those of the same name: what is not said of a record stays.
    pub async fn upsert(&self, name: &str, records: Vec<Record>, deadline: Instant) -> Result<()> {
        match self {
            Store::Chroma(store) => store.upsert(name, &records, deadline).await,
            Store::Embedded(store) => store.upsert(name, records, deadline).await,
        }
    }

    /// Takes these records away; those that are not there are no error.
    pub async fn remove(&self, name: &str, ids: Vec<String>, deadline: Instant) -> Result<()> {
        match self {
            Store::Chroma(store) => store.remove(name, &ids, deadline).await,
            Store::Embedded(store) => store.remove(name, ids, deadline).await,
        }
    }

    /// The nearest records to each vector, nearest first; of two that are equally far the older one first. (Where only
    /// one of the two can be among the results, ChromaDB keeps any.)
    pub async fn query(
        &self,
        name: &str,
        query: Query,
        deadline: Instant,
    ) -> Result<Vec<Vec<Hit>>> {
        match self {
            Store::Chroma(store) => store.query(name, &query, deadline).await,
            Store::Embedded(store) => store.query(name, query, deadline).await,
        }
    }

    pub async fn get(&self, name: &str, get: Get, deadline: Instant) -> Result<Vec<Found>> {
        match self {
            Store::Chroma(store) => store.get(name, &get, deadline).await,
            Store::Embedded(store) => store.get(name, get, deadline).await,
        }
    }

    pub async fn count(&self, name: &str, deadline: Instant) -> Result<usize> {
        match self {
            Store::Chroma(store) => store.count(name, deadline).await,
            Store::Embedded(store) => store.count(name, deadline).await,
        }
    }
}
