//! Several servers on one registry: who else is there, where the others are reached, and up to which change of theirs this
//! process has followed. On SQLite there is never anybody else.

mod follow;
pub(crate) mod namesake;
mod owner;
mod unread;

use crate::App;
use crate::health::{ReplicaView, ReplicasView};
use crate::open::StartError;
use crate::sealing_keys::KeyFault;
use arc_swap::ArcSwap;
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use store::Db;
use store::feed::Subject;
use store::replicas::{GONE_AFTER_MS, ReplicaRow};
use tokio_util::sync::CancellationToken;

/// How often a server says that it is there: a few times within what makes it count as gone.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// Before the first change: whoever knows no more than this has missed some.
const NOTHING_KNOWN: i64 = -1;

/// After so many heartbeats old changes are forgotten, by whoever comes to it.
const FORGET_EVERY: u64 = 150;

/// Another process that lives.
struct Peer {
    row: ReplicaRow,
    /// Whether what it seals opens here.
    same_keys: bool,
}

/// What operators watch of several servers.
pub(crate) struct Figures {
    pub(crate) others: usize,
    pub(crate) revision: i64,
    /// Since everything was last known.
    pub(crate) looked_ago: Option<Duration>,
    /// Whether changes are told at once.
    pub(crate) hears: bool,
    pub(crate) unread: usize,
    pub(crate) beats_failed: u64,
}

/// What this process knows of the others.
pub struct Replicas {
    /// This process, among all that ever ran.
    pub instance: String,
    /// Where the others reach this process.
    address: ArcSwap<Option<String>>,
    /// Whether it is said already that they do not.
    is_alone_said: AtomicBool,
    /// Of the files on disk, to be compared.
    shelf_hash: ArcSwap<String>,
    /// The others that live.
    peers: ArcSwap<Vec<Peer>>,
    /// The last change that counts here.
    known: AtomicI64,
    /// How many doubts of what is stored are settled.
    settled: AtomicU64,
    /// One after the other looks for changes; how many began to.
    looking: tokio::sync::Mutex<()>,
    looks: AtomicU64,
    /// The last that ended well, and when.
    looked: AtomicU64,
    looked_at: ArcSwap<Option<Instant>>,
    pub(crate) unread: unread::Unread,
    line: Line,
    /// How often this process could not say that it is there.
    beats_failed: AtomicU64,
    search: Search,
    /// Whether no new work should come here.
    leaving: AtomicBool,
    /// Since when this process has said without a gap that it is there, and when it did last.
    steady_since: Mutex<Option<(Instant, Instant)>>,
    stopped: CancellationToken,
}

/// On which changes are told at once.
#[derive(Default)]
struct Line {
    is_open: AtomicBool,
    /// Somebody has changed something, or may have while nobody listened.
    told: tokio::sync::Notify,
}

impl Line {
    fn open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Relaxed);
        self.told.notify_one();
    }
}

/// The same for who else is there.
#[derive(Default)]
struct Search {
    begun: AtomicU64,
    /// When it was looked last; one after the other does.
    last: tokio::sync::Mutex<Option<tokio::time::Instant>>,
}

impl Replicas {
    pub(crate) fn new() -> Self {
        let random = uuid::Uuid::new_v4().simple().to_string();
        Replicas {
            // It is also the name that the database knows a connection by.
            instance: format!("{}{}", owner::BEGINNING, &random[..owner::DIGITS]),
            address: ArcSwap::default(),
            is_alone_said: AtomicBool::new(false),
            shelf_hash: ArcSwap::default(),
            peers: ArcSwap::default(),
            known: AtomicI64::new(0),
            settled: AtomicU64::new(0),
            looking: tokio::sync::Mutex::default(),
            looks: AtomicU64::new(0),
            looked: AtomicU64::new(0),
            looked_at: ArcSwap::default(),
            unread: unread::Unread::default(),
            line: Line::default(),
            beats_failed: AtomicU64::new(0),
            steady_since: Mutex::default(),
            search: Search::default(),
            leaving: AtomicBool::new(false),
            stopped: CancellationToken::new(),
        }
    }

    /// What has changed up to this revision is known.
    pub(crate) fn begin_at(&self, revision: i64) {
        self.known.store(revision, Ordering::SeqCst);
    }

    /// The last change that counts here. Where it is in doubt what was stored none is: everything is read anew, one's own
    /// changes too.
    pub(crate) fn known(&self, store: &Db) -> i64 {
        match self.is_sure(store) {
            true => self.known.load(Ordering::SeqCst),
            false => NOTHING_KNOWN,
        }
    }

    /// The same of each subject: of what cannot be read here it is earlier.
    pub(crate) fn known_of_each(&self, store: &Db) -> [i64; Subject::ALL.len()] {
        self.unread.known_of_each(self.known(store))
    }

    /// Whether everything was read since it was last in doubt what is stored.
    fn is_sure(&self, store: &Db) -> bool {
        self.settled.load(Ordering::SeqCst) == store.doubts()
    }

    /// The files on disk say this from now on.
    pub(crate) fn set_shelf(&self, tools: &str, servers: &str) {
        let mut hash = Sha256::new();
        // The length keeps the end of one from being taken for the beginning of the other.
        hash.update((tools.len() as u64).to_le_bytes());
        hash.update(tools);
        hash.update(servers);
        let hash = hash.finalize();
        let text: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        self.shelf_hash.store(Arc::new(text));
    }

    /// How many others there are.
    pub fn others(&self) -> usize {
        self.peers.load().len()
    }

    pub(crate) fn view(&self) -> ReplicasView {
        let own = self.shelf_hash.load();
        let peers = self.peers.load();
        let others = peers.iter().map(|Peer { row, same_keys }| ReplicaView {
            instance: row.instance.clone(),
            node: row.node.clone(),
            address: row.address.clone(),
            version: row.version.clone(),
            same_files: row.shelf_hash == **own,
            same_keys: *same_keys,
        });
        ReplicasView {
            instance: self.instance.clone(),
            others: others.collect(),
            unread: self.unread.names(),
        }
    }

    /// Where another process is reached; none where it is gone, or told no address.
    pub fn address_of(&self, instance: &str) -> Option<String> {
        let peers = self.peers.load();
        let found = peers.iter().find(|peer| peer.row.instance == instance);
        found.and_then(|peer| peer.row.address.clone())
    }

    /// What operators watch of it.
    pub(crate) fn figures(&self) -> Figures {
        let looked_at = **self.looked_at.load();
        Figures {
            others: self.others(),
            revision: self.known.load(Ordering::SeqCst),
            looked_ago: looked_at.map(|at| at.elapsed()),
            hears: self.line.is_open.load(Ordering::Relaxed),
            unread: self.unread.names().len(),
            beats_failed: self.beats_failed.load(Ordering::Relaxed),
        }
    }

    /// Whether others should be asked.
    pub fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed)
    }

    /// Says once that there are others and that they cannot reach this process.
    fn say_unreached(&self) {
        let is_so = self.address.load().is_none() && self.others() > 0;
        if is_so && !self.is_alone_said.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "other servers on this database are not told where this one is reached, so MCP sessions that begin here are lost behind a proxy; set server.advertise to an address such as http://10.0.0.5:8787"
            );
        }
    }

    /// From now on others should be asked.
    pub fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Whether it may be told who is gone: not before this process has itself been heard of for as long as that takes.
    fn is_steady(&self) -> bool {
        let gap = Duration::from_millis(GONE_AFTER_MS.unsigned_abs());
        let now = Instant::now();
        let mut since = self
            .steady_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let began = match *since {
            Some((began, last)) if now.duration_since(last) < gap => began,
            _ => now,
        };
        *since = Some((began, now));
        now.duration_since(began) >= gap
    }

    pub(crate) fn stop(&self) {
        self.stopped.cancel();
    }
}

impl App {
    /// Whether other servers may change what this one serves.
    pub fn is_shared(&self) -> bool {
        self.store.engine() == "postgres"
    }

    /// The number of the last change that counts here.
    pub fn known_revision(&self) -> i64 {
        self.replicas.known(&self.store)
    }

    /// Tells the others of this process until it stops. Not where one of them seals secrets that do not open here.
    pub(crate) async fn join_replicas(&self) -> Result<(), StartError> {
        if !self.is_shared() {
            return Ok(());
        }
        self.beat().await?;
        let peers = self.replicas.peers.load();
        let stranger = peers.iter().find(|peer| !peer.same_keys);
        let refused = match stranger {
            Some(stranger) => Err(StartError::Sealing(other_keys(&stranger.row))),
            None => self.give_way().await,
        };
        if refused.is_err() {
            self.store.replica_left(&self.replicas.instance).await?;
            return refused;
        }
        tokio::spawn(beat_on(self.me.clone(), self.replicas.stopped.clone()));
        Ok(())
    }

    /// Tells the others where this process is reached.
    pub async fn advertise(&self, address: Option<String>) -> store::Result<()> {
        self.replicas.address.store(Arc::new(address));
        match self.is_shared() {
            true => self.beat().await,
            false => Ok(()),
        }
    }

    /// Says that we are there, and looks who else is.
    async fn beat(&self) -> store::Result<()> {
        let own = ReplicaRow {
            instance: self.replicas.instance.clone(),
            node: self.node.clone(),
            address: (**self.replicas.address.load()).clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            shelf_hash: (**self.replicas.shelf_hash.load()).clone(),
            proof: self.vault.proof(&self.replicas.instance),
            started_ms_ago: 0,
            seen_ms_ago: 0,
        };
        self.store.replica_seen(&own).await?;
        let may_judge = self.replicas.is_steady();
        let mut live = Vec::new();
        let mut gone = Vec::new();
        for row in self.store.replicas().await? {
            match self.is_peer(&row) {
                true => live.push(self.peer(row)),
                false if row.instance == own.instance => {}
                false if !may_judge && self.replicas.is_there(&row.instance) => {
                    live.push(self.peer(row));
                }
                false => gone.push(row),
            }
        }
        // After a time without the database everybody looks as if they were gone.
        for row in gone.into_iter().filter(|_| may_judge) {
            // It has seen to its own where it was started again.
            let is_back = row.node == own.node || live.iter().any(|it| it.row.node == row.node);
            if !is_back {
                self.settle_gone(&row).await;
            }
            self.store.replica_left(&row.instance).await?;
        }
        self.replicas.peers.store(Arc::new(live));
        Ok(())
    }

    /// Whether it is another server that lives. One process at a time has an installation: another of the same name as this
    /// one's is an earlier one.
    fn is_peer(&self, row: &ReplicaRow) -> bool {
        row.seen_ms_ago < GONE_AFTER_MS && row.node != self.node
    }

    fn peer(&self, row: ReplicaRow) -> Peer {
        Peer {
            same_keys: self.vault.proves(&row.proof, &row.instance),
            row,
        }
    }

    /// What a server left behind that ended without a word. Several may do it at once; it is done all the same.
    async fn settle_gone(&self, row: &ReplicaRow) {
        tracing::warn!(
            node = row.node,
            "another server is gone; what it left behind is settled"
        );
        if let Err(error) = self.executor.log.interrupt(&row.node).await {
            tracing::error!(%error, "calls of a server that is gone could not be marked as interrupted");
        }
        if let Err(error) = self.store.release_runs(&row.node).await {
            tracing::error!(%error, "runs of a server that is gone could not be let go");
        }
        if let Err(error) = self.settle_idempotency(&row.node).await {
            tracing::error!(%error, "keyed calls of a server that is gone could not be settled");
        }
    }

    /// The last thing a stopping process says to the others.
    pub(crate) async fn leave_replicas(&self) {
        if let Err(error) = self.store.replica_left(&self.replicas.instance).await {
            tracing::debug!(%error, "the other servers were not told that this one stops");
        }
    }
}

fn other_keys(row: &ReplicaRow) -> KeyFault {
    KeyFault {
        what: format!(
            "another server on this database (node {}) seals secrets with a key that is not known here",
            row.node
        ),
        remedy: format!(
            "give all servers the same TOOLCRIB_SECRET_KEY (or copies of one key file); where that server is gone, start again in {} seconds",
            GONE_AFTER_MS / 1_000
        ),
    }
}

async fn beat_on(app: Weak<App>, stopped: CancellationToken) {
    let mut beats: u64 = 0;
    loop {
        tokio::select! {
            () = stopped.cancelled() => return,
            () = tokio::time::sleep(HEARTBEAT) => {}
        }
        let Some(app) = app.upgrade() else { return };
        beats += 1;
        if let Err(error) = app.beat().await {
            app.replicas.beats_failed.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(%error, "the other servers could not be told that this one is there");
        }
        app.replicas.say_unreached();
        if !beats.is_multiple_of(FORGET_EVERY) {
            continue;
        }
        app.forget_leases().await;
        app.finish_erasures_aside();
        if let Err(error) = app.store.forget_changes().await {
            tracing::warn!(%error, "old changes could not be forgotten");
        }
    }
}
