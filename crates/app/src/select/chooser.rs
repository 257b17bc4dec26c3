//! Keeps what requests are compared with: made in the background when tools change, and from vectors that were made
//! before where there are any.

use super::Allowed;
use super::confirmed::{Confirmed, Requests};
use super::encoders::{Endpoint, own};
use super::item::item;
use crate::App;
use crate::error::{Error, Result};
use arc_swap::ArcSwapOption;
use catalog::catalogue::{Catalogue, Entry};
use selection::{Corpus, Encode, Item, Vectors};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use uuid::Uuid;
use vectors::Embeddings;

/// Where vectors are kept, in the data folder.
const FILE: &str = "selection.vectors";

/// A start has better things to do at first. Whoever asks before that waits a little longer for their answer.
const PAUSE_FIRST: Duration = Duration::from_secs(3);

/// Many changes in a row are taken together.
const PAUSE: Duration = Duration::from_millis(200);

/// So many texts are encoded while somebody waits; tools whose texts come later are found by their words until then.
/// Nobody waits for an endpoint.
const AT_ONCE: usize = 1_000;
/// So many at a time in the background, so that a change is taken up in between.
const STEP: usize = 1_000;
const STEP_ENDPOINT: usize = 64;
/// How long somebody waits who could be answered by what there was before.
const PATIENCE: Duration = Duration::from_secs(2);
/// So many vectors of texts that no tool has, from changes that were only tried, are kept for who tries again.
const STRAY_MAX: usize = 5_000;
/// How long to wait where nothing could be encoded at all: the endpoint is away.
const RETRY: Duration = Duration::from_secs(30);

/// The tools of one catalogue, ready to be chosen from.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) catalogue: Arc<Catalogue>,
    /// In the order of the corpus.
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) corpus: Corpus,
    pub(crate) admins: Arc<HashSet<Uuid>>,
    pub(crate) confirmed: Arc<Requests>,
}

impl Choice {
    fn items(&self) -> Vec<Item> {
        items(&self.entries, &self.admins, &self.confirmed)
    }
}

pub(crate) struct Chooser {
    encoder: Arc<dyn Encode>,
    /// The same where it is a model behind an endpoint.
    endpoint: Option<Arc<Endpoint>>,
    made: ArcSwapOption<Choice>,
    /// One at a time makes the next one.
    making: tokio::sync::Mutex<()>,
    /// None until they are read from their file.
    vectors: Mutex<Option<Vectors>>,
    file: PathBuf,
    gold: PathBuf,
    pub(crate) confirmed: Confirmed,
    pub(crate) allowed: Allowed,
    /// Whether somebody makes in the background what is left out where it would take long.
    is_followed: AtomicBool,
    /// Whether anybody has asked.
    asked: watch::Sender<bool>,
    at_once: usize,
    step: usize,
    /// How many vectors were made.
    encoded: AtomicUsize,
    /// And how many of them since the last tidying for what was only tried.
    strays: AtomicUsize,
    is_unsaved: AtomicBool,
}

async fn made(app: &Arc<App>, allowance: Option<usize>) -> Result<Arc<Choice>> {
    let maker = Arc::clone(app);
    let make = move || maker.chooser.make(&maker, allowance);
    let made = tokio::task::spawn_blocking(make).await;
    made.map_err(|error| Error::Internal(format!("the tools were lost: {error}")))
}

impl Chooser {
    /// `model` is asked instead of the program's own encoder, where there is one.
    pub(crate) fn new(
        data: &Path,
        gold: PathBuf,
        confirmed: Confirmed,
        model: Option<Arc<Embeddings>>,
    ) -> std::result::Result<Self, encoder::Error> {
        let endpoint = model.map(|model| Arc::new(Endpoint::new(model)));
        let (encoder, at_once, step): (Arc<dyn Encode>, usize, usize) = match &endpoint {
            Some(endpoint) => (Arc::clone(endpoint) as _, 0, STEP_ENDPOINT),
            None => (own()?, AT_ONCE, STEP),
        };
        Ok(Chooser {
            encoder,
            endpoint,
            made: ArcSwapOption::empty(),
            making: tokio::sync::Mutex::default(),
            vectors: Mutex::default(),
            file: data.join(FILE),
            gold,
            confirmed,
            allowed: Allowed::default(),
            is_followed: AtomicBool::new(false),
            asked: watch::Sender::new(false),
            at_once,
            step,
            encoded: AtomicUsize::new(0),
            strays: AtomicUsize::new(0),
            is_unsaved: AtomicBool::new(false),
        })
    }

    /// The project's own requests, of which it is known what is right.
    pub(crate) fn gold(&self) -> &Path {
        &self.gold
    }

    /// Follows the catalogue for as long as there is an app, so that whoever asks need not wait.
    pub(crate) fn follow(app: &Arc<App>) {
        app.chooser.is_followed.store(true, Ordering::Relaxed);
        let mut changes = app.executor.changes();
        let mut asked = app.chooser.asked.subscribe();
        let is_used = app.chooser.file.exists();
        let endpoint = app.chooser.endpoint.clone();
        let other_model = async move || match &endpoint {
            Some(endpoint) => endpoint.changed.notified().await,
            None => std::future::pending().await,
        };
        let app = Arc::downgrade(app);
        tokio::spawn(async move {
            // Where nobody ever asks, nothing is encoded: that takes 25 MB of the model.
            if !is_used && asked.wait_for(|it| *it).await.is_err() {
                return;
            }
            tokio::time::sleep(PAUSE_FIRST).await;
            loop {
                let Some(app) = app.upgrade() else { return };
                changes.mark_unchanged();
                let pause = app.chooser.go_on(&app).await;
                drop(app);
                tokio::time::sleep(PAUSE).await;
                // What is not whole is gone on with, whether something else changes or not.
                let again = async {
                    match pause {
                        None => std::future::pending().await,
                        Some(pause) => tokio::time::sleep(pause).await,
                    }
                };
                let changed = tokio::select! {
                    changed = changes.changed() => changed,
                    () = other_model() => Ok(()),
                    () = again => Ok(()),
                };
                if changed.is_err() {
                    return;
                }
            }
        });
    }

    /// Makes some more of what is missing, and says when to come again if not all of it is there.
    async fn go_on(&self, app: &Arc<App>) -> Option<Duration> {
        let encoder = Arc::clone(&self.encoder);
        // Without a lock: it may take long.
        let is_prepared = tokio::task::spawn_blocking(move || encoder.prepare()).await;
        let before = self.encoded.load(Ordering::Relaxed);
        let choice = match self.completed(app).await {
            Ok(choice) => choice,
            Err(error) => {
                tracing::error!(%error, "tools cannot be chosen from");
                return None;
            }
        };
        let is_more = self.encoded.load(Ordering::Relaxed) > before;
        let is_whole = choice.corpus.is_whole() && is_prepared.unwrap_or(false);
        if is_whole && self.is_unsaved.swap(false, Ordering::Relaxed) {
            let saver = Arc::clone(app);
            let save = move || saver.chooser.save(&choice);
            let _ = tokio::task::spawn_blocking(save).await;
        }
        match (is_whole, is_more) {
            (true, _) => None,
            (false, true) => Some(Duration::ZERO),
            (false, false) => Some(RETRY),
        }
    }

    /// What there is to choose from right now. Who asks while it is being made waits for it, but not for an endpoint that
    /// takes long: then they are given what there was before.
    pub(crate) async fn of(&self, app: &Arc<App>) -> Result<Arc<Choice>> {
        if let Some(made) = self.current(app) {
            return Ok(made);
        }
        self.asked.send_replace(true);
        let turn = self.making.lock();
        let _turn = match self.made.load_full() {
            None => turn.await,
            Some(old) => match tokio::time::timeout(PATIENCE, turn).await {
                Ok(turn) => turn,
                Err(_) => return Ok(old),
            },
        };
        let is_followed = self.is_followed.load(Ordering::Relaxed);
        match self.current(app) {
            Some(made) => Ok(made),
            // A short command has nobody behind it who would make the rest.
            None => made(app, is_followed.then_some(self.at_once)).await,
        }
    }

    /// The same with more of the vectors that are still missing.
    async fn completed(&self, app: &Arc<App>) -> Result<Arc<Choice>> {
        let _turn = self.making.lock().await;
        match self.current(app).filter(|it| it.corpus.is_whole()) {
            Some(made) => Ok(made),
            None => made(app, Some(self.step)).await,
        }
    }

    fn current(&self, app: &App) -> Option<Arc<Choice>> {
        let made = self.made.load_full()?;
        let catalogue = app.executor.catalogue.load();
        let is_current = made.corpus.fits()
            && Arc::ptr_eq(&made.catalogue, &catalogue)
            && made.admins == *app.access.load().admins()
            && Arc::ptr_eq(&made.confirmed, &self.confirmed.counted());
        is_current.then_some(made)
    }

    fn make(&self, app: &App, allowance: Option<usize>) -> Arc<Choice> {
        // Who waits is answered without an endpoint that does not answer.
        let allowance = match allowance {
            None if !(self.encoder.is_there() && self.encoder.prepare()) => Some(0),
            asked => asked,
        };
        let catalogue = app.executor.catalogue.load_full();
        let admins = Arc::clone(app.access.load().admins());
        let confirmed = self.confirmed.counted();
        let entries: Vec<Arc<Entry>> = catalogue.after(None).cloned().collect();
        let items = items(&entries, &admins, &confirmed);
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        let vectors = vectors.get_or_insert_with(|| self.read());
        let before = vectors.made();
        vectors.allow(allowance);
        let is_of_use = |it: &Arc<Choice>| it.corpus.is_ready() && it.corpus.fits();
        let corpus = match self.made.load_full().filter(is_of_use) {
            Some(made) => made.corpus.with(&items, vectors),
            None => Corpus::new(&items, Arc::clone(&self.encoder), vectors),
        };
        let choice = Arc::new(Choice {
            catalogue,
            entries,
            corpus,
            admins,
            confirmed,
        });
        self.made.store(Some(Arc::clone(&choice)));
        let count = vectors.made() - before;
        self.encoded.fetch_add(count, Ordering::Relaxed);
        if count > 0 {
            self.is_unsaved.store(true, Ordering::Relaxed);
        }
        if count > 0 && allowance.is_none() {
            self.write(vectors);
        }
        choice
    }

    /// The same for other items, which nobody else asks for. Without new vectors where those are being made.
    pub(crate) fn apart(&self, choice: &Choice, items: &[Item]) -> Corpus {
        let Ok(mut vectors) = self.vectors.try_lock() else {
            let mut none = Vectors::new(self.encoder.id());
            none.allow(Some(0));
            return choice.corpus.with(items, &mut none);
        };
        let vectors = vectors.get_or_insert_with(|| self.read());
        vectors.allow(Some(self.at_once));
        self.tried(choice, items, vectors)
    }

    /// The same with the vectors of what is new, for who has time to wait for them.
    pub(crate) fn apart_thoroughly(&self, choice: &Choice, items: &[Item]) -> Corpus {
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        let vectors = vectors.get_or_insert_with(|| self.read());
        vectors.allow(Some(self.at_once.max(STEP_ENDPOINT)));
        self.tried(choice, items, vectors)
    }

    /// Whoever tries many descriptions does not fill the memory with vectors that nobody will ask for.
    fn tried(&self, choice: &Choice, items: &[Item], vectors: &mut Vectors) -> Corpus {
        let before = vectors.made();
        let corpus = choice.corpus.with(items, vectors);
        let new = vectors.made() - before;
        if self.strays.fetch_add(new, Ordering::Relaxed) + new > STRAY_MAX {
            self.strays.store(0, Ordering::Relaxed);
            Corpus::tidy(&choice.items(), vectors);
        }
        corpus
    }

    /// What whoever asked should know of how tools were ranked: not by what the endpoint would have said.
    pub(crate) fn note(&self, choice: &Choice, has_meaning: bool) -> Option<String> {
        let endpoint = self.endpoint.as_ref()?;
        let is_whole = choice.corpus.is_whole();
        if has_meaning && is_whole {
            return None;
        }
        let which = match has_meaning {
            true => "some tools were ranked by their words alone",
            false => "tools were ranked by their words alone, not by what they mean",
        };
        Some(match endpoint.trouble() {
            Some(why) => format!(
                "{which}: {why}. `toolcrib doctor` looks at the endpoint; without vectors.embeddings_url (TEXT_EMBEDDING_MODEL_URL) the encoder inside the program is used"
            ),
            None => format!(
                "{which}: the embeddings endpoint has not given all vectors yet; ask again in a moment"
            ),
        })
    }

    /// Keeps the vectors that these tools need, and forgets the others.
    fn save(&self, choice: &Choice) {
        let items = choice.items();
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vectors) = vectors.as_mut() {
            Corpus::tidy(&items, vectors);
            self.write(vectors);
        }
    }

    fn read(&self) -> Vectors {
        let known = std::fs::read(&self.file).ok();
        let known = known.and_then(|bytes| Vectors::from_bytes(&bytes));
        // They are only made once more where they are lost.
        known.unwrap_or_else(|| Vectors::new(self.encoder.id()))
    }

    fn write(&self, vectors: &Vectors) {
        let new = self.file.with_extension("new");
        let written = std::fs::write(&new, vectors.to_bytes());
        if let Err(error) = written.and_then(|()| std::fs::rename(&new, &self.file)) {
            tracing::warn!(%error, "the vectors of tools are not kept, and made anew at the next start");
        }
    }
}

fn items(entries: &[Arc<Entry>], admins: &HashSet<Uuid>, confirmed: &Requests) -> Vec<Item> {
    let items = entries.iter();
    items.map(|it| item(it, admins, confirmed)).collect()
}
