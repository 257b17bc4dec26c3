//! Which method does what, in which era: the one list of everything a client can ask for.

use crate::changes;
use crate::context::{Context, Params, invalid};
use crate::exchange::Answer;
use crate::offers::{self, Offer};
use crate::parked::is_level;
use crate::result::Done;
use crate::{call, listing};
use mcp::wire::{self, Era, LEGACY, META_NODE, MODERN, RpcError, code};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// What we can do, as each era is told.
pub(crate) fn capabilities(era: Era) -> Value {
    let mut all = json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "completions": {},
    });
    if era == Era::Legacy {
        all["logging"] = json!({});
    }
    all
}

/// The answer to one request.
pub(crate) async fn answer(
    context: Context,
    id: Box<RawValue>,
    method: &str,
    params: Params,
) -> Answer {
    let era = context.era();
    if era == Era::Modern && method == "subscriptions/listen" {
        return Box::pin(changes::listen(context, id, params)).await;
    }
    match handle(&context, method, params).await {
        Ok(mut done) => {
            if era == Era::Modern {
                done.server = context.face.server_name(&context.caller);
            }
            Answer::new(done.answers(&id, era))
        }
        Err(error) => Answer {
            text: wire::error(Some(&id), &error).into(),
            status: status(&error, era),
        },
    }
}

async fn handle(context: &Context, method: &str, params: Params) -> Result<Done, RpcError> {
    let unknown = || RpcError::new(code::NO_METHOD, format!("There is no method '{method}'"));
    match (method, &context.session) {
        ("tools/call", _) => call::call(context, params).await,
        // Boxed, all of them: calls are most of what is asked, and would be moved with room for each of the others.
        ("tools/list", _) => Box::pin(listing::list(context, &params)).await,
        ("resources/list", _) => Box::pin(offers::list(context, Offer::Resources, &params)).await,
        ("resources/templates/list", _) => {
            Box::pin(offers::list(context, Offer::Templates, &params)).await
        }
        ("prompts/list", _) => Box::pin(offers::list(context, Offer::Prompts, &params)).await,
        ("resources/read", _) => Box::pin(offers::read(context, params)).await,
        ("prompts/get", _) => Box::pin(offers::get(context, params)).await,
        ("completion/complete", _) => Box::pin(offers::complete(context, params)).await,
        ("resources/subscribe", Some(session)) => {
            let uri = params.text("uri")?;
            session.follow(uri, offers::follow(context, uri)?)?;
            Ok(Done::default())
        }
        ("resources/unsubscribe", Some(session)) => {
            session.unfollow(params.text("uri")?);
            Ok(Done::default())
        }
        ("server/discover", None) => Ok(discover(context)),
        ("ping", Some(_)) => Ok(Done::default()),
        ("logging/setLevel", Some(session)) => {
            let level = params.text("level")?;
            if !is_level(level) {
                return Err(invalid(format!(
                    "params.level: there is no level '{level}'"
                )));
            }
            session.set_level(level);
            Ok(Done::default())
        }
        _ => Err(unknown()),
    }
}

fn discover(context: &Context) -> Done {
    let mut versions = vec![MODERN];
    versions.extend(LEGACY);
    let mut result = json!({
        "supportedVersions": versions,
        "capabilities": capabilities(Era::Modern),
        "_meta": {META_NODE: context.face.app.node},
    });
    if let Some(text) = context.face.instructions(&context.caller) {
        result["instructions"] = text.into();
    }
    Done::value(result).cached(Era::Modern)
}

/// A legacy client reads the error; a modern one, and what stands between, the status as well.
pub(crate) fn status(error: &RpcError, era: Era) -> u16 {
    match (era, error.code) {
        (Era::Legacy, _) => 200,
        (_, code::NO_METHOD) => 404,
        (_, code::INTERNAL) => 500,
        _ => 400,
    }
}
