//! How a verdict of the policy is told to whoever called.

use crate::code::Code;
use crate::kind::Failure;
use catalog::caller::Caller;
use catalog::catalogue::Catalogue;
use catalog::policy::{BLOCKED_BY_WHITELIST, Denial, Policy, SubjectKind, Verdict};
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

/// So many tools are named that a name could mean.
const ALIKE_SHOWN: usize = 5;

/// So many of them are looked at.
const ALIKE_MAX: usize = 100;

/// The words for a name that leads to no tool, and the full names of those that it could mean, where there are several.
pub fn not_found(
    catalogue: &Catalogue,
    policy: &Policy,
    caller: &Caller,
    name: &str,
) -> (String, Vec<String>) {
    let alike = match catalogue.find(name) {
        // Hidden from the caller, which nothing may tell.
        Some(_) => &[],
        None => catalogue.alike(name),
    };
    let seen = alike.iter().take(ALIKE_MAX);
    let seen = seen.filter(|it| policy.verdict(caller, &it.tool) != Verdict::Hidden);
    let mut names: Vec<String> = seen.map(|it| it.name.to_string()).collect();
    let more = names.len().saturating_sub(ALIKE_SHOWN);
    names.truncate(ALIKE_SHOWN);
    let shown = names.join(", ");
    let message = match (names.len(), more) {
        (0, _) => format!("Tool '{name}' not found"),
        (1, _) => format!("Tool '{name}' not found; its full name may be {shown}"),
        (_, 0) => format!("'{name}' is ambiguous; call one by its full name: {shown}"),
        _ => format!("'{name}' is ambiguous; call one by its full name: {shown} and {more} more"),
    };
    (message, names)
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
