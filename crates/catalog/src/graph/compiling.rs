//! How much there is to compile. The validator compiles what a reference leads to once for every order of `$id`s on
//! the way there, because `$dynamicRef` could mean something else each time: a few dozen can be more than it ever ends.

use super::subschema::Subschema;
use jsonschema::Uri;
use std::collections::HashSet;
use std::sync::Arc;

/// Subschemas to compile: a second or two.
const COMPILED_MAX: usize = 200_000;
/// The bases on the way to a subschema are kept and compared with it; so many cost as much as one subschema.
const BASES_COMPARED: usize = 16;

enum Task<'r> {
    Compile(Subschema<'r>),
    Follow(Subschema<'r>, &'static str, &'r str),
    /// What the reference leads to is compiled.
    Finish(Arc<Uri<String>>),
}

/// Whether the validator can be asked to compile the document.
pub(super) fn is_bounded(root: Subschema<'_>) -> bool {
    let mut compiled = 0;
    let mut known = HashSet::new();
    // A reference to what is being compiled leads back to it, whatever the way.
    let mut unfinished = HashSet::new();
    let mut tasks = vec![Task::Compile(root)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Compile(schema) => {
                compiled += 1 + schema.scope().iter().count() / BASES_COMPARED;
                if compiled > COMPILED_MAX {
                    return false;
                }
                let references = schema.references();
                tasks.extend(references.map(|(k, r)| Task::Follow(schema.clone(), k, r)));
                schema.each_part(|keyword, _, part| {
                    let is_applied = !matches!(keyword, "$defs" | "definitions" | "contentSchema");
                    tasks.extend(part.ok().filter(|_| is_applied).map(Task::Compile));
                });
            }
            Task::Follow(schema, keyword, reference) => {
                let target = schema.target(keyword, reference);
                let (Ok(target), Ok(address)) = (target, schema.address(reference)) else {
                    continue;
                };
                let is_new = !unfinished.contains(&address)
                    && known.insert((address.clone(), target.scope()));
                if is_new {
                    unfinished.insert(address.clone());
                    tasks.push(Task::Finish(address));
                    tasks.push(Task::Compile(target));
                }
            }
            Task::Finish(address) => {
                unfinished.remove(&address);
            }
        }
    }
    true
}
