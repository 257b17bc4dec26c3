//! A recording as `scripts/recordings` writes it.

use fetch::{HeaderMap, HeaderName, HeaderValue};
use providers::Api;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

#[derive(Debug, Deserialize)]
pub(super) struct Recording {
    pub(super) name: String,
    pub(super) exchanges: Vec<Exchange>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Exchange {
    pub(super) method: String,
    pub(super) path: String,
    #[serde(default)]
    host: String,
    pub(super) request: Value,
    pub(super) status: u16,
    headers: HashMap<String, String>,
    pub(super) response: String,
}

impl Recording {
    pub(super) fn of(line: &str) -> Self {
        serde_json::from_str(line).unwrap()
    }
}

impl Exchange {
    /// Which wire format it is in, if it is one of ours.
    pub(super) fn api(&self) -> Option<Api> {
        let is_asked = self.method == "POST" && self.request.is_object();
        let is_zhipu = self.path.contains("/paas/") || self.host.contains("bigmodel");
        match self.path.trim_end_matches('/').rsplit_once('/') {
            _ if !is_asked => None,
            Some((_, "messages")) => Some(Api::Messages),
            Some((_, "responses")) => Some(Api::Responses),
            Some((_, "completions")) if !self.path.ends_with("/chat/completions") => None,
            Some((_, "completions")) if is_zhipu => Some(Api::Zhipu),
            Some((_, "completions")) => Some(Api::Chat),
            _ => None,
        }
    }

    pub(super) fn is_stream(&self) -> bool {
        let kind = self.headers.get("content-type");
        kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    pub(super) fn header_map(&self) -> HeaderMap {
        let known = self.headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::try_from(name.as_str()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        known.collect()
    }
}
