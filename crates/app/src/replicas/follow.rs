//! Following what other servers change: told at once, looked for every few seconds, and right away where somebody asks for
//! something that is not known here.

use crate::App;
use crate::error::{Error, Result};
use crate::kept::Kept;
use crate::replicas::{Line, Replicas};
use crate::writer::Write;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use store::Db;
use store::feed::{Changed, Listener, Subject, Which};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How often changes are looked for where nothing is told: a line may be dead without anybody knowing.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// How long a line may take to be opened; nobody waits for it.
const LINE_OPEN_MAX: Duration = Duration::from_secs(5);

/// How long the line may take to answer.
const LINE_PATIENCE: Duration = Duration::from_secs(2);

/// How long to wait after a reading that failed, at first and at most, before everything is read again that is in doubt.
const DOUBT_PAUSE: Duration = Duration::from_millis(50);
const DOUBT_PAUSE_MAX: Duration = Duration::from_secs(5);

/// How long to wait before a line is opened again that was lost.
const LINE_PAUSE: Duration = Duration::from_millis(100);

impl App {
    /// Follows the others until the process stops.
    pub(crate) fn follow_replicas(&self) {
        if self.is_shared() {
            let replicas = &self.replicas;
            tokio::spawn(listen(self.store.clone(), Arc::clone(replicas)));
            tokio::spawn(follow(self.me.clone(), Arc::clone(replicas)));
        }
    }

    /// Reads everything anew whenever it is in doubt what is stored, until that works.
    pub(crate) fn settle_doubts(&self) {
        let (me, doubts) = (self.me.clone(), self.store.follow_doubts());
        tokio::spawn(settle(me, doubts, self.replicas.stopped.clone()));
    }

    /// Lets everything count that others have changed up to now, and where it is in doubt everything that is stored.
    pub async fn catch_up(&self) -> Result<()> {
        let replicas = &self.replicas;
        if !self.is_shared() && replicas.is_sure(&self.store) {
            return Ok(());
        }
        let before = replicas.looks.load(Ordering::SeqCst);
        let _one_at_a_time = replicas.looking.lock().await;
        // Somebody began to look after this was asked for, and saw everything: that answers it.
        if replicas.looked.load(Ordering::SeqCst) > before {
            return Ok(());
        }
        let look = replicas.looks.fetch_add(1, Ordering::SeqCst) + 1;
        // Before anything is read: a doubt that comes meanwhile is another one.
        let doubts = self.store.doubts();
        let known = replicas.known(&self.store);
        let mut news = self.store.news_since(known).await?;
        let unread = replicas.unread.subjects().into_iter();
        news.changed.extend(unread.map(|it| (it, Which::All)));
        self.take_changes(news.changed, known).await?;
        replicas.known.store(news.revision, Ordering::SeqCst);
        replicas.settled.store(doubts, Ordering::SeqCst);
        replicas.looked.store(look, Ordering::SeqCst);
        replicas.looked_at.store(Arc::new(Some(Instant::now())));
        Ok(())
    }

    /// The same where somebody asks for what is not known here: another server may have it since a moment ago. It is worth
    /// another look afterwards, whoever took it over.
    pub async fn may_have_missed(&self) {
        if let Err(error) = self.catch_up().await {
            tracing::warn!(%error, "changes of other servers could not be looked for");
        }
    }

    /// In the order of subjects: what others refer to comes first. What cannot be taken over keeps nothing else back.
    async fn take_changes(&self, changed: Changed, known: i64) -> Result<()> {
        let mut done = Ok(());
        for (subject, which) in changed {
            match self.take_change(subject, which).await {
                Ok(()) => self.replicas.unread.is_read(subject),
                // What cannot be reached can be read later; what is ours alone, nobody else mends.
                Err(error) if !self.is_shared() || matches!(error, Error::Unavailable(_)) => {
                    tracing::warn!(?subject, %error, "what another server changed could not be taken over");
                    done = Err(error);
                }
                Err(error) => self.replicas.unread.add(subject, known, &error),
            }
        }
        done
    }

    pub(crate) async fn take_change(&self, subject: Subject, which: Which) -> Result<()> {
        match subject {
            Subject::Secrets => self.follow_secrets(which).await?,
            Subject::Tools => {
                let file = crate::watcher::file_caller();
                self.write(file, Write::Follow(which)).await?;
            }
            Subject::Access => {
                let _one_at_a_time = self.access_changes.lock().await;
                self.try_load_access().await?;
            }
            Subject::Sessions => {
                let _one_at_a_time = self.access_changes.lock().await;
                self.load_sessions(which).await?;
            }
            Subject::Policy => {
                let _one_at_a_time = self.access_changes.lock().await;
                self.load_policy().await?;
            }
            Subject::Toolsets => {
                let _one_at_a_time = self.access_changes.lock().await;
                self.load_toolsets().await?;
            }
            Subject::Limits => {
                let _one_at_a_time = self.access_changes.lock().await;
                self.load_limits().await?;
            }
            Subject::Agents => {
                let _one_at_a_time = self.agent_changes.lock().await;
                let all = Kept::default().with(self.store.agents().await?);
                self.agents.store(all.into());
                self.executor.tell_changed();
            }
            Subject::Servers => self.follow_servers().await?,
            Subject::ServerPins => self.follow_pins().await?,
            Subject::ServerTokens => self.follow_sign_ins().await?,
            Subject::Sources => self.follow_sources().await?,
            Subject::Confirmed => self.chooser.confirmed.read_again(&self.store).await?,
            Subject::Erasures => self.finish_erasures_aside(),
        }
        Ok(())
    }

    async fn follow_secrets(&self, which: Which) -> Result<()> {
        let _one_at_a_time = self.vault.changes.lock().await;
        match which {
            Which::All => {
                // Only what was known before: meanwhile somebody may have stored another.
                let before = self.vault.ids();
                let rows = self.store.secrets().await?;
                let is_gone = |id: &uuid::Uuid| !rows.iter().any(|row| row.id == *id);
                let gone: Vec<uuid::Uuid> = before.into_iter().filter(is_gone).collect();
                self.vault.remove(&gone);
                self.vault.put(&rows);
            }
            Which::These(ids) => {
                let ids: Vec<uuid::Uuid> = ids.into_iter().collect();
                let rows = self.store.secrets_by_id(&ids).await?;
                let is_gone = |id: &uuid::Uuid| !rows.iter().any(|row| row.id == *id);
                let gone: Vec<uuid::Uuid> = ids.iter().copied().filter(is_gone).collect();
                self.vault.remove(&gone);
                self.vault.put(&rows);
            }
        }
        Ok(())
    }
}

/// Looks whenever something is told, and every few seconds all the same.
async fn follow(app: Weak<App>, replicas: Arc<Replicas>) {
    loop {
        {
            // Not held while it waits: a server that stops does not wait for this.
            let Some(app) = app.upgrade() else { return };
            if let Err(error) = app.catch_up().await {
                tracing::warn!(%error, "changes of other servers could not be read yet");
            }
        }
        tokio::select! {
            () = replicas.stopped.cancelled() => return,
            () = replicas.line.told.notified() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// Keeps a line open on which changes are told, beside whoever looks for them: a line that cannot be opened holds up nobody.
async fn listen(store: Db, replicas: Arc<Replicas>) {
    let stopped = &replicas.stopped;
    loop {
        let opened = tokio::select! {
            () = stopped.cancelled() => return,
            opened = tokio::time::timeout(LINE_OPEN_MAX, store.listen()) => opened,
        };
        let pause = match opened {
            Ok(Ok(None)) => return,
            Ok(Ok(Some(line))) => {
                replicas.line.open(true);
                tokio::select! {
                    () = stopped.cancelled() => return,
                    () = hear(line, &replicas.line) => {}
                }
                replicas.line.open(false);
                LINE_PAUSE
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "changes of other servers are not told at once, only looked for");
                LOOK_EVERY
            }
            Err(_) => {
                tracing::warn!(
                    "changes of other servers are not told at once, only looked for: a line for it cannot be opened in time"
                );
                LINE_PAUSE
            }
        };
        tokio::select! {
            () = stopped.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Passes on what is told until the line is lost.
async fn hear(mut line: Listener, to: &Line) {
    loop {
        tokio::select! {
            heard = line.heard() => match heard {
                Ok(true) => to.told.notify_one(),
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, "the line on which other servers' changes are told was lost");
                    return;
                }
            },
            () = tokio::time::sleep(LOOK_EVERY) => {
                if !line.answers(LINE_PATIENCE).await {
                    tracing::warn!("the line on which other servers' changes are told does not answer; another is opened");
                    return;
                }
            }
        }
    }
}

async fn settle(app: Weak<App>, mut doubts: watch::Receiver<u64>, stopped: CancellationToken) {
    loop {
        tokio::select! {
            () = stopped.cancelled() => return,
            told = doubts.changed() => if told.is_err() { return },
        }
        let mut pause = DOUBT_PAUSE;
        while !is_settled(&app).await {
            tokio::select! {
                () = stopped.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(DOUBT_PAUSE_MAX);
        }
    }
}

/// Whether everything could be read; also where nobody is left to read it for.
async fn is_settled(app: &Weak<App>) -> bool {
    let Some(app) = app.upgrade() else {
        return true;
    };
    let read = app.catch_up().await;
    read.inspect_err(|error| tracing::warn!(%error, "what is stored could not be read anew yet"))
        .is_ok()
}
