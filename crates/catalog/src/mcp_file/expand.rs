//! `${VAR}` and `${VAR:-default}` in the strings of `mcp.json`.

use super::sort_of;
use crate::definition::is_variable_name;
use crate::json::{Node, Reader};
use crate::problem::Problem;

pub(super) struct Expander<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a variable that is not set is a fault of what is read. In a file it is not: the other servers of the file
    /// can do without it.
    pub(super) unset_is_fatal: bool,
    /// The variables that are not set, where that is no fault.
    pub(super) unset: Vec<Problem>,
}

impl<'a> Expander<'a> {
    pub(super) fn new(lookup: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            lookup,
            unset_is_fatal: true,
            unset: Vec::new(),
        }
    }

    /// The string with its variables filled in; `None` after a problem was reported.
    pub(super) fn expand(&mut self, r: &mut Reader<'_>, node: &Node, path: &str) -> Option<String> {
        let Some(text) = node.as_str() else {
            let remedy = "Put the value in double quotes.";
            r.report(node.span.start, path, "a string", sort_of(node), remedy);
            return None;
        };
        let before = r.met;
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((head, after)) = rest.split_once("${") {
            out.push_str(head);
            let Some((inside, tail)) = after.split_once('}') else {
                let remedy = "Close the variable with `}`, as in ${HOME}.";
                r.report(
                    node.span.start,
                    path,
                    "`}` after `${`",
                    "the end of the string",
                    remedy,
                );
                return None;
            };
            match self.value_of(r, node, path, inside) {
                Some(value) => out.push_str(&value),
                None => out.extend(["${", inside, "}"]),
            }
            rest = tail;
        }
        out.push_str(rest);
        (r.met == before).then_some(out)
    }

    fn value_of(
        &mut self,
        r: &mut Reader<'_>,
        node: &Node,
        path: &str,
        inside: &str,
    ) -> Option<String> {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if !is_variable_name(name) {
            let found = format!("`${{{name}}}`");
            let remedy = "Write ${NAME} or ${NAME:-default}; a name has letters, digits and _.";
            r.report(
                node.span.start,
                path,
                "the name of a variable",
                found,
                remedy,
            );
            return None;
        }
        let value = (self.lookup)(name);
        // As in a shell, the default also stands in for an empty value.
        let value = match default {
            Some(default) => value
                .filter(|v| !v.is_empty())
                .or_else(|| Some(default.to_owned())),
            None => value,
        };
        if value.is_none() {
            let expected = format!("the environment variable {name}");
            let remedy =
                format!("Set it before starting (export {name}=…), or write ${{{name}:-default}}.");
            let problem = r
                .doc
                .problem(node.span.start, path, expected, "it is not set", remedy);
            if self.unset_is_fatal {
                r.push(|_| problem);
            } else {
                self.unset.push(problem);
            }
        }
        value
    }
}
