//! What is said of a plan, before and after it is carried out.

use super::plan::{Action, Plan, Step, shown};
use crate::cli::Apply;
use crate::out::{Failure, Out, Paint, Result, printable};
use serde_json::{Value, json};

/// What changes, for people.
pub(super) fn plan(out: &Out, plan: &Plan) {
    if out.json {
        return;
    }
    for step in &plan.steps {
        let (sign, paint) = match step.action {
            Action::Create => ("+", Paint::Green),
            Action::Change => ("~", Paint::Yellow),
            Action::Remove => ("-", Paint::Red),
        };
        let line = printable(&format!("{sign} {}", step.what));
        out.line(out.paint(paint, &line));
        for difference in &step.differences {
            out.line(format!("    {}", printable(&difference.line())));
        }
    }
}

/// How it ended. `done` of the steps were carried out.
pub(super) fn end(
    out: &Out,
    plan: &Plan,
    args: &Apply,
    done: usize,
    failed: Option<Failure>,
) -> Result {
    for note in &plan.notes {
        out.warn(printable(note));
    }
    if out.json {
        out.value(&document(plan, args, done, failed.as_ref()));
    }
    if !plan.left.is_empty() {
        let left = plan.left.join(", ");
        out.done(format!(
            "not in the folder, and left as they are (--prune removes them): {left}"
        ));
    }
    let all = plan.steps.len();
    let Some(failure) = failed else {
        out.done(match (all, args.dry_run) {
            (0, _) => "nothing to change".to_owned(),
            (_, true) => format!("nothing was changed; {} to make", changes(all)),
            (_, false) => format!("{} made", changes(all)),
        });
        return Ok(());
    };
    let names = |steps: &[Step]| {
        let names: Vec<&str> = steps.iter().map(|step| step.what.as_str()).collect();
        match names.is_empty() {
            true => "nothing".to_owned(),
            false => names.join(", "),
        }
    };
    let at = &plan.steps[done].what;
    let errors = failure.errors.iter().map(|error| format!("{at}: {error}"));
    Err(Failure {
        errors: errors.collect(),
        ..failure
    }
    .printed()
    .hint(format!("applied: {}", names(&plan.steps[..done])))
    .hint(format!("not applied: {}", names(&plan.steps[done..])))
    .hint("apply the folder again when that is mended; it goes on where this ended"))
}

fn changes(count: usize) -> String {
    match count {
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    }
}

fn document(plan: &Plan, args: &Apply, done: usize, failed: Option<&Failure>) -> Value {
    let of = |action: Action| -> Vec<Value> {
        let steps = plan.steps.iter().filter(|step| step.action == action);
        steps.map(shown).collect()
    };
    let applied: Vec<&str> = plan.steps[..done]
        .iter()
        .map(|step| step.what.as_str())
        .collect();
    json!({
        "dry_run": args.dry_run,
        "created": of(Action::Create), "changed": of(Action::Change), "removed": of(Action::Remove),
        "left": plan.left, "notes": plan.notes, "applied": applied,
        "failed": failed.map(|failure| json!({"what": plan.steps[done].what, "errors": failure.errors})),
    })
}
