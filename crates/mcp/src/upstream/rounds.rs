//! A request in the words of each era. A modern server that needs something to go on answers with questions, and is
//! asked again with the answers to them.

use super::connection::{Call, Connection};
use super::exchange::Answer;
use super::fault::Fault;
use super::locked;
use super::params::Params;
use super::talk::{Talk, cannot_be_asked, question};
use crate::wire::{Era, Members, RpcError, tree};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// From the one that says most.
const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

impl Connection {
    /// A request in the era of this server, with as many rounds as it takes.
    pub(super) async fn ask(
        &self,
        method: &str,
        params: Params<'_>,
        talk: &Talk,
        rounds_max: usize,
    ) -> Answer {
        let era = self.peer.get().map_or(Era::Legacy, |peer| peer.era);
        if era == Era::Legacy && talk.log_level.is_some() {
            Box::pin(self.raise_log_level(talk)).await;
        }
        let mut extra = Map::new();
        for _ in 0..rounds_max {
            let call = Call {
                method,
                params,
                extra: &extra,
                era,
                talk,
            };
            let result = self.call(call).await?;
            if era == Era::Legacy || !asks(&result) {
                return Ok(result);
            }
            extra = Box::pin(talk.bound(answers(&tree(&result), talk))).await?;
        }
        Err(Fault::Protocol(format!(
            "it asked for more {rounds_max} times"
        )))
    }

    /// An older server logs for all at once: as much as whoever wants most.
    async fn raise_log_level(&self, talk: &Talk) {
        let level = talk.log_level.as_deref();
        let level = level.and_then(|level| LOG_LEVELS.iter().position(|one| *one == level));
        let Some(level) = level else { return };
        if !self.peer.get().is_some_and(|peer| peer.can("logging")) {
            return;
        }
        {
            let mut now = locked(&self.log_level);
            if now.is_some_and(|now| now <= level) {
                return;
            }
            *now = Some(level);
        }
        let params = json!({"level": LOG_LEVELS[level]});
        let none = Map::new();
        let quiet = Talk {
            cancel: talk.cancel.clone(),
            deadline: talk.deadline,
            ..Talk::quiet()
        };
        let call = Call {
            method: "logging/setLevel",
            params: Params::Of(params.as_object().unwrap_or(&none)),
            extra: &none,
            era: Era::Legacy,
            talk: &quiet,
        };
        // The call itself matters more than what is logged about it.
        let _ = self.call(call).await;
    }
}

/// Whether a result is none yet.
fn asks(result: &RawValue) -> bool {
    // Most say so nowhere, which is seen sooner than read.
    result.get().contains("input_required")
        && Members::of(result).text("resultType").as_deref() == Some("input_required")
}

/// What the request is sent again with.
async fn answers(result: &Value, talk: &Talk) -> Result<Map<String, Value>, Fault> {
    let mut extra = Map::new();
    if let Some(state) = result.get("requestState") {
        extra.insert("requestState".to_owned(), state.clone());
    }
    let Some(questions) = result.get("inputRequests").and_then(Value::as_object) else {
        return Ok(extra);
    };
    let mut responses = Map::new();
    for (key, asked) in questions {
        let method = asked.get("method").and_then(Value::as_str);
        let params = asked.get("params").cloned().unwrap_or_else(|| json!({}));
        let response = answer(method.unwrap_or_default(), params, talk).await;
        responses.insert(key.clone(), response.map_err(Fault::Rpc)?);
    }
    extra.insert("inputResponses".to_owned(), responses.into());
    Ok(extra)
}

async fn answer(method: &str, params: Value, talk: &Talk) -> Result<Value, RpcError> {
    match &talk.listener {
        Some(listener) if talk.abilities().answer(method) => {
            question(listener, method.to_owned(), params).await
        }
        _ if method == "roots/list" => Ok(json!({"roots": []})),
        _ => Err(cannot_be_asked(method)),
    }
}
