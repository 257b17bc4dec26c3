//! How a verdict of the policy is told to whoever called.

use crate::code::Code;
use crate::kind::Failure;
use catalog::policy::{BLOCKED_BY_WHITELIST, Denial, SubjectKind, Verdict};
use serde_json::json;

/// Lets an allowed call pass, and no other.
pub(crate) fn judge(tool: &str, verdict: Verdict) -> Result<(), Failure> {
    let denial = match verdict {
        Verdict::Allowed => return Ok(()),
        Verdict::Hidden => {
            let unknown = format!("Tool '{tool}' not found");
            return Err(Failure::new(Code::ToolNotFound, unknown));
        }
        Verdict::Denied(denial) => denial,
    };
    let (code, message, remedy) = told(tool, denial);
    let details = json!({"tool": tool, "remedy": remedy});
    Err(Failure::new(code, message).with_details(details))
}

/// The code, the words and the remedy of a denial.
pub fn told(tool: &str, denial: Denial) -> (Code, String, &'static str) {
    match denial {
        Denial::Scope => (
            Code::Forbidden,
            "This needs the scope 'call'".to_owned(),
            "Take a key with the scope 'call', of a user whose role may call tools.",
        ),
        Denial::Inactive => (
            Code::ToolInactive,
            format!("Tool '{tool}' is switched off"),
            "Its owner or an admin switches it on again.",
        ),
        Denial::OwnerLeft => (
            Code::ToolInactive,
            format!("Tool '{tool}' is out of use: its owner is gone"),
            "An admin gives it to somebody else.",
        ),
        Denial::Whitelist => (
            Code::BlockedByPolicy,
            BLOCKED_BY_WHITELIST.to_owned(),
            "Whoever runs this server adds the tool to TOOL_WHITELIST, or call another one.",
        ),
        Denial::Rule(subject) => (
            Code::BlockedByPolicy,
            match subject {
                SubjectKind::Everyone => "Blocked by the policy for everyone".to_owned(),
                kind => format!("Blocked by the policy for this {}", kind.as_str()),
            },
            "An admin changes the rule; `toolcrib policy explain KEY TOOL` names it.",
        ),
        Denial::Approval => (
            Code::ApprovalRequired,
            format!("Tool '{tool}' runs only after a person has agreed"),
            "Call it from a run, where a person can be asked.",
        ),
    }
}
