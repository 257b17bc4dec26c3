//! What a change of a tool does to the requests of the gold set, for whoever makes it.

use super::tools::text;
use crate::cli::Trial;
use crate::client::query;
use crate::out::Out;
use serde_json::Value;

/// What is added to the address of a change.
pub(super) fn asked(trial: &Trial) -> String {
    let yes = |is_wanted: bool| is_wanted.then(|| "true".to_owned());
    query(&[
        ("effect", yes(trial.effect)),
        ("dry_run", yes(trial.dry_run)),
    ])
}

/// The counts in one line, then a line for each request that is answered otherwise. The document of `--json` has it all.
pub(super) fn show(out: &Out, effect: &Value) {
    if out.json || effect.is_null() {
        return;
    }
    let (before, after) = (&effect["right_before"], &effect["right_after"]);
    let counts = format!(
        "right before: {before} of {0}, after: {after} of {0}",
        effect["n"]
    );
    out.line(counts);
    let changed = effect["changed"].as_array().into_iter().flatten();
    let row = |it: &Value| {
        let cells = ["change", "query", "expected", "before", "after"];
        cells.map(|name| text(it, name).to_owned()).to_vec()
    };
    let rows: Vec<Vec<String>> = changed.map(row).collect();
    if !rows.is_empty() {
        out.table(&["change", "request", "expected", "before", "after"], &rows);
    }
}
