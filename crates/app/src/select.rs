//! Which tool a request needs: asked by people, agents and `find_tools`, among the tools that the asker may call.

mod allowed;
mod among;
mod chooser;
mod confirmed;
mod effect;
mod encoders;
mod item;
mod rules;

pub(crate) use allowed::Allowed;
pub use among::Among;
pub(crate) use chooser::{Choice, Chooser};
pub(crate) use confirmed::Confirmed;
pub use confirmed::{CONFIRMED_CHARS_MAX, ConfirmedPage, ConfirmedView};
pub use effect::{ChangedRow, Effect};
pub(crate) use encoders::own as own_encoder;
pub(crate) use item::item;

use crate::App;
use crate::error::{Error, Result};
use allowed::{Named, allowed};
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use selection::{Outcome, Selection};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;
use utoipa::ToSchema;

/// What is done where a request says too little: somebody is asked.
pub const ASKING: &str = "request_human_input";

/// How many tools are told unless it is said, and at most.
const CANDIDATES: usize = 5;
pub const CANDIDATES_MAX: usize = 50;
/// In characters.
pub const QUERY_MAX: usize = 10_000;
const AMONG_MAX: usize = 10_000;
/// Of the named tools that cannot be called so many are told.
const NAMES_SHOWN: usize = 5;

/// What whoever sent a long request should know.
const CUT: &str = "the request is long: only its beginning and its end were read, so say there what is to be done";

/// What somebody wants to have done.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub query: String,
    pub limit: Option<usize>,
    /// Only these tools are looked at, by name; all that the caller may call where it is not said.
    pub among: Option<Vec<String>>,
    /// Whether tools are chosen, too, that somebody has to approve first: by who can wait for that.
    pub may_wait: bool,
}

/// The tool that fits, if any does.
#[derive(Debug, Serialize, ToSchema)]
pub struct SelectView {
    /// call: a tool is to be called; none: no tool is needed, or none fits; ask: it is not said what a call would need.
    #[schema(example = "call")]
    pub outcome: String,
    /// The first of `tools`; null where none is to be called.
    pub tool: Option<String>,
    /// What to call, in this order. `request_human_input` where somebody has to be asked.
    pub tools: Vec<String>,
    /// The tool that the question would be for, where somebody has to be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The best first.
    pub candidates: Vec<CandidateView>,
    /// How sure the outcome is, from 0 to 1.
    pub certainty: f64,
    /// What spoke for the outcome.
    pub because: String,
    /// What to know of how this came about, such as that the embeddings endpoint did not answer; left out where it is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A tool that may be right.
#[derive(Debug, Serialize, ToSchema)]
pub struct CandidateView {
    pub name: String,
    pub score: f64,
    /// What spoke for it.
    pub why: String,
}

impl App {
    /// What a request needs among the tools that the caller may call.
    pub async fn select(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        request: Request,
    ) -> Result<SelectView> {
        let limit = checked(&request)?;
        // Else the first to ask in a new workspace would be told that nothing fits.
        self.servers_awaited().await;
        let choice = self.choice().await?;
        let app = Arc::clone(self);
        let choose = move || {
            let policy = app.executor.policy.load_full();
            let shown = app
                .chooser
                .allowed
                .of(&choice, &policy, &caller, request.may_wait);
            let named = Named::new(request.among.as_deref())?;
            let is_named = |at: usize| named.has(&choice.entries[at]);
            let corpus = &choice.corpus;
            let selected = corpus.select_among(&request.query, &shown, is_named, limit);
            let mut notes: Vec<String> = selected
                .is_cut
                .then(|| CUT.to_owned())
                .into_iter()
                .collect();
            notes.extend(app.chooser.note(&choice, selected.has_meaning));
            let among = request.among.as_deref().unwrap_or_default();
            let catalogue = app.executor.catalogue.load();
            let named = among.iter().filter_map(|name| catalogue.get(name));
            let named: Vec<Arc<Entry>> = named.cloned().collect();
            let is_allowed = allowed(&policy, &named, &caller, request.may_wait);
            let usable = named.iter().zip(is_allowed).filter(|(_, is)| *is);
            let usable: HashSet<&str> = usable.map(|(entry, _)| &*entry.name).collect();
            notes.extend(unusable(among, |name| usable.contains(name)));
            Ok(view(&choice, &selected, notes))
        };
        let chosen = tokio::task::spawn_blocking(choose).await;
        chosen.map_err(|error| Error::Internal(format!("a selection was lost: {error}")))?
    }

    /// The corpus of the catalogue as it is now.
    pub(crate) async fn choice(self: &Arc<Self>) -> Result<Arc<Choice>> {
        self.chooser.of(self).await
    }
}

/// What is not there and what may not be called are told alike: nobody learns here what is hidden from them.
fn unusable(names: &[String], is_there: impl Fn(&str) -> bool) -> Option<String> {
    let lost = names.iter().filter(|name| !is_there(name));
    let lost: Vec<&str> = lost.map(String::as_str).collect();
    let first = lost.iter().take(NAMES_SHOWN).copied();
    let first = first.collect::<Vec<_>>().join(", ");
    match lost.len() {
        0 => None,
        1..=NAMES_SHOWN => Some(format!("tools that cannot be called here: {first}")),
        all => Some(format!(
            "{all} tools that cannot be called here: {first}, …"
        )),
    }
}

fn checked(request: &Request) -> Result<usize> {
    let length = request.query.chars().take(QUERY_MAX + 1).count();
    if request.query.trim().is_empty() || length > QUERY_MAX {
        let why = format!("query: expected a text of 1 to {QUERY_MAX} characters");
        return Err(Error::invalid(why));
    }
    if request
        .among
        .as_ref()
        .is_some_and(|it| it.len() > AMONG_MAX)
    {
        let why = format!("tools: expected at most {AMONG_MAX} names");
        return Err(Error::invalid(why));
    }
    match request.limit {
        None => Ok(CANDIDATES),
        Some(limit @ 1..=CANDIDATES_MAX) => Ok(limit),
        Some(other) => {
            let why =
                format!("limit: expected a whole number from 1 to {CANDIDATES_MAX}, got {other}");
            Err(Error::invalid(why))
        }
    }
}

fn view(choice: &Choice, selected: &Selection, notes: Vec<String>) -> SelectView {
    let name = |at: usize| choice.entries[at].name.to_string();
    let found: Vec<String> = selected.tools.iter().map(|at| name(*at)).collect();
    let (tools, about) = match selected.outcome {
        Outcome::Ask => (vec![ASKING.to_owned()], found.into_iter().next()),
        Outcome::Call | Outcome::None => (found, None),
    };
    let candidate = |it: &selection::Candidate| CandidateView {
        name: name(it.at),
        score: rounded(it.score),
        why: it.why.to_string(),
    };
    SelectView {
        outcome: selected.outcome.to_string(),
        tool: tools.first().cloned(),
        tools,
        about,
        candidates: selected.candidates.iter().map(candidate).collect(),
        certainty: rounded(selected.certainty),
        because: selected.because.clone(),
        notes,
    }
}

/// More digits say nothing.
fn rounded(share: f32) -> f64 {
    (f64::from(share) * 1e4).round() / 1e4
}
