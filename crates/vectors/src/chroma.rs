//! The client of a ChromaDB server: its HTTP API v2, a collection by its name. The operator has chosen the server, so
//! it may be on a private address; it is asked with `fetch` like everything else.

mod address;
mod wire;

use crate::Result;
use crate::error::{Error, Peer};
use crate::peer::{self, ANSWER_BYTES_MAX, left};
use crate::record::{Collection, Counted, Found, Get, Hit, Query, Record, Space, check_name};
use fetch::{
    Answer, Body, Bytes, Fetcher, HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode,
    Trust, Url, header,
};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Where the server is. The names are those of its own client.
#[derive(Clone)]
pub struct Settings {
    /// A name or an address; with a scheme before it, such as `https://`, where it is not plain HTTP.
    pub host: String,
    pub port: u16,
    pub tenant: String,
    pub database: String,
    /// Sent both as a bearer token and as ChromaDB's own header, since its servers look in either.
    pub token: Option<String>,
}

pub struct Chroma {
    fetcher: Fetcher,
    /// Where the collections are.
    base: Url,
    place: String,
    token: Option<String>,
    headers: HeaderMap,
    known: Mutex<HashMap<String, Known>>,
}

/// What is remembered of a collection, until the server does not know its id any more.
#[derive(Debug, Clone)]
struct Known {
    id: String,
    dimension: Option<usize>,
    space: Space,
    /// Whether this was not asked for just now.
    is_remembered: bool,
}

/// Collections that are remembered. Whoever asks for more asks the server a little more often.
const KNOWN_MAX: usize = 1_000;
/// What is stored with one request: few enough records for the server's database, and few enough numbers for the
/// length of a body that it takes.
const RECORDS_MAX: usize = 1_000;
const NUMBERS_MAX: usize = 1_000_000;

impl Default for Settings {
    fn default() -> Self {
        Settings {
            host: "localhost".to_owned(),
            port: 8000,
            tenant: "default_tenant".to_owned(),
            database: "default_database".to_owned(),
            token: None,
        }
    }
}

impl Chroma {
    pub fn new(fetcher: Fetcher, settings: &Settings) -> Result<Self> {
        let base = address::collections(settings)?;
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if let Some(token) = &settings.token {
            let bearer = peer::bearer(token, "token for ChromaDB")?;
            let mut bare = HeaderValue::try_from(token).unwrap_or_else(|_| bearer.clone());
            bare.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, bearer);
            headers.insert(HeaderName::from_static("x-chroma-token"), bare);
        }
        Ok(Chroma {
            fetcher,
            place: peer::place(&base),
            base,
            token: settings.token.clone(),
            headers,
            known: Mutex::default(),
        })
    }

    /// Makes a collection, unless there is one of this name; that one must measure in the same way.
    pub async fn create(&self, name: &str, space: Space, deadline: Instant) -> Result<()> {
        check_name(name)?;
        let body = self.written(&wire::Create::new(name, space))?;
        let answer = self.ask(Method::POST, &[], body, deadline).await?;
        let made: wire::Collection = self.read(&answer)?;
        match made.space() == space {
            true => Ok(()),
            false => Err(Error::Invalid(format!(
                "The collection '{name}' is there and measures by {}, not by {space}; take another name, or delete it first",
                made.space()
            ))),
        }
    }

    pub async fn delete(&self, name: &str, deadline: Instant) -> Result<()> {
        check_name(name)?;
        self.forget(name);
        let answer = self
            .ask(Method::DELETE, &[name], Bytes::new(), deadline)
            .await?;
        match answer.status {
            StatusCode::NOT_FOUND => Err(self.missing(name, &answer, deadline).await),
            _ => self.accepted(&answer),
        }
    }

    pub async fn collections(&self, deadline: Instant) -> Result<Vec<Collection>> {
        let answer = self.ask(Method::GET, &[], Bytes::new(), deadline).await?;
        let found: Vec<wire::Collection> = self.read(&answer)?;
        Ok(found.into_iter().map(wire::Collection::told).collect())
    }

    /// Each with how many records it holds, which takes a request for each.
    pub async fn counted(&self, deadline: Instant) -> Result<Vec<Counted>> {
        let answer = self.ask(Method::GET, &[], Bytes::new(), deadline).await?;
        let found: Vec<wire::Collection> = self.read(&answer)?;
        let mut counted = Vec::with_capacity(found.len());
        for collection in found {
            let path = [collection.id.as_str(), "count"];
            let answer = self.ask(Method::GET, &path, Bytes::new(), deadline).await;
            let is_gone = |answer: &Answer| answer.status == StatusCode::NOT_FOUND;
            // Somebody has deleted it since.
            if answer.as_ref().is_ok_and(is_gone) {
                continue;
            }
            let count = answer.and_then(|answer| self.read(&answer));
            let Collection {
                name,
                space,
                dimension,
            } = collection.told();
            counted.push(Counted {
                name,
                space: Some(space),
                dimension,
                count,
            });
        }
        Ok(counted)
    }

    pub async fn collection(&self, name: &str, deadline: Instant) -> Result<Collection> {
        let known = self.resolve(name, deadline).await?;
        Ok(Collection {
            name: name.to_owned(),
            space: known.space,
            dimension: known.dimension,
        })
    }

    /// Stores records in as many requests as it takes: where one is refused, those before it are stored.
    pub async fn upsert(&self, name: &str, records: &[Record], deadline: Instant) -> Result<()> {
        let Some(first) = records.first() else {
            return Ok(());
        };
        let dimension = first.embedding.len();
        let expected = self.expected(name, dimension, deadline).await?;
        for record in records {
            record.check()?;
            let what = || format!("The vector of '{}'", record.id);
            fits(name, expected, record.embedding.len(), what)?;
        }
        let batch = (NUMBERS_MAX / dimension.max(1)).clamp(1, RECORDS_MAX);
        for batch in records.chunks(batch) {
            let body = self.written(&wire::Upsert::new(batch))?;
            let answer = self.on(name, Method::POST, "upsert", body, deadline);
            self.accepted(&answer.await?)?;
        }
        Ok(())
    }

    /// Takes records away in as many requests as it takes.
    pub async fn remove(&self, name: &str, ids: &[String], deadline: Instant) -> Result<()> {
        for ids in ids.chunks(RECORDS_MAX) {
            let body = self.written(&wire::Remove { ids })?;
            let answer = self.on(name, Method::POST, "delete", body, deadline);
            self.accepted(&answer.await?)?;
        }
        Ok(())
    }

    pub async fn query(
        &self,
        name: &str,
        query: &Query,
        deadline: Instant,
    ) -> Result<Vec<Vec<Hit>>> {
        query.check()?;
        let Some(first) = query.embeddings.first() else {
            return Ok(Vec::new());
        };
        let expected = self.expected(name, first.len(), deadline).await?;
        for (index, embedding) in query.embeddings.iter().enumerate() {
            let what = || format!("The vector of search {}", index + 1);
            fits(name, expected, embedding.len(), what)?;
        }
        let body = self.written(&wire::Ask::new(query))?;
        let answer = self.on(name, Method::POST, "query", body, deadline).await?;
        let found: wire::Answered = self.read(&answer)?;
        let hits = found.hits(query.include);
        match hits.len() == query.embeddings.len() {
            true => Ok(hits),
            false => Err(self.unusable(format!(
                "results for {} searches where there were {}",
                hits.len(),
                query.embeddings.len()
            ))),
        }
    }

    pub async fn get(&self, name: &str, get: &Get, deadline: Instant) -> Result<Vec<Found>> {
        let body = self.written(&wire::Fetch::new(get))?;
        let answer = self.on(name, Method::POST, "get", body, deadline).await?;
        let found: wire::Fetched = self.read(&answer)?;
        Ok(found.found(get.include))
    }

    pub async fn count(&self, name: &str, deadline: Instant) -> Result<usize> {
        let answer = self.on(name, Method::GET, "count", Bytes::new(), deadline);
        self.read(&answer.await?)
    }

    /// How long the vectors of a collection are; before the first one, as long as those that are there now. What is
    /// remembered may be of a collection that has since been deleted and made again, so a no is asked for twice.
    async fn expected(&self, name: &str, found: usize, deadline: Instant) -> Result<usize> {
        let mut known = self.resolve(name, deadline).await?;
        if known.is_remembered && known.dimension != Some(found) {
            self.forget(name);
            known = self.resolve(name, deadline).await?;
        }
        Ok(known.dimension.unwrap_or(found))
    }

    /// Asks something of a collection; where its id is not known any more, of the one that has its name now.
    async fn on(
        &self,
        name: &str,
        method: Method,
        what: &str,
        body: Bytes,
        deadline: Instant,
    ) -> Result<Answer> {
        let known = self.resolve(name, deadline).await?;
        let answer = self
            .ask(method.clone(), &[&known.id, what], body.clone(), deadline)
            .await?;
        if answer.status != StatusCode::NOT_FOUND {
            return Ok(answer);
        }
        self.forget(name);
        let known = self.resolve(name, deadline).await?;
        self.ask(method, &[&known.id, what], body, deadline).await
    }

    async fn resolve(&self, name: &str, deadline: Instant) -> Result<Known> {
        check_name(name)?;
        if let Some(known) = self.known().get(name) {
            return Ok(known.clone());
        }
        let answer = self
            .ask(Method::GET, &[name], Bytes::new(), deadline)
            .await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Err(self.missing(name, &answer, deadline).await);
        }
        let found: wire::Collection = self.read(&answer)?;
        let known = Known {
            space: found.space(),
            dimension: found.dimension,
            id: found.id,
            is_remembered: false,
        };
        // Before the first record it has no dimension, and the next one to ask should see that it got one.
        if known.dimension.is_some() {
            let mut all = self.known();
            if all.len() >= KNOWN_MAX {
                all.clear();
            }
            let remembered = Known {
                is_remembered: true,
                ..known.clone()
            };
            all.insert(name.to_owned(), remembered);
        }
        Ok(known)
    }

    /// The error for a collection that is not there, with those that are, if the server tells.
    async fn missing(&self, name: &str, answer: &Answer, deadline: Instant) -> Error {
        match self.collections(deadline).await {
            Ok(known) => Error::NoCollection {
                name: name.to_owned(),
                place: format!("at {}", self.place),
                known: known.into_iter().map(|known| known.name).collect(),
            },
            Err(_) => self.refusal(answer),
        }
    }

    async fn ask(
        &self,
        method: Method,
        path: &[&str],
        body: Bytes,
        deadline: Instant,
    ) -> Result<Answer> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path);
        }
        let mut request = Request::new(method, url, Trust::Operator);
        request.headers = self.headers.clone();
        request.body = Body::Bytes(body);
        request.limits.redirects_max = 0;
        request.limits.body_bytes_max = ANSWER_BYTES_MAX;
        request.limits.total = left(deadline);
        let answer = self.fetcher.send(request).await;
        answer.map_err(|source| Error::Away {
            peer: Peer::Chroma,
            source,
        })
    }

    fn written(&self, body: &impl Serialize) -> Result<Bytes> {
        match serde_json::to_vec(body) {
            Ok(bytes) => Ok(bytes.into()),
            Err(error) => Err(Error::Invalid(error.to_string())),
        }
    }

    fn accepted(&self, answer: &Answer) -> Result<()> {
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(self.refusal(answer)),
        }
    }

    fn read<T: serde::de::DeserializeOwned>(&self, answer: &Answer) -> Result<T> {
        self.accepted(answer)?;
        peer::read(Peer::Chroma, &self.place, answer, self.token.as_deref())
    }

    fn refusal(&self, answer: &Answer) -> Error {
        let mut error = peer::refusal(Peer::Chroma, &self.place, answer, self.token.as_deref());
        if let Error::Refused {
            status: 404 | 405 | 410,
            message,
            ..
        } = &mut error
            && message.is_empty()
        {
            "version 2 of its API is not there; ChromaDB 1.0 or newer is needed"
                .clone_into(message);
        }
        error
    }

    fn unusable(&self, why: String) -> Error {
        Error::Unusable {
            peer: Peer::Chroma,
            place: self.place.clone(),
            why,
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, name: &str) {
        self.known().remove(name);
    }
}

fn fits(
    collection: &str,
    expected: usize,
    found: usize,
    what: impl FnOnce() -> String,
) -> Result<()> {
    match expected == found {
        true => Ok(()),
        false => Err(Error::Dimension {
            what: what(),
            collection: collection.to_owned(),
            expected,
            found,
        }),
    }
}
