//! What others find wrong with a definition that could be read, told at its place in the text.

use crate::json::{Document, Node, NodeKind, Reader, member, path_of_key};
use crate::pointer::parts;
use crate::problem::Problem;

/// What somebody else has found wrong with a definition that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A JSON pointer into the definition, such as `/input_schema/properties/a`.
    pub pointer: String,
    pub expected: &'static str,
    pub found: String,
    pub remedy: &'static str,
}

/// Reports the faults of the definition at `node`.
pub(crate) fn report(
    doc: &Document<'_>,
    node: &Node,
    path: &str,
    faults: Vec<Fault>,
    problems: &mut Vec<Problem>,
) {
    for fault in faults {
        let (place, path) = find(node, &fault.pointer, path.to_owned());
        Reader::new(doc, problems).report(
            place.span.start,
            path,
            fault.expected,
            fault.found,
            fault.remedy,
        );
    }
}

/// The node a JSON pointer leads to and its path, or the last one on the way there.
fn find<'n>(mut node: &'n Node, pointer: &str, mut path: String) -> (&'n Node, String) {
    for part in parts(pointer) {
        let next = match &node.kind {
            NodeKind::Object(members) => {
                member(members, &part).map(|m| (&m.value, path_of_key(&path, &part)))
            }
            NodeKind::Array(items) => {
                let item = part.parse().ok().and_then(|i: usize| items.get(i));
                item.map(|item| (item, format!("{path}[{part}]")))
            }
            _ => None,
        };
        let Some(next) = next else { break };
        (node, path) = next;
    }
    (node, path)
}
