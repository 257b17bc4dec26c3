//! What became of tools that were to be taken over from somewhere else, and how it is told.

use crate::out::{Failure, Out, Result};

#[derive(Default)]
pub(super) struct TakenOver {
    pub(super) added: Vec<String>,
    pub(super) replaced: Vec<String>,
    pub(super) same: Vec<String>,
    /// Those that were left out, with the reason.
    pub(super) failed: Vec<String>,
}

impl TakenOver {
    pub(super) fn is_any(&self) -> bool {
        !self.added.is_empty() || !self.replaced.is_empty()
    }

    /// For people; what `--json` prints is there by then.
    pub(super) fn tell(&self, out: &Out, dry_run: bool) -> Result {
        let would = if dry_run { "would be " } else { "" };
        for (what, names) in [("added", &self.added), ("replaced", &self.replaced)] {
            if !names.is_empty() {
                out.done(format!("{would}{what}: {}", names.join(", ")));
            }
        }
        if !self.same.is_empty() {
            out.done(format!("there already: {}", self.same.join(", ")));
        }
        if self.failed.is_empty() {
            return Ok(());
        }
        let mut failure = Failure::failed("");
        failure.errors = self.failed.clone();
        Err(failure.printed().hint(self.rest(dry_run)))
    }

    /// What became of those that did not fail.
    pub(super) fn rest(&self, dry_run: bool) -> &'static str {
        match (self.is_any(), dry_run) {
            (true, false) => "the others were taken over",
            (true, true) => "the others would be taken over",
            (false, false) => "nothing was taken over",
            (false, true) => "nothing would be taken over",
        }
    }
}
