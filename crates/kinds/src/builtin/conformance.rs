//! The tools that the official MCP conformance suite looks for, each doing the one thing its scenario is about. They are
//! there only where the operator has switched them on.

use super::{About, Builtin};
use catalog::tool::Annotations;
use executor::kind::RunFuture;
use executor::{Code, Event, Failure, Output, Run};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::time::Duration;

/// One red dot, and a moment of silence.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

/// Long enough for what is told to be told apart.
const A_MOMENT: Duration = Duration::from_millis(50);

/// Name, what it does, and what it takes.
const ALL: [(&str, &str, Takes); 22] = [
    ("test_simple_text", "Answers with a text", Takes::Nothing),
    (
        "test_image_content",
        "Answers with a picture",
        Takes::Nothing,
    ),
    ("test_audio_content", "Answers with a sound", Takes::Nothing),
    (
        "test_embedded_resource",
        "Answers with a resource",
        Takes::Nothing,
    ),
    (
        "test_multiple_content_types",
        "Answers with several things",
        Takes::Nothing,
    ),
    ("test_error_handling", "Always fails", Takes::Nothing),
    (
        "test_tool_with_progress",
        "Tells how far it is",
        Takes::Nothing,
    ),
    (
        "test_tool_with_logging",
        "Tells what it does",
        Takes::Nothing,
    ),
    (
        "test_logging_tool",
        "Tells what it does, if that is wanted",
        Takes::Nothing,
    ),
    (
        "test_sampling",
        "Asks the client's model",
        Takes::Text("prompt"),
    ),
    (
        "test_elicitation",
        "Asks the person",
        Takes::Text("message"),
    ),
    (
        "test_elicitation_sep1034_defaults",
        "Asks with answers already filled in",
        Takes::Nothing,
    ),
    (
        "test_elicitation_sep1330_enums",
        "Asks to choose",
        Takes::Nothing,
    ),
    (
        "test_missing_capability",
        "Needs a client with a model",
        Takes::Nothing,
    ),
    (
        "test_streaming_elicitation",
        "Asks the person",
        Takes::Nothing,
    ),
    (
        "test_trigger_tool_change",
        "Says that the tools have changed",
        Takes::Nothing,
    ),
    (
        "test_trigger_prompt_change",
        "Says that the prompts have changed",
        Takes::Nothing,
    ),
    (
        "test_custom_header",
        "Takes an argument that is repeated in a header",
        Takes::Header,
    ),
    (
        "json_schema_2020_12_tool",
        "Tool with JSON Schema 2020-12 features",
        Takes::Schema,
    ),
    (
        "test_input_required_result_elicitation",
        "Asks for a name",
        Takes::Nothing,
    ),
    (
        "test_input_required_result_sampling",
        "Asks the client's model for a capital",
        Takes::Nothing,
    ),
    (
        "test_input_required_result_list_roots",
        "Asks for the client's folders",
        Takes::Nothing,
    ),
];

/// Those that ask in other ways.
const ASKING: [(&str, &str, Takes); 5] = [
    (
        "test_input_required_result_request_state",
        "Asks to confirm",
        Takes::Nothing,
    ),
    (
        "test_input_required_result_tampered_state",
        "Asks to confirm",
        Takes::Nothing,
    ),
    (
        "test_input_required_result_multiple_inputs",
        "Asks for three things at once",
        Takes::Nothing,
    ),
    (
        "test_input_required_result_multi_round",
        "Asks twice",
        Takes::Nothing,
    ),
    (
        "test_input_required_result_capabilities",
        "Asks whatever the client can answer",
        Takes::Nothing,
    ),
];

#[derive(Clone, Copy)]
enum Takes {
    Nothing,
    Text(&'static str),
    Header,
    Schema,
}

impl Takes {
    fn schema(self) -> Value {
        match self {
            Takes::Nothing => json!({"type": "object", "properties": {}}),
            Takes::Text(name) => {
                json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})
            }
            Takes::Header => json!({"type": "object", "properties": {
                "value": {"type": "string", "x-mcp-header": "Value"}}}),
            Takes::Schema => json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {
                    "street": {"type": "string"}, "city": {"type": "string"}}}},
                "properties": {
                    "name": {"type": "string"},
                    "address": {"$ref": "#/$defs/address"},
                    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                    "phone": {"type": "string"},
                    "email": {"type": "string"}
                },
                "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
                "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
                "then": {"required": ["phone"]},
                "else": {"required": ["email"]},
                "additionalProperties": false
            }),
        }
    }
}

pub(super) struct Fixture {
    name: &'static str,
    description: &'static str,
    takes: Takes,
}

pub(super) fn all() -> impl Iterator<Item = Fixture> {
    let all = ALL.into_iter().chain(ASKING);
    all.map(|(name, description, takes)| Fixture {
        name,
        description,
        takes,
    })
}

impl Builtin for Fixture {
    fn about(&self) -> About {
        About {
            name: self.name,
            description: self.description,
            description_user: self.description,
            input_schema: self.takes.schema(),
            output_schema: None,
            annotations: Annotations {
                read_only: Some(true),
                ..Annotations::default()
            },
            parallel_capable: true,
            examples: &[],
        }
    }

    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(async move {
            match self.name.strip_prefix("test_input_required_result_") {
                Some(name) => asking(name, run).await,
                None => plain(self.name, run).await,
            }
        })
    }
}

fn text(text: impl Into<String>) -> Output {
    blocks([json!({"type": "text", "text": text.into()})])
}

fn blocks<const N: usize>(content: [Value; N]) -> Output {
    Output {
        raw: to_raw_value(&json!({"content": Vec::from(content)})).ok(),
        ..Output::default()
    }
}

/// Those that only answer.
fn fixed(name: &str) -> Option<Output> {
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let resource = |uri: &str, mime: &str, text: &str| {
        let resource = json!({"uri": uri, "mimeType": mime, "text": text});
        json!({"type": "resource", "resource": resource})
    };
    Some(match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => blocks([image]),
        "test_audio_content" => {
            blocks([json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})])
        }
        "test_embedded_resource" => blocks([resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )]),
        "test_multiple_content_types" => blocks([
            json!({"type": "text", "text": "Multiple content types test:"}),
            image,
            resource(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ]),
        _ => return None,
    })
}

/// Those that have something to tell before they answer.
async fn telling(name: &str, run: &Run) -> Option<Output> {
    match name {
        "test_tool_with_progress" => {
            for progress in [0.0, 50.0, 100.0] {
                let total = Some(100.0);
                let message = None;
                run.tell(Event::Progress {
                    progress,
                    total,
                    message,
                })
                .await;
                tokio::time::sleep(A_MOMENT).await;
            }
        }
        "test_tool_with_logging" | "test_logging_tool" => {
            let lines = [
                "Tool execution started",
                "Tool processing data",
                "Tool execution completed",
            ];
            for line in lines {
                run.tell(Event::Log(json!({"level": "info", "data": line})))
                    .await;
                tokio::time::sleep(A_MOMENT).await;
            }
        }
        // Our server tells of it once they have run.
        "test_trigger_tool_change" | "test_trigger_prompt_change" => {}
        _ => return None,
    }
    Some(text("Done"))
}

async fn plain(name: &str, run: &Run) -> Result<Output, Failure> {
    if let Some(output) = fixed(name) {
        return Ok(output);
    }
    if let Some(output) = telling(name, run).await {
        return Ok(output);
    }
    let argument = |name: &str| {
        let value = run.arguments.get(name).and_then(Value::as_str);
        value.unwrap_or_default()
    };
    let question = match name {
        "test_error_handling" => {
            let why = "This tool intentionally returns an error for testing";
            return Err(Failure::execution(why));
        }
        "test_missing_capability" if !run.can_ask("sampling") => {
            let needed = json!({"required_capabilities": {"sampling": {}}});
            let why = "The client has no model to ask";
            return Err(Failure::new(Code::NeedsRun, why).with_details(needed));
        }
        "test_sampling" => {
            let question = sampling(argument("prompt"), 100);
            let answer = run.ask("sampling/createMessage", question).await?;
            let said = answer["content"]["text"].as_str().unwrap_or_default();
            return Ok(text(format!("LLM response: {said}")));
        }
        "test_elicitation" => form(
            argument("message"),
            &json!({"username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"}}),
        ),
        "test_elicitation_sep1034_defaults" => form("Please review the defaults", &defaults()),
        "test_elicitation_sep1330_enums" => form("Please choose", &choices()),
        "test_streaming_elicitation" => {
            form("Please answer", &json!({"answer": {"type": "string"}}))
        }
        _ => return Ok(text(run.arguments.to_string())),
    };
    let answer = run.ask("elicitation/create", question).await?;
    Ok(text(format!("User response: {answer}")))
}

async fn asking(name: &str, run: &Run) -> Result<Output, Failure> {
    let named = json!({"name": {"type": "string"}});
    let elicit = |key: &'static str, message: &str, properties: &Value| {
        run.ask_as(Some(key), "elicitation/create", form(message, properties))
    };
    Ok(match name {
        "elicitation" => {
            let answer = elicit("user_name", "What is your name?", &named).await?;
            text(format!(
                "Hello, {}!",
                answer["content"]["name"].as_str().unwrap_or("stranger")
            ))
        }
        "sampling" => {
            let question = sampling("What is the capital of France?", 100);
            let answer = run
                .ask_as(Some("capital_question"), "sampling/createMessage", question)
                .await?;
            text(answer["content"]["text"].as_str().unwrap_or_default())
        }
        "list_roots" => text(
            run.ask_as(Some("client_roots"), "roots/list", json!({}))
                .await?
                .to_string(),
        ),
        "request_state" | "tampered_state" => {
            let properties = json!({"ok": {"type": "boolean"}});
            elicit("confirm", "Please confirm", &properties).await?;
            text("state-ok")
        }
        "multiple_inputs" => {
            let greeting = sampling("Generate a greeting", 50);
            let (name, greeting, roots) = tokio::join!(
                elicit("user_name", "What is your name?", &named),
                run.ask_as(Some("greeting"), "sampling/createMessage", greeting),
                run.ask_as(Some("client_roots"), "roots/list", json!({})),
            );
            text(format!("{} {} {}", name?, greeting?, roots?))
        }
        "multi_round" => {
            let one = elicit("step1", "Step 1: What is your name?", &named).await?;
            let properties = json!({"color": {"type": "string"}});
            let two = elicit("step2", "Step 2: What is your favorite color?", &properties).await?;
            text(format!(
                "{} likes {}",
                one["content"]["name"], two["content"]["color"]
            ))
        }
        // Whatever the client can be asked.
        _ if run.can_ask("elicitation") => text(
            elicit("user_name", "What is your name?", &named)
                .await?
                .to_string(),
        ),
        _ => {
            let question = sampling("What is the capital of France?", 100);
            text(
                run.ask_as(Some("capital_question"), "sampling/createMessage", question)
                    .await?
                    .to_string(),
            )
        }
    })
}

fn form(message: &str, properties: &Value) -> Value {
    let required: Vec<&String> = properties
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys())
        .collect();
    json!({"message": message, "requestedSchema": {"type": "object", "properties": properties, "required": required}})
}

fn sampling(prompt: &str, most: u32) -> Value {
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": prompt}}], "maxTokens": most})
}

fn defaults() -> Value {
    json!({
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {"type": "string", "description": "User status", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Verification status", "default": true}
    })
}

fn choices() -> Value {
    let titled = |titles: [&str; 3]| -> Vec<Value> {
        let all = titles.iter().enumerate();
        all.map(|(i, title)| json!({"const": format!("value{}", i + 1), "title": title}))
            .collect()
    };
    let plain = ["option1", "option2", "option3"];
    json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"])},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])}}
    })
}
