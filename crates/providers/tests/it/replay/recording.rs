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

    /// All that the answer says, piece after piece, without regard to what it means.
    pub(super) fn said(&self) -> String {
        let lines = self.response.lines();
        let lines = lines.map(|line| line.strip_prefix("data:").unwrap_or(line));
        let mut said = String::new();
        for line in lines {
            if let Ok(value) = serde_json::from_str::<Value>(line) {
                collect(&value, &mut said);
            }
        }
        said
    }

    /// Headers and body, as a server would send them.
    pub(super) fn reply(&self) -> (Vec<(String, String)>, Vec<u8>) {
        let known = ["content-type", "request-id", "x-request-id", "retry-after"];
        let headers = self
            .headers
            .iter()
            .filter(|(name, _)| known.contains(&name.as_str()));
        let headers = headers.map(|(name, value)| (name.clone(), value.clone()));
        (headers.collect(), self.response.clone().into_bytes())
    }

    pub(super) fn header_map(&self) -> HeaderMap {
        let known = self.headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::try_from(name.as_str()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        known.collect()
    }
}

fn collect(value: &Value, said: &mut String) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                let says = ["text", "content", "delta", "name"].contains(&name.as_str());
                match inner {
                    Value::String(text) if says => said.push_str(text),
                    inner => collect(inner, said),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| collect(inner, said)),
        _ => {}
    }
}
