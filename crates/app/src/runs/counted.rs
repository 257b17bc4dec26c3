//! What the runs of this process came to, for `/metrics`: endings, turns of models, their tokens and cost.

use crate::metrics::Exposition;
use agent::entry::Status;
use providers::Usage;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whoever makes agents names models: beyond so many they are counted together.
const MODELS_MAX: usize = 200;
const OTHER: &str = "(other)";

#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    ended: BTreeMap<&'static str, u64>,
    by_model: BTreeMap<String, Used>,
}

#[derive(Debug, Default)]
struct Used {
    turns: u64,
    failed: u64,
    input: u64,
    output: u64,
    cost: f64,
}

impl Counted {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note_end(&self, status: Status) {
        *self.lock().ended.entry(status.as_str()).or_default() += 1;
    }

    pub(crate) fn note_turn(&self, model: &str, usage: &Usage, cost: Option<f64>) {
        self.note(model, |used| {
            used.turns += 1;
            used.input += usage.input_tokens;
            used.output += usage.output_tokens;
            used.cost += cost.unwrap_or(0.0);
        });
    }

    /// A model that did not answer.
    pub(crate) fn note_failure(&self, model: &str) {
        self.note(model, |used| used.failed += 1);
    }

    fn note(&self, model: &str, count: impl FnOnce(&mut Used)) {
        let mut counts = self.lock();
        let by_model = &mut counts.by_model;
        let is_room = by_model.len() < MODELS_MAX || by_model.contains_key(model);
        let name = if is_room { model } else { OTHER };
        count(by_model.entry(name.to_owned()).or_default());
    }

    pub(crate) fn tell(&self, under_way: usize, to: &mut Exposition) {
        let counts = self.lock();
        let what =
            "Runs that this server drives now; those that wait for somebody are not among them.";
        to.one("toolcrib_runs_running", "gauge", what, under_way);
        let name = "toolcrib_runs_total";
        to.about(name, "counter", "Runs that ended here, by how.");
        for (status, count) in &counts.ended {
            to.sample(name, &[("status", status)], count);
        }
        let name = "toolcrib_model_turns_total";
        let what = "Turns that models of runs were asked for, by whether they answered.";
        to.about(name, "counter", what);
        for (model, used) in &counts.by_model {
            for (status, count) in [("success", used.turns), ("error", used.failed)] {
                to.sample(name, &[("model", model), ("status", status)], count);
            }
        }
        let name = "toolcrib_model_tokens_total";
        let what = "Tokens that runs were charged for, read (input) and written (output).";
        to.about(name, "counter", what);
        for (model, used) in &counts.by_model {
            for (kind, count) in [("input", used.input), ("output", used.output)] {
                to.sample(name, &[("model", model), ("kind", kind)], count);
            }
        }
        let name = "toolcrib_model_cost_total";
        let what = "What they cost, in the currency of runs.prices; 0 where no price is known.";
        to.about(name, "counter", what);
        for (model, used) in &counts.by_model {
            to.sample(name, &[("model", model)], used.cost);
        }
    }
}
