//! What was understood of a description as a rule, in words: whoever writes one sees whether it counts.

use crate::preference::{Kind, read};

/// A rule of a description.
#[derive(Debug, PartialEq, Eq)]
pub struct Understood {
    /// What it says.
    pub text: String,
    /// The tool that it names.
    pub names: Option<String>,
}

/// The rules of a description, in their order.
#[must_use]
pub fn understood(description: &str) -> Vec<Understood> {
    let rules = read(description, &[]).rules.into_iter();
    rules
        .map(|rule| {
            let when = match rule.condition.as_str() {
                "" => String::new(),
                condition => format!(" if {condition}"),
            };
            let (text, names) = match rule.kind {
                Kind::Prefer(name) => (format!("prefer {name}{when}"), Some(name)),
                Kind::Own => (format!("prefer this one{when}"), None),
                Kind::Only => (format!("only for {}", rule.condition), None),
                Kind::Not => (format!("not for {}", rule.condition), None),
            };
            Understood { text, names }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_is_told_and_nothing_else() {
        let rules = understood(
            "Sends a letter by mail. Prefer courier_letter if it is urgent. Not for invoices. It is the best of all tools.",
        );
        assert_eq!(rules.len(), 2, "{rules:?}");
        assert_eq!(rules[0].names.as_deref(), Some("courier_letter"));
        assert!(rules[0].text.contains("urgent"), "{rules:?}");
        assert!(rules[1].text.contains("invoices"), "{rules:?}");
        assert_eq!(understood("Sends a letter by mail."), []);
    }
}
