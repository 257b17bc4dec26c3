//! Every error code there is, and the one table that says what each means outward: HTTP status, how MCP
//! reports it, the command line's exit code, whether trying again can help, and whose fault it is.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The one who asked can mend it.
    Caller,
    /// The tool, or what it talks to.
    Tool,
    /// This server or its operator.
    Us,
}

/// How MCP reports a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpReport {
    /// A result with `isError`, so that the model can read it and try something else.
    Result,
    /// A JSON-RPC error with this number.
    Protocol(i32),
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub code: Code,
    pub name: &'static str,
    pub http: u16,
    pub mcp: McpReport,
    pub exit: u8,
    pub retryable: bool,
    pub fault: Fault,
}

macro_rules! codes {
    ($($variant:ident $name:literal $http:literal $mcp:expr, $exit:literal, $retryable:literal, $fault:ident;)*) => {
        /// The stable codes of the API. Adding one is a line in the table below.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($variant),* }

        /// The table, in the order of the variants.
        pub const TABLE: &[Row] = &[$(Row {
            code: Code::$variant, name: $name, http: $http, mcp: $mcp, exit: $exit,
            retryable: $retryable, fault: Fault::$fault,
        }),*];
    };
}

use McpReport::{Protocol, Result as IsError};

codes! {
    // code              name                    HTTP  MCP                exit  retry  fault
    ToolNotFound        "tool_not_found"         404   Protocol(-32602),  1,    false, Caller;
    ToolInactive        "tool_inactive"          409   IsError,           1,    false, Caller;
    BlockedByPolicy     "blocked_by_policy"      403   IsError,           1,    false, Caller;
    ApprovalRequired    "approval_required"      403   IsError,           1,    false, Caller;
    InvalidInput        "invalid_input"          422   IsError,           1,    false, Caller;
    RateLimited         "rate_limited"           429   IsError,           1,    true,  Caller;
    QuotaExceeded       "quota_exceeded"         429   IsError,           1,    true,  Caller;
    Cancelled           "cancelled"              499   IsError,           1,    true,  Caller;
    InvalidOutput       "invalid_output"         502   IsError,           1,    false, Tool;
    OutputTooLarge      "output_too_large"       502   IsError,           1,    false, Tool;
    ToolExecutionError  "tool_execution_error"   502   IsError,           1,    false, Tool;
    UpstreamError       "upstream_error"         502   IsError,           1,    true,  Tool;
    ServiceUnavailable  "service_unavailable"    503   IsError,           1,    true,  Us;
    NotConfigured       "not_configured"         503   IsError,           1,    false, Us;
    AuthRequired        "auth_required"          503   IsError,           1,    false, Us;
    Timeout             "timeout"                504   IsError,           1,    true,  Tool;
    Interrupted         "interrupted"            500   IsError,           1,    false, Us;
    NeedsRun            "needs_run"              409   IsError,           1,    false, Caller;
    // Beside calls.
    InvalidRequest      "invalid_request"        400   Protocol(-32600),  2,    false, Caller;
    Unauthenticated     "unauthenticated"        401   Protocol(-32001),  1,    false, Caller;
    Forbidden           "forbidden"              403   Protocol(-32003),  1,    false, Caller;
    NotFound            "not_found"              404   Protocol(-32602),  1,    false, Caller;
    MethodNotAllowed    "method_not_allowed"     405   Protocol(-32601),  1,    false, Caller;
    RequestTimeout      "request_timeout"        408   Protocol(-32600),  1,    true,  Caller;
    Conflict            "conflict"               409   Protocol(-32602),  1,    false, Caller;
    PayloadTooLarge     "payload_too_large"      413   Protocol(-32600),  1,    false, Caller;
    UnsupportedMedia    "unsupported_media_type" 415   Protocol(-32600),  1,    false, Caller;
    Invalid             "invalid"                422   Protocol(-32602),  1,    false, Caller;
    Overloaded          "overloaded"             503   Protocol(-32000),  1,    true,  Us;
    Internal            "internal"               500   Protocol(-32603),  1,    false, Us;
}

impl Code {
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    pub fn as_str(self) -> &'static str {
        self.row().name
    }

    /// Whether a failure can come from a call that did run. What was refused before may be tried again.
    pub fn may_have_run(self) -> bool {
        match self {
            Code::Cancelled | Code::Timeout | Code::Interrupted => true,
            Code::ServiceUnavailable | Code::NotConfigured | Code::RateLimited => false,
            other => other.row().fault == Fault::Tool,
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        TABLE
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.code)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Code::from_name(&name)
            .ok_or_else(|| serde::de::Error::custom(format!("unknown code {name}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_codes() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.code as usize, i);
            assert_eq!(Code::from_name(row.name), Some(row.code));
        }
    }

    #[test]
    fn the_catalogue_knows_how_a_call_can_fail() {
        let calls = TABLE
            .iter()
            .take_while(|row| row.code != Code::InvalidRequest);
        let names: Vec<&str> = calls.map(|row| row.name).collect();
        assert_eq!(names, catalog::test_case::CALL_ERRORS);
    }

    /// What the contract promises; others already rely on it.
    #[test]
    fn statuses_are_those_of_the_contract() {
        let promised = [
            ("tool_not_found", 404),
            ("tool_inactive", 409),
            ("blocked_by_policy", 403),
            ("approval_required", 403),
            ("invalid_input", 422),
            ("rate_limited", 429),
            ("quota_exceeded", 429),
            ("cancelled", 499),
            ("invalid_output", 502),
            ("output_too_large", 502),
            ("tool_execution_error", 502),
            ("upstream_error", 502),
            ("service_unavailable", 503),
            ("not_configured", 503),
            ("auth_required", 503),
            ("timeout", 504),
            ("interrupted", 500),
            ("needs_run", 409),
            ("unauthenticated", 401),
            ("forbidden", 403),
            ("conflict", 409),
            ("internal", 500),
        ];
        for (name, http) in promised {
            assert_eq!(
                Code::from_name(name).map(|c| c.row().http),
                Some(http),
                "{name}"
            );
        }
    }

    #[test]
    fn a_call_that_was_refused_may_be_tried_again() {
        let refused = [
            Code::InvalidInput,
            Code::RateLimited,
            Code::BlockedByPolicy,
            Code::ToolNotFound,
            Code::ToolInactive,
        ];
        assert!(!refused.into_iter().any(Code::may_have_run));
        let ran = [
            Code::ToolExecutionError,
            Code::Timeout,
            Code::InvalidOutput,
            Code::Cancelled,
        ];
        assert!(ran.into_iter().all(Code::may_have_run));
    }
}
