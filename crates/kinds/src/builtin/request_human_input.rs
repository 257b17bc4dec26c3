//! `request_human_input`: asks a person. Only a run can wait for one; called directly it says so.

use super::{About, Builtin};
use catalog::tool::Annotations;
use executor::kind::RunFuture;
use executor::{Code, Failure, Run};
use serde_json::json;

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
                "사용자에게 확인을 받아줘",
                "I need a human decision before going on",
            ],
        }
    }

    fn run<'a>(&'a self, _run: &'a Run) -> RunFuture<'a> {
        Box::pin(std::future::ready(Err(Failure::new(
            Code::NeedsRun,
            "Only a run of an agent can wait for a person's answer; a direct call cannot",
        ))))
    }
}
