//! `run_agent`: a run of an agent as a tool. What the run asks is put to the client's person where the client can do that;
//! where it cannot, the answer says what the run waits for, and the run goes on when somebody has answered it elsewhere.

use crate::context::{Context, Params};
use crate::finder::refused;
use crate::parked::Underway;
use crate::result::Done;
use app::App;
use app::error::{Error, Result as AppResult};
use app::runs::{Answer, Follower, Position, RunEvent, RunRequest};
use catalog::caller::Caller;
use executor::line::line;
use executor::{Asker, Event, Talk};
use mcp::form;
use mcp::wire::{RpcError, code};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) const RUN_AGENT: &str = "run_agent";

/// How much a run may say before it is not heard.
const EVENTS: usize = 64;

/// How often somebody is asked whose answers do not fit.
const TRIES: usize = 3;

/// The tool as it is listed to somebody who may run these agents; none where there are none.
pub(crate) fn tool(agents: &[String]) -> Option<Value> {
    let agent = json!({"type": "string", "enum": agents, "description": "Which agent"});
    let input = json!({"type": "string", "minLength": 1, "description": "What is to be done, in full: the agent sees nothing else"});
    let tool = json!({
        "name": RUN_AGENT,
        "title": "Run an agent",
        "description": "Hands a request to an agent, which chooses and calls tools by itself until it is done, and returns its answer.",
        "inputSchema": {"type": "object", "properties": {"agent": agent, "input": input}, "required": ["agent", "input"], "additionalProperties": false},
        "outputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "status": {"type": "string"}}, "required": ["id", "status"]},
        "annotations": {"openWorldHint": true},
    });
    (!agents.is_empty()).then_some(tool)
}

/// The agents that a caller may run over MCP. None where a tool of somebody's has the name, or a toolset says what there is.
pub(crate) fn of(app: &App, caller: &Caller) -> Vec<String> {
    let is_taken = app.executor.catalogue.load().get(RUN_AGENT).is_some();
    match is_taken || caller.toolset.is_some() {
        true => Vec::new(),
        false => app.runnable_agents(caller),
    }
}

pub(crate) fn is_meant(context: &Context, name: &str) -> bool {
    name == RUN_AGENT && !of(&context.face.app, &context.caller).is_empty()
}

pub(crate) async fn run(context: &Context, params: Params) -> Result<Done, RpcError> {
    let arguments = params.get("arguments").cloned().unwrap_or_default();
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let (Some(agent), Some(input)) = (text("agent"), text("input")) else {
        return refused(context, "expected the texts agent and input".to_owned());
    };
    let request = RunRequest {
        agent: Some(agent.to_owned()),
        input: input.to_owned(),
        idempotency_key: params.idempotency_key(),
        ..RunRequest::default()
    };
    let start = move |context: &Context, params: &mut Params| {
        let (events, told) = line(EVENTS);
        let talk = Talk {
            events,
            capabilities: Arc::clone(&context.capabilities),
            wants_progress: params.progress_token().is_some(),
            log_level: None,
        };
        let running = Running {
            app: Arc::clone(&context.face.app),
            caller: Arc::clone(&context.caller),
            can_ask: context.can("elicitation"),
            asker: Asker::new(talk),
            waiting: VecDeque::new(),
            steps: 0,
        };
        let work = Box::pin(running.run(request));
        Ok(Underway::new(work, told, context, params))
    };
    context.follow("tools/call", RUN_AGENT, params, start).await
}

/// A run and who follows it.
struct Running {
    app: Arc<App>,
    caller: Arc<Caller>,
    can_ask: bool,
    asker: Asker,
    /// What the run asks, in order.
    waiting: VecDeque<Value>,
    steps: u32,
}

impl Running {
    async fn run(mut self, request: RunRequest) -> Result<Done, RpcError> {
        let began = self.app.begin_run(&self.caller, request).await;
        let id = match began {
            Ok(id) => id.to_string(),
            Err(error) => return Ok(failed(&error.to_string())),
        };
        match self.follow(&id).await {
            Ok(view) => Ok(view),
            Err(error) => {
                tracing::error!(%error, run = %id, "a run could not be followed over MCP");
                Err(RpcError::new(
                    code::INTERNAL,
                    "The run could not be followed",
                ))
            }
        }
    }

    async fn follow(&mut self, id: &str) -> AppResult<Done> {
        let from = Position::default();
        let mut follower = self.app.follow_run(&self.caller, id, from).await?;
        loop {
            if let Some(question) = self.waiting.front().cloned() {
                if self.can_ask {
                    self.ask(id, &question, &mut follower).await?;
                    continue;
                }
                let view = self.app.get_run(&self.caller, id).await?;
                if view.status == "needs_input" {
                    return Ok(shown(&json!(view)));
                }
            }
            match follower.next().await? {
                Some(event) => self.heard(&event),
                None => {
                    let view = self.app.get_run(&self.caller, id).await?;
                    return Ok(shown(&json!(view)));
                }
            }
        }
    }

    fn heard(&mut self, event: &RunEvent) {
        let data = &event.data;
        match event.event {
            "needs_input" => self.waiting.push_back(data.clone()),
            "answered" => self
                .waiting
                .retain(|it| it["request_id"] != data["request_id"]),
            "tool_call" => {
                self.steps += 1;
                let tool = data["tool"].as_str().unwrap_or_default();
                self.asker.tell(Event::Progress {
                    progress: f64::from(self.steps),
                    total: None,
                    message: Some(format!("calls {tool}")),
                });
            }
            _ => {}
        }
    }

    /// Puts a question of the run to the person, unless somebody else answers it first. One that they do not answer stays
    /// open: the run waits for it, and nobody here does.
    async fn ask(&mut self, id: &str, asked: &Value, follower: &mut Follower) -> AppResult<()> {
        let is_approval = asked["kind"] == "approval";
        let schema = match is_approval {
            true => decision_schema(&asked["arguments"]),
            false => asked["schema"].clone(),
        };
        let request_id = asked["request_id"].as_str().unwrap_or_default();
        let mut question = wording(asked);
        for number in 1..=TRIES {
            let asker = self.asker.clone();
            let params = form::form(&question, &schema);
            // By another name each time: the client's last answer was to the last question.
            let key = format!("{request_id}-{number}");
            let asking = asker.ask(Some(&key), "elicitation/create", params);
            tokio::pin!(asking);
            let reply = loop {
                tokio::select! {
                    reply = &mut asking => break reply,
                    event = follower.next() => {
                        match event? {
                            Some(event) => self.heard(&event),
                            None => self.waiting.clear(),
                        }
                        let is_open = self.waiting.iter().any(|it| it["request_id"] == request_id);
                        if !is_open {
                            return Ok(());
                        }
                    }
                }
            };
            let reply = reply.unwrap_or_default();
            let answer = match form::answered(&schema, &reply) {
                None if reply["action"] == "decline" => None,
                None => break,
                Some(answer) if is_approval => match decision(&answer) {
                    Ok(decision) => Some(decision),
                    Err(why) => {
                        question = format!("{}\n({why})", wording(asked));
                        continue;
                    }
                },
                Some(answer) => Some(answer),
            };
            let answer = Answer {
                request_id: request_id.to_owned(),
                answer,
            };
            match self.app.answer_run(&self.caller, id, answer).await {
                // Or somebody was faster, or it is too late.
                Ok(_) | Err(Error::Conflict { .. }) => {
                    self.waiting.retain(|it| it["request_id"] != request_id);
                    return Ok(());
                }
                Err(error @ Error::Invalid { .. }) => {
                    question = format!("{}\n({error})", wording(asked));
                }
                Err(error) => return Err(error),
            }
        }
        self.can_ask = false;
        Ok(())
    }
}

/// What the person reads: for a call, also what it is.
fn wording(asked: &Value) -> String {
    let question = asked["question"].as_str().unwrap_or_default();
    match asked["kind"] == "approval" {
        true => {
            let because = asked["because"].as_str().unwrap_or_default();
            format!("{question}\n{}\n{because}", asked["arguments"])
        }
        false => question.to_owned(),
    }
}

/// What can be decided, as a flat form: objects are no part of one, so other arguments are written as JSON.
fn decision_schema(arguments: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string", "enum": ["approve", "edit", "reject", "respond", "always"],
                "title": "Decision",
            },
            "arguments": {
                "type": "string", "default": arguments.to_string(),
                "title": "For edit: the arguments to call it with, as JSON",
            },
            "text": {
                "type": "string",
                "title": "For reject: why. For respond: what is answered in the tool's place",
            },
        },
        "required": ["decision"],
    })
}

/// What was decided in that form. What does not belong to the decision was filled in beforehand, or by the way.
fn decision(form: &Value) -> Result<Value, String> {
    let decision = &form["decision"];
    match decision.as_str() {
        Some("edit") => {
            let text = form["arguments"].as_str().unwrap_or_default();
            let arguments: Value = serde_json::from_str(text).map_err(|error| {
                format!("arguments: expected an object as JSON, such as {{\"amount\": 3}}: {error}")
            })?;
            Ok(json!({"decision": "edit", "arguments": arguments}))
        }
        Some("reject" | "respond") => Ok(json!({"decision": decision, "text": form["text"]})),
        _ => Ok(json!({"decision": decision})),
    }
}

fn failed(message: &str) -> Done {
    Done::value(json!({"content": [{"type": "text", "text": message}], "isError": true}))
}

/// A run as the result of a call: its answer as text, or what it waits for, or why there is none.
fn shown(view: &Value) -> Done {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let id = text(&view["id"]);
    let (text, is_error) = match view["status"].as_str() {
        Some("done") => (text(&view["output"]), false),
        Some("needs_input") => {
            let questions = view["pending"].as_array().into_iter().flatten();
            let questions: Vec<String> = questions.map(wording).collect();
            let asked = questions.join("\n");
            (
                format!("Run {id} waits for somebody's answer: {asked}"),
                false,
            )
        }
        _ => (
            format!(
                "Run {id} has no answer: {}",
                text(&view["error"]["message"])
            ),
            true,
        ),
    };
    let mut result =
        json!({"content": [{"type": "text", "text": text}], "structuredContent": view});
    if is_error {
        result["isError"] = json!(true);
    }
    Done::value(result)
}
