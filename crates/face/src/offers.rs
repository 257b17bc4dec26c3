//! Resources and prompts: what the upstream servers offer besides tools, passed on.

use crate::context::{Context, Params, invalid};
use crate::fixtures;
use crate::listing::cursor;
use crate::parked::{Pending, Underway};
use crate::result::Done;
use executor::{Event, Talk};
use mcp::wire::{Era, RpcError, code};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    Resources,
    Templates,
    Prompts,
}

impl Offer {
    pub(crate) fn member(self) -> &'static str {
        match self {
            Offer::Resources => "resources",
            Offer::Templates => "resourceTemplates",
            Offer::Prompts => "prompts",
        }
    }
}

pub(crate) fn list(context: &Context, offer: Offer, params: &Params) -> Result<Done, RpcError> {
    cursor(params)?;
    let mut all: Vec<Value> = Vec::new();
    if context.face.settings.conformance {
        all.extend(fixtures::list(offer));
    }
    Ok(Done::value(json!({offer.member(): all})).cached(context.era()))
}

pub(crate) async fn read(context: &Context, params: Params) -> Result<Done, RpcError> {
    let uri = params.text("uri")?.to_owned();
    let era = context.era();
    let asked = uri.clone();
    let start = move |context: &Context, params: &mut Params| {
        let fixture = context
            .face
            .settings
            .conformance
            .then(|| fixtures::read(&asked));
        let found = fixture.flatten().ok_or_else(|| unknown(era, &asked));
        let work = async move { Ok(Done::value(found?).cached(era)) };
        Ok(underway(context, params, |_| Box::pin(work)))
    };
    context.follow("resources/read", &uri, params, start).await
}

fn unknown(era: Era, uri: &str) -> RpcError {
    let code = match era {
        Era::Modern => code::INVALID_PARAMS,
        Era::Legacy => code::NO_RESOURCE,
    };
    RpcError::new(code, "There is no such resource").with_data(json!({"uri": uri}))
}

pub(crate) async fn get(context: &Context, params: Params) -> Result<Done, RpcError> {
    let name = params.text("name")?.to_owned();
    let asked = name.clone();
    let start = move |context: &Context, params: &mut Params| {
        let arguments = params.0.remove("arguments").unwrap_or_else(|| json!({}));
        if !context.face.settings.conformance || !fixtures::has_prompt(&asked) {
            return Err(invalid(format!("There is no prompt '{asked}'")));
        }
        let work = |talk: Talk| -> Pending {
            Box::pin(async move {
                fixtures::get(&asked, &arguments, &talk)
                    .await
                    .map(Done::value)
            })
        };
        Ok(underway(context, params, work))
    };
    context.follow("prompts/get", &name, params, start).await
}

pub(crate) async fn complete(context: &Context, params: Params) -> Result<Done, RpcError> {
    let _ = (context, params);
    let none = json!({"values": [], "total": 0, "hasMore": false});
    Ok(Done::value(json!({"completion": none})))
}

/// A request that may talk.
fn underway(
    context: &Context,
    params: &mut Params,
    work: impl FnOnce(Talk) -> Pending,
) -> Underway {
    let (events, said) = mpsc::channel::<Event>(16);
    let talk = Talk {
        events,
        capabilities: Value::clone(&context.capabilities),
        log_level: context.log_level(params),
    };
    Underway::new(work(talk), said, context, params)
}
