//! The answer envelope of every call, and the step view of the pipeline that is derived from it.

use crate::code::Code;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use utoipa::ToSchema;
use uuid::Uuid;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CallError {
    #[schema(value_type = String, example = "timeout")]
    pub code: Code,
    pub message: String,
    #[schema(value_type = Value)]
    pub details: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResponseStatus {
    Success,
    Error,
}

/// What every call answers, on every face.
/// The data is kept as the text it was serialised to once, for the cap, the log and the answer alike.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ToolResponse {
    pub status: ResponseStatus,
    pub message: String,
    #[schema(value_type = Value)]
    pub data: Box<RawValue>,
    pub error: Option<CallError>,
    #[schema(value_type = String)]
    pub tool_name: Arc<str>,
    pub execution_id: Uuid,
    /// Seconds.
    pub elapsed: f64,
    /// There was more data than is answered with. Left out where there was not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The MCP result that it came as; only whoever speaks MCP has a use for it.
    #[serde(skip)]
    pub raw: Option<Box<RawValue>>,
    /// Whether whoever speaks MCP gets status, message and data in one object, and not the data alone. Read where an
    /// answer was kept, never told.
    #[serde(default, skip_serializing)]
    #[schema(ignore)]
    pub is_whole: bool,
}

/// A call as a step of the pipeline tells of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepView {
    pub tool: String,
    pub success: bool,
    /// Null where it failed.
    #[schema(value_type = Value)]
    pub result: Value,
    pub error: Option<String>,
    /// Seconds.
    pub elapsed: f64,
}

impl ToolResponse {
    /// The same as one step of the pipeline.
    pub fn step(&self) -> StepView {
        StepView {
            tool: self.tool_name.to_string(),
            success: self.status == ResponseStatus::Success,
            result: serde_json::from_str(self.data.get()).unwrap_or_default(),
            error: self.error.as_ref().map(|e| e.message.clone()),
            elapsed: self.elapsed,
        }
    }

    /// The answer of a call whose server stopped before it was done.
    pub fn interrupted(tool_name: &str) -> Self {
        let message =
            "The server stopped while this call was running; whether it took effect is unknown";
        ToolResponse {
            status: ResponseStatus::Error,
            message: message.to_owned(),
            data: RawValue::NULL.to_owned(),
            error: Some(CallError {
                code: Code::Interrupted,
                message: message.to_owned(),
                details: Value::Null,
            }),
            tool_name: tool_name.into(),
            execution_id: Uuid::nil(),
            elapsed: 0.0,
            raw: None,
            truncated: false,
            is_whole: false,
        }
    }

    /// Whether the tool may have had its effect, whatever the answer says.
    pub fn may_have_run(&self) -> bool {
        self.error.as_ref().is_none_or(|error| {
            // Null where nobody knows; it is never said of a call that did not run.
            error.code.may_have_run() || error.details.get("tool_ran").is_some()
        })
    }

    /// Seconds after which trying again can help, where the failure says so.
    pub fn retry_after(&self) -> Option<u64> {
        let error = self.error.as_ref()?;
        error.details.get("retry_after_seconds")?.as_u64()
    }
}

/// A number of seconds as Python prints a float: `30.0`, `0.5`, `1e-05`.
pub fn python_float(value: f64) -> String {
    if value.is_finite() && value != 0.0 && !(1e-4..1e16).contains(&value.abs()) {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').expect("`e` notation has an `e`");
        let (sign, digits) = match exponent.strip_prefix('-') {
            Some(digits) => ('-', digits),
            None => ('+', exponent),
        };
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn floats_look_as_in_python() {
        let shown = [30.0, 0.5, 1e-5, 1.5e20, 0.0001, 123_456_789.0, 2.5e-7].map(python_float);
        assert_eq!(
            shown,
            [
                "30.0",
                "0.5",
                "1e-05",
                "1.5e+20",
                "0.0001",
                "123456789.0",
                "2.5e-07"
            ]
        );
    }

    #[test]
    fn the_step_view_is_derived() {
        let response = ToolResponse {
            status: ResponseStatus::Error,
            message: "m".into(),
            data: RawValue::NULL.to_owned(),
            error: Some(CallError {
                code: Code::Timeout,
                message: "late".into(),
                details: Value::Null,
            }),
            tool_name: "t".into(),
            execution_id: Uuid::nil(),
            elapsed: 0.25,
            raw: None,
            truncated: false,
            is_whole: false,
        };
        let expected =
            json!({"tool":"t","success":false,"result":null,"error":"late","elapsed":0.25});
        assert_eq!(serde_json::to_value(response.step()).unwrap(), expected);
    }
}
