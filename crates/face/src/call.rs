//! `tools/call`: from the request to the executor and back.

use crate::addresses::{Said, may_link};
use crate::agents;
use crate::context::{Context, Params, invalid};
use crate::finder;
use crate::fixtures;
use crate::parked::Underway;
use crate::result::{Done, of_call};
use app::App;
use catalog::caller::Caller;
use catalog::toolset::FIND_TOOLS;
use executor::line::line;
use executor::{CallRequest, Code, Talk, ToolResponse};
use mcp::wire::{RpcError, code};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::Arc;

/// How much a call may say before it has to wait for its listener, or is not heard.
const EVENTS: usize = 64;

pub(crate) async fn call(context: &Context, mut params: Params) -> Result<Done, RpcError> {
    let mut name = params.text("name")?.to_owned();
    if agents::is_meant(context, &name) {
        return Box::pin(agents::run(context, params)).await;
    }
    let mut is_indirect = false;
    if finder::is_meant(context, &name) {
        if name == FIND_TOOLS {
            return Box::pin(finder::find(context, &params)).await;
        }
        name = match finder::meant(&mut params) {
            Ok(name) => name,
            Err(why) => return finder::refused(context, why),
        };
        is_indirect = true;
    }
    let asked = name.clone();
    let asked = Asked {
        tool: asked,
        is_indirect,
    };
    let start = move |context: &Context, params: &mut Params| start(context, asked, params);
    context.follow("tools/call", &name, params, start).await
}

struct Asked {
    tool: String,
    /// Its name was given to `call_tool`.
    is_indirect: bool,
}

/// A name that a model has made up is for the model to mend: its client asked for a tool that there is.
fn told_to_the_model(response: &mut ToolResponse) {
    let error = response.error.as_mut();
    if let Some(error) = error.filter(|error| error.code == Code::ToolNotFound) {
        error.code = Code::InvalidInput;
        let more = "; find_tools has the names of those there are";
        error.message.push_str(more);
    }
}

fn start(context: &Context, asked: Asked, params: &mut Params) -> Result<Underway, RpcError> {
    let arguments = match params.take("arguments") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(arguments @ Value::Object(_)) => arguments,
        Some(_) => return Err(invalid("params.arguments must be an object")),
    };
    let key = params.idempotency_key();
    let (sender, events) = line(EVENTS);
    let talk = Talk {
        events: sender,
        capabilities: Arc::clone(&context.capabilities),
        wants_progress: params.progress_token().is_some(),
        log_level: context.log_level(params),
    };
    let request = CallRequest {
        tool: asked.tool,
        arguments,
        talk: Some(talk),
        trace: params.trace(),
        ..CallRequest::default()
    };
    let face = &context.face;
    let (app, caller) = (Arc::clone(&face.app), Arc::clone(&context.caller));
    // The face keeps what waits for an answer, so that may not keep the face in turn.
    let suite = face.settings.conformance.then(|| Arc::downgrade(face));
    let era = context.era();
    let work = Box::pin(async move {
        match app.call(Arc::clone(&caller), request, key).await {
            Ok(mut response) => {
                let raw = response.raw.as_deref().filter(|raw| may_link(raw));
                let led_back =
                    raw.and_then(|raw| led_back(&app, &caller, &response.tool_name, raw));
                if led_back.is_some() {
                    response.raw = led_back;
                }
                if let Some(face) = suite.and_then(|face| face.upgrade()) {
                    fixtures::called(&face, &response.tool_name);
                }
                if asked.is_indirect {
                    told_to_the_model(&mut response);
                }
                of_call(&response, era)
            }
            Err(error) => {
                tracing::error!(%error, "a call over MCP could not be made");
                Err(RpcError::new(code::INTERNAL, "The call could not be made"))
            }
        }
    });
    Ok(Underway::new(work, events, context, params))
}

/// What a server's tool answered, where links in it have to be written in another way to lead back to that server.
fn led_back(app: &App, caller: &Caller, tool: &str, raw: &RawValue) -> Option<Box<RawValue>> {
    let catalogue = app.executor.catalogue.load();
    let entry = catalogue.get(tool)?;
    let server = entry.tool.definition.config.get("server_name")?.as_str()?;
    let said = Said {
        app,
        caller,
        server,
    };
    said.tool_result(raw)
}
