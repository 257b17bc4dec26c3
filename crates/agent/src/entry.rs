//! The journal of a run: what happened, one entry after the other, each stored before the next thing is done. Whatever a
//! run knows follows from these.

use crate::limits::Limits;
use crate::skill::Offered;
use providers::{Call, Turn, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One thing that happened. The names are stored: none is ever changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// What is wanted; always the first.
    Began(Box<Began>),
    /// Which tools were found for it.
    Plan {
        tools: Vec<String>,
        because: String,
        /// What of the request each of them is for, where the built-in planner chose them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<String>,
        /// What of the request nothing was found for, as far as it is to be done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<String>,
    },
    /// Which skills the model is told of and may load.
    Skills {
        skills: Vec<Offered>,
    },
    /// What the model is shown besides what it and the person say: documents.
    Shown {
        text: String,
        /// Whether the operator wrote it: what is found in documents may be anybody's.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_trusted: bool,
    },
    /// What the model answered, and what that cost where its price is known.
    Turn {
        turn: Box<Turn>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// A call that is about to run: where nothing of it follows, nobody knows whether it did.
    Started {
        call: String,
        arguments: Value,
    },
    /// How a call ended.
    Result(Box<CallResult>),
    /// Somebody has to answer before the run goes on.
    Asked(Box<Pending>),
    Answered {
        request_id: String,
        answer: Value,
        by: String,
    },
    /// Somebody does not want to answer a question; the run goes on without.
    Declined {
        request_id: String,
        by: String,
    },
    /// What the run says to the model by itself, such as what is wrong with its answer.
    Corrected {
        text: String,
    },
    /// What to know of how the run went.
    Note {
        code: String,
        message: String,
    },
    /// No more calls: the model is asked for an answer with what it has.
    Limited {
        code: String,
        message: String,
    },
    CancelAsked {
        by: String,
    },
    Ended(Box<Ending>),
}

/// What a run was begun with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Began {
    pub input: String,
    /// What was said before, where it goes on from an earlier run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<providers::Said>,
    /// Whether something in it may have been written by somebody outside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_tainted: bool,
    /// The tools it may use, by name; all that its owner may call where none are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    pub limits: Limits,
    /// Whether a model thinks; else the built-in planner does.
    pub has_model: bool,
    /// What the output must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// A fingerprint of the whole request: what comes again under the same key is compared with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
}

/// How a call ended, as the model is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    pub call: String,
    pub text: String,
    pub is_error: bool,
    /// The failure's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// In the log of calls, where it came so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    #[serde(default)]
    pub elapsed: f64,
    /// Whether somebody else may have written what it holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_untrusted: bool,
    /// Whether it was longer than the model is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingKind {
    Question,
    Approval,
}

/// What somebody has to answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub request_id: String,
    pub kind: PendingKind,
    /// The call that waits for it.
    pub call: String,
    pub question: String,
    /// What the answer must be: a JSON Schema.
    #[serde(default)]
    pub schema: Value,
    /// What is to be approved, or what a question of the built-in planner is for.
    #[serde(default)]
    pub tool: Option<String>,
    /// The hash of the tool as it was then: another one was not what somebody was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    #[serde(default)]
    pub arguments: Value,
    /// Why somebody is asked.
    #[serde(default)]
    pub because: String,
    pub asked_at: i64,
    /// After this nobody needs to answer any more.
    pub expires_at: i64,
}

/// What somebody decides about a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    Approve,
    /// The same for every later call of the tool in this run.
    Always,
    Edit {
        arguments: Map<String, Value>,
    },
    Reject {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The call does not run; this is its result.
    Respond {
        text: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Running,
    NeedsInput,
    Done,
    Failed,
    Cancelled,
    Expired,
}

impl Status {
    pub const ALL: [Status; 6] = [
        Status::Running,
        Status::NeedsInput,
        Status::Done,
        Status::Failed,
        Status::Cancelled,
        Status::Expired,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::NeedsInput => "needs_input",
            Status::Done => "done",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
            Status::Expired => "expired",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    pub fn is_over(self) -> bool {
        !matches!(self, Status::Running | Status::NeedsInput)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The output read as what `output_schema` asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    #[serde(default)]
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Why a run has no output, or not all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunError {
    pub code: String,
    pub message: String,
}

impl RunError {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        RunError {
            code: code.to_owned(),
            message: message.into(),
        }
    }
}

impl CallResult {
    /// One of a call that did not run: what there is to say instead, with a code where that is a failure.
    pub fn told(call: &str, text: impl Into<String>, code: Option<&str>) -> Self {
        CallResult {
            call: call.to_owned(),
            text: text.into(),
            is_error: code.is_some(),
            code: code.map(str::to_owned),
            execution_id: None,
            elapsed: 0.0,
            is_untrusted: false,
            is_cut: false,
        }
    }
}

impl Entry {
    /// The result of a call that nobody let run, or that cannot run.
    pub fn refused(call: &Call, code: &str, text: impl Into<String>) -> Self {
        Entry::Result(Box::new(CallResult::told(&call.id, text, Some(code))))
    }
}
