//! `request_human_input`: asks a person. An MCP client may have one at hand; otherwise only a run can wait for one, and a direct call says so.

use super::{About, Builtin};
use ::mcp::form::is_form;
use catalog::tool::Annotations;
use executor::kind::RunFuture;
use executor::{Code, Failure, Run};
use serde_json::{Value, json};

pub(super) struct RequestHumanInput;

impl Builtin for RequestHumanInput {
    fn about(&self) -> About {
        About {
            name: "request_human_input",
            description: "Asks the person in charge a question and waits for the answer. Use it when a decision, a missing fact or a confirmation is needed that no other tool can give. Offer choices where there are only a few, or a schema where the answer must have a shape.",
            description_user: "Puts a question to a person and waits for the answer; the run goes on when it is there.",
            input_schema: json!({
                "type": "object",
                "properties": {
                    "question": {"type": "string", "minLength": 1, "maxLength": 4000, "description": "What to ask, in full: the person sees nothing else"},
                    "choices": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2, "maxItems": 20, "description": "The answers to choose from"},
                    "schema": {"type": "object", "description": "A JSON schema that the answer must fit"}
                },
                "required": ["question"],
                "additionalProperties": false
            }),
            output_schema: None,
            annotations: Annotations {
                read_only: Some(true),
                destructive: Some(false),
                idempotent: Some(false),
                open_world: Some(true),
                title: None,
            },
            parallel_capable: true,
            examples: &[
                "ask the user which account to use",
                "I need a human decision before going on: delete the old backups, yes or no?",
                "진행하기 전에 사용자에게 확인을 받아줘",
                "담당자한테 A안과 B안 중 뭘로 할지 물어보고 답 올 때까지 기다려줘",
            ],
        }
    }

    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(async move {
            if !run.can_ask("elicitation") {
                return Err(Failure::new(
                    Code::NeedsRun,
                    "Only a run of an agent, or an MCP client that can ask its user, can wait for a person's answer; this call cannot",
                ));
            }
            let answer = run.ask("elicitation/create", form(&run.arguments)).await?;
            Ok(answered(&answer).into())
        })
    }
}

/// The question as a form. What the person may answer has a shape of its own, or is one field.
fn form(arguments: &Value) -> Value {
    let own = arguments.get("schema").filter(|schema| is_form(schema));
    let schema = own.cloned().unwrap_or_else(|| {
        let mut field = json!({"type": "string"});
        if let Some(choices) = arguments.get("choices") {
            field["enum"] = choices.clone();
        }
        field
    });
    let question = arguments["question"].as_str().unwrap_or_default();
    ::mcp::form::form(question, &schema)
}

/// Not to answer is an answer, too: what follows from it is for the model to decide.
fn answered(answer: &Value) -> Value {
    let action = answer.get("action").and_then(Value::as_str);
    let content = answer.get("content").cloned().unwrap_or(Value::Null);
    match action {
        Some("accept") => match content.get("answer") {
            Some(text) if content.as_object().is_some_and(|all| all.len() == 1) => {
                json!({"action": "accept", "answer": text})
            }
            _ => json!({"action": "accept", "answer": content}),
        },
        other => json!({"action": other.unwrap_or("cancel"), "answer": null}),
    }
}
