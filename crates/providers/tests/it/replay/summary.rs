//! What a replay has counted.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) recordings: usize,
    pub(super) requests: usize,
    pub(super) equal: usize,
    /// Turns of the model in these requests, in its own words and in ours.
    pub(super) echoed: usize,
    pub(super) rebuilt: usize,
    pub(super) changed: Vec<String>,
    pub(super) turns: usize,
    pub(super) calls: usize,
    pub(super) over_http: usize,
    pub(super) streams: usize,
    pub(super) rechunked: usize,
    pub(super) cuts: usize,
    pub(super) cuts_after_the_end: usize,
    pub(super) failures: Vec<String>,
    refused: BTreeMap<String, usize>,
    not_ours: BTreeMap<String, Vec<String>>,
    elsewhere: BTreeMap<String, usize>,
}

impl Summary {
    pub(super) fn fail(&mut self, failure: String) {
        self.failures.push(failure);
    }

    pub(super) fn refused(&mut self, status: u16, class: &str) {
        *self.refused.entry(format!("{status} {class}")).or_default() += 1;
    }

    /// A request that says what we cannot say.
    pub(super) fn not_ours(&mut self, name: &str, why: &str) {
        self.not_ours
            .entry(why.to_owned())
            .or_default()
            .push(name.to_owned());
    }

    /// Something else than a model being asked.
    pub(super) fn elsewhere(&mut self, path: &str) {
        *self.elsewhere.entry(path.to_owned()).or_default() += 1;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary {
            recordings,
            requests,
            equal,
            echoed,
            rebuilt,
            turns,
            calls,
            ..
        } = self;
        writeln!(f, "recordings          {recordings}")?;
        writeln!(
            f,
            "requests equal      {equal} of {requests}, with {echoed} earlier turns in the model's own words and {rebuilt} in ours"
        )?;
        if !self.changed.is_empty() {
            writeln!(
                f,
                "  told otherwise than they were answered: {}",
                self.changed.join(", ")
            )?;
        }
        writeln!(f, "turns               {turns}, with {calls} calls")?;
        let refused: usize = self.refused.values().sum();
        writeln!(f, "errors in class     {refused} {:?}", self.refused)?;
        writeln!(
            f,
            "streams re-chunked  {} ({} streams)",
            self.rechunked, self.streams
        )?;
        writeln!(
            f,
            "streams cut         {} ({} of them after the end)",
            self.cuts, self.cuts_after_the_end
        )?;
        writeln!(
            f,
            "asked over HTTP     {} (with the client, on this machine)",
            self.over_http
        )?;
        let not_ours: usize = self.not_ours.values().map(Vec::len).sum();
        writeln!(
            f,
            "requests not ours   {not_ours} (their answers are read all the same)"
        )?;
        for (why, names) in &self.not_ours {
            writeln!(f, "  {why}: {}", names.join(", "))?;
        }
        let elsewhere: usize = self.elsewhere.values().sum();
        writeln!(f, "other operations    {elsewhere} {:?}", self.elsewhere)?;
        write!(f, "failures            {}", self.failures.len())
    }
}
