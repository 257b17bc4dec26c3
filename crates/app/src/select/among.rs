//! Looking for tools among those that somebody is shown, under the names and with the descriptions of their toolset.

use super::confirmed::Requests;
use super::{Choice, Chooser, item};
use crate::App;
use crate::error::{Error, Result};
use arc_swap::ArcSwapOption;
use catalog::catalogue::Entry;
use catalog::toolset::{Pick, Shown};
use selection::{Corpus, Item};
use std::collections::HashSet;
use std::sync::{Arc, Weak};
use uuid::Uuid;

/// The tools of one list.
#[derive(Debug)]
pub struct Among {
    tools: Vec<Told>,
    /// What they are found with where their toolset tells other things of them than they do themselves; made when
    /// somebody first looks, and anew when other requests are confirmed or others are admins: the list itself stays the
    /// same then.
    own: ArcSwapOption<Own>,
    /// Where they are among all tools, where nothing else is told of them.
    seen: ArcSwapOption<Seen>,
}

/// The tools of a list among those of a choice.
#[derive(Debug)]
struct Seen {
    choice: Weak<Choice>,
    shown: selection::Shown,
    /// Of each tool of the choice, its place in the list.
    places: Vec<Option<usize>>,
}

#[derive(Debug)]
struct Own {
    corpus: Corpus,
    shown: selection::Shown,
    confirmed: Arc<Requests>,
    admins: Arc<HashSet<Uuid>>,
}

#[derive(Debug)]
struct Told {
    name: Arc<str>,
    entry: Arc<Entry>,
    pick: Option<Pick>,
}

impl Told {
    fn is_as_it_is(&self) -> bool {
        let pick = self.pick.as_ref();
        pick.is_none_or(|it| it.name.is_none() && it.description.is_none())
    }
}

impl Among {
    pub fn new(shown: &[Shown<'_>]) -> Self {
        let told = |it: &Shown<'_>| Told {
            name: it.name.into(),
            entry: Arc::clone(it.entry),
            pick: it.pick.cloned(),
        };
        Among {
            tools: shown.iter().map(told).collect(),
            own: ArcSwapOption::empty(),
            seen: ArcSwapOption::empty(),
        }
    }

    pub fn len(&self) -> usize {
        self.tools.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool at a place of the list.
    pub fn shown(&self, at: usize) -> Shown<'_> {
        let told = &self.tools[at];
        Shown {
            name: &told.name,
            entry: &told.entry,
            pick: told.pick.as_ref(),
        }
    }

    /// The places of the tools that fit best, the best first.
    fn best(
        &self,
        chooser: &Chooser,
        choice: &Arc<Choice>,
        query: &str,
        most: usize,
    ) -> Vec<usize> {
        if !self.tools.iter().all(Told::is_as_it_is) {
            let own = self.own(chooser, choice);
            let found = own.corpus.select_among(query, &own.shown, |_| true, most);
            return found.candidates.into_iter().map(|it| it.at).collect();
        }
        let seen = self.seen(choice);
        let corpus = &choice.corpus;
        let found = corpus.select_among(query, &seen.shown, |_| true, most);
        let found = found.candidates.into_iter();
        found.filter_map(|it| seen.places[it.at]).collect()
    }

    fn seen(&self, choice: &Arc<Choice>) -> Arc<Seen> {
        let of = Arc::downgrade(choice);
        let made = self.seen.load_full();
        if let Some(made) = made.filter(|it| it.choice.ptr_eq(&of)) {
            return made;
        }
        let mut places: Vec<Option<usize>> = vec![None; choice.entries.len()];
        for (place, told) in self.tools.iter().enumerate() {
            let found = choice
                .entries
                .binary_search_by(|it| it.name.cmp(&told.entry.name));
            if let Ok(at) = found {
                places[at] = Some(place);
            }
        }
        let seen = Arc::new(Seen {
            shown: choice.corpus.shown(|at| places[at].is_some()),
            places,
            choice: of,
        });
        self.seen.store(Some(Arc::clone(&seen)));
        seen
    }

    fn own(&self, chooser: &Chooser, choice: &Choice) -> Arc<Own> {
        let made = self.own.load_full();
        let is_current = |it: &Arc<Own>| {
            Arc::ptr_eq(&it.confirmed, &choice.confirmed)
                && it.admins == choice.admins
                && (it.corpus.is_whole() || !choice.corpus.is_whole())
        };
        let current = made.filter(is_current);
        current.unwrap_or_else(|| {
            let corpus = chooser.apart(choice, &self.items(choice));
            let own = Arc::new(Own {
                shown: corpus.shown(|_| true),
                corpus,
                confirmed: Arc::clone(&choice.confirmed),
                admins: Arc::clone(&choice.admins),
            });
            self.own.store(Some(Arc::clone(&own)));
            own
        })
    }

    fn items(&self, choice: &Choice) -> Vec<Item> {
        let items = self.tools.iter().map(|told| {
            let mut item = item(&told.entry, &choice.admins, &choice.confirmed);
            if let Some(pick) = &told.pick {
                item.name = told.name.to_string();
                let own = pick.description.clone();
                item.description = own.unwrap_or(item.description);
            }
            item
        });
        items.collect()
    }
}

impl App {
    /// The places in a list of the tools that fit a few words best, the best first.
    pub async fn find(
        self: &Arc<Self>,
        among: &Arc<Among>,
        query: &str,
        most: usize,
    ) -> Result<Vec<usize>> {
        let choice = self.choice().await?;
        let (app, among, query) = (Arc::clone(self), Arc::clone(among), query.to_owned());
        let look = move || among.best(&app.chooser, &choice, &query, most);
        let found = tokio::task::spawn_blocking(look).await;
        found.map_err(|error| Error::Internal(format!("a search for tools was lost: {error}")))
    }
}
