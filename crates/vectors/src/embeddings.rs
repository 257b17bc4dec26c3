//! The client of an embeddings endpoint: OpenAI's wire format, which most servers of models speak. The operator has
//! chosen the address, so it may be private.

use crate::Result;
use crate::error::{Error, Peer};
use crate::peer::{self, ANSWER_BYTES_MAX, left};
use crate::record::is_finite;
use fetch::{Body, Fetcher, HeaderMap, HeaderValue, Method, Request, Trust, Url, header};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Instant;

/// Where texts become vectors.
#[derive(Clone)]
pub struct Settings {
    /// The whole address, such as http://localhost:8080/v1/embeddings.
    pub url: String,
    pub model: String,
    pub key: Option<String>,
    /// How long the vectors must be, where that is known beforehand.
    pub dimension: Option<usize>,
    /// Texts in one request.
    pub batch_max: usize,
}

pub struct Embeddings {
    fetcher: Fetcher,
    settings: Settings,
    place: String,
    headers: HeaderMap,
}

/// The vector of one text.
#[derive(Debug, Clone)]
pub struct Embedding {
    pub vector: Vec<f32>,
    /// The same as the endpoint wrote it, for whoever passes it on.
    pub json: Box<RawValue>,
}

/// Texts in one call.
pub const TEXTS_MAX: usize = 10_000;

#[derive(Serialize)]
struct Asked<'a> {
    input: &'a [String],
    model: &'a str,
}

#[derive(Deserialize)]
struct Answered {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    embedding: Box<RawValue>,
    /// Which text it is of. Where it is not said, the first is of the first.
    index: Option<usize>,
}

impl Settings {
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Settings {
            url: url.into(),
            model: model.into(),
            key: None,
            dimension: None,
            batch_max: 64,
        }
    }
}

impl Embeddings {
    pub fn new(fetcher: Fetcher, settings: Settings) -> Result<Self> {
        let url = Url::parse(&settings.url).map_err(|error| {
            Error::Invalid(format!(
                "The address of the embeddings endpoint cannot be read: {error}. Write it like http://localhost:8080/v1/embeddings"
            ))
        })?;
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if let Some(key) = &settings.key {
            let bearer = peer::bearer(key, "key for the embeddings endpoint")?;
            headers.insert(header::AUTHORIZATION, bearer);
        }
        Ok(Embeddings {
            fetcher,
            place: peer::place(&url),
            settings,
            headers,
        })
    }

    /// The same for the same model at the same address: vectors of another mean something else.
    pub fn id(&self) -> String {
        format!("{} {}", self.settings.url, self.settings.model)
    }

    /// A vector for each text, in their order. All of them, or an error.
    pub async fn embed(&self, texts: &[String], deadline: Instant) -> Result<Vec<Embedding>> {
        if texts.len() > TEXTS_MAX {
            return Err(Error::TooMuch(format!(
                "{} texts at once are too many; {TEXTS_MAX} are allowed, so send them in parts",
                texts.len()
            )));
        }
        let mut all: Vec<Embedding> = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.settings.batch_max.max(1)) {
            let made = self.embed_batch(batch, deadline).await?;
            let first = all.first().or(made.first());
            let expected = self
                .settings
                .dimension
                .or(first.map(|embedding| embedding.vector.len()));
            self.check(&made, expected.unwrap_or_default())?;
            all.extend(made);
        }
        Ok(all)
    }

    /// Sent once: whether another try is worth it, the caller knows from the error.
    async fn embed_batch(&self, batch: &[String], deadline: Instant) -> Result<Vec<Embedding>> {
        let asked = Asked {
            input: batch,
            model: &self.settings.model,
        };
        let body = serde_json::to_vec(&asked).map_err(|error| Error::Invalid(error.to_string()))?;
        let mut request = Request::new(Method::POST, &self.settings.url, Trust::Operator);
        request.headers = self.headers.clone();
        request.body = Body::Bytes(body.into());
        request.limits.body_bytes_max = ANSWER_BYTES_MAX;
        request.limits.total = left(deadline);
        let answer = self.fetcher.send(request).await;
        let answer = answer.map_err(|source| Error::Away {
            peer: Peer::Embeddings,
            source,
        })?;
        let key = self.settings.key.as_deref();
        if !answer.status.is_success() {
            let refusal = peer::refusal(Peer::Embeddings, &self.place, &answer, key);
            return Err(self.with_path(refusal));
        }
        let answered: Answered = peer::read(Peer::Embeddings, &self.place, &answer, key)?;
        self.in_order(answered.data, batch.len())?
            .into_iter()
            .map(|json| self.read(json))
            .collect()
    }

    /// Nothing there is mostly the fault of a path, which is not told: it may hold a key.
    fn with_path(&self, refusal: Error) -> Error {
        let is_usual = |url: &str| {
            let url = Url::parse(url);
            url.is_ok_and(|url| url.path().ends_with("/embeddings"))
        };
        match refusal {
            Error::Refused {
                peer,
                place,
                status: 404,
                message,
            } if !is_usual(&self.settings.url) => Error::Refused {
                peer,
                place,
                status: 404,
                message: format!(
                    "{message}; the path of the address does not end with /embeddings, as in http://localhost:8080/v1/embeddings"
                )
                .trim_start_matches("; ")
                .to_owned(),
            },
            other => other,
        }
    }

    /// The vectors in the order of their texts, each exactly once.
    fn in_order(&self, items: Vec<Item>, count: usize) -> Result<Vec<Box<RawValue>>> {
        if items.len() != count {
            return Err(self.unusable(format!("{} vectors for {count} texts", items.len())));
        }
        let mut ordered: Vec<Option<Box<RawValue>>> = vec![None; count];
        for (position, item) in items.into_iter().enumerate() {
            let index = item.index.unwrap_or(position);
            let Some(place) = ordered.get_mut(index) else {
                return Err(self.unusable(format!(
                    "a vector for text {index}, and there are {count}, from 0 on"
                )));
            };
            if place.replace(item.embedding).is_some() {
                return Err(self.unusable(format!("two vectors for text {index}")));
            }
        }
        // As many as there are places, and none in the place of another: so every place is taken.
        Ok(ordered.into_iter().flatten().collect())
    }

    fn read(&self, json: Box<RawValue>) -> Result<Embedding> {
        let vector: Vec<f32> = serde_json::from_str(json.get())
            .map_err(|_| self.unusable("an embedding that is no list of numbers".to_owned()))?;
        match !vector.is_empty() && is_finite(&vector) {
            true => Ok(Embedding { vector, json }),
            false => Err(self.unusable(
                "an embedding that is empty or holds a number that is too large".to_owned(),
            )),
        }
    }

    fn check(&self, made: &[Embedding], expected: usize) -> Result<()> {
        let other = made
            .iter()
            .map(|embedding| embedding.vector.len())
            .find(|length| *length != expected);
        match other {
            None => Ok(()),
            Some(found) => Err(self.unusable(format!(
                "a vector of {found} dimensions where {expected} were expected; is '{}' the right model?",
                self.settings.model
            ))),
        }
    }

    fn unusable(&self, why: String) -> Error {
        Error::Unusable {
            peer: Peer::Embeddings,
            place: self.place.clone(),
            why,
        }
    }
}
