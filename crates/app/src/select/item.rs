//! A tool of the catalogue, as those see it who choose between tools.

use super::confirmed::Requests;
use catalog::catalogue::Entry;
use catalog::tool::Shelf;
use selection::{Item, Parameter};
use std::collections::HashSet;
use uuid::Uuid;

/// What a tool says about other tools counts where whoever runs the server has said it: it is built in, stands in the
/// workspace's file, or an admin owns it. An upstream server speaks for itself.
pub(super) fn is_trusted(entry: &Entry, admins: &HashSet<Uuid>) -> bool {
    match entry.tool.shelf {
        Shelf::Builtin | Shelf::File => true,
        Shelf::Database => admins.contains(&entry.tool.owner),
        Shelf::Server => false,
    }
}

/// Its own examples come first: where there are too many, they are the ones that count.
fn examples(entry: &Entry, confirmed: &Requests) -> Vec<String> {
    let mut examples = entry.tool.definition.examples.clone();
    for row in confirmed.get(&entry.tool.id).into_iter().flatten() {
        if !examples.contains(&row.request) {
            examples.push(row.request.clone());
        }
    }
    examples
}

pub(crate) fn item(entry: &Entry, admins: &HashSet<Uuid>, confirmed: &Requests) -> Item {
    let definition = &entry.tool.definition;
    Item {
        name: definition.name.clone(),
        title: definition.annotations.title.clone(),
        description: definition.description.clone(),
        description_user: definition.description_user.clone(),
        parameters: Parameter::of_schema(&entry.offered_schema()),
        examples: examples(entry, confirmed),
        trusted: is_trusted(entry, admins),
    }
}
