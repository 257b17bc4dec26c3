//! The one queue that every change of the catalogue passes (A5). It drains in groups: each group is one
//! database transaction, one replacement of `tools.json` and one new snapshot, and only then is anyone told.

mod disk;
mod follow;

use crate::auth::AuthChange;
use crate::error::{Error, Result};
use crate::exchange::WriteError;
use crate::plan::Plan;
use crate::reassign::Reassign;
use crate::replicas::Replicas;
use crate::shelf::FileShelf;
use crate::status::ShelfStatus;
use crate::vault::Vault;
use arc_swap::ArcSwap;
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::clock::Clock;
use catalog::mcp_file::McpFile;
use catalog::problem::Problem;
use catalog::tool::{Definition, Millis, Shelf, Tool};
use catalog::tools_file::edit;
use disk::Blocked;
use executor::Executor;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use store::Db;
use store::feed::Which;
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

/// How many changes one group takes at most; also the queue's length.
const GROUP_MAX: usize = 256;

/// How often a group is decided anew because another server was faster.
const CONFLICTS_MAX: usize = 20;

/// One change somebody asked for.
#[derive(Debug, Clone)]
pub enum Write {
    Create {
        shelf: Shelf,
        definition: Definition,
        /// Of a tool of the database shelf.
        owner: Uuid,
        /// None where it is made now.
        created_at: Option<Millis>,
    },
    /// By id, not by name: a name may be another tool's id, or another tool's by the time it is this one's turn.
    Update {
        id: Uuid,
        definition: Definition,
        auth: AuthChange,
        expected_version: Option<i64>,
        action: &'static str,
    },
    Delete {
        id: Uuid,
        expected_version: Option<i64>,
    },
    /// Brings a deleted tool back as it was.
    Restore {
        id: Uuid,
        shelf: Shelf,
        definition: Definition,
    },
    /// Gives what one user owns to another.
    Reassign(Arc<Reassign>),
    /// Looks at the files on disk.
    Reload,
    /// Takes over what other servers have changed on the database shelf.
    Follow(Which),
    /// An upstream server tells what it has.
    Server { name: Arc<str>, tools: Vec<Tool> },
}

/// A change on its way, with where its answer goes.
pub struct Job {
    pub write: Write,
    /// It is only decided, and nothing is changed.
    pub dry_run: bool,
    pub caller: Arc<Caller>,
    pub reply: oneshot::Sender<Result<Option<Arc<Entry>>>>,
}

/// How environment variables are looked up in `mcp.json`.
pub type EnvLookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

pub struct Writer {
    pub store: Db,
    pub executor: Arc<Executor>,
    pub clock: Clock,
    pub workspace: PathBuf,
    pub shelf: FileShelf,
    pub mcp_text: String,
    pub servers: watch::Sender<Arc<McpFile>>,
    pub env: EnvLookup,
    pub(crate) vault: Arc<Vault>,
    /// Compiled-in tools, and those of upstream servers, by name: they come back when the file no longer overrides them.
    pub given: HashMap<String, Tool>,
    /// Database tools whose name the file shelf took.
    pub shadowed: HashMap<String, Tool>,
    pub status: Arc<ArcSwap<ShelfStatus>>,
    pub(crate) replicas: Arc<Replicas>,
}

/// What was decided about one change.
enum Outcome {
    /// It is about no tool in particular.
    Nothing,
    /// This tool is as it says, once the group is committed.
    Tool(Uuid),
    /// This is what would become of the tool.
    WouldBe(Option<Arc<Entry>>),
}

/// What became of a group.
enum Commit {
    Done,
    /// The file changed under our hands: look again.
    Again,
    FileFailed(String),
    Failed(Error),
}

impl Writer {
    /// Runs until every sender is gone, on a thread of its own: it waits for disks.
    pub fn spawn(self) -> (mpsc::Sender<Job>, std::thread::JoinHandle<()>) {
        let (sender, receiver) = mpsc::channel(GROUP_MAX);
        let runtime = tokio::runtime::Handle::current();
        let work = move || runtime.block_on(self.run(receiver));
        let thread = std::thread::Builder::new()
            .name("catalogue-writer".to_owned())
            .spawn(work)
            .expect("the system can start a thread at start-up");
        (sender, thread)
    }

    /// The first commit, before anyone can ask for another. Other servers may read the same file for the first time, too.
    pub(crate) async fn commit_first(
        &mut self,
        definitions: Vec<Definition>,
        text: String,
    ) -> Result<()> {
        let mut tries = 0;
        loop {
            let base = self.executor.catalogue.load_full();
            let mut plan = Plan::new(base, self.clock.now());
            plan.sync_file(self, definitions.clone(), text.clone())
                .await?;
            match self.commit(plan).await {
                Commit::Done => break,
                Commit::Again => {
                    let why = "tools.json changed while it was read; start again";
                    return Err(Error::conflict(why));
                }
                Commit::FileFailed(why) => return Err(Error::Unavailable(why)),
                Commit::Failed(Error::Conflict { .. }) if tries < CONFLICTS_MAX => tries += 1,
                Commit::Failed(error) => return Err(error),
            }
        }
        self.replicas.set_shelf(&self.shelf.text, &self.mcp_text);
        Ok(())
    }

    async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut group = Vec::with_capacity(GROUP_MAX);
        while jobs.recv_many(&mut group, GROUP_MAX).await > 0 {
            self.process(std::mem::take(&mut group)).await;
        }
    }

    async fn process(&mut self, jobs: Vec<Job>) {
        let mut blocked: Option<Blocked> = None;
        let mut conflicts = 0;
        loop {
            let (plan, results) = self.plan(&jobs, &mut blocked).await;
            let changes_nothing = plan.is_empty();
            let commit = if changes_nothing {
                Commit::Done
            } else {
                self.commit(plan).await
            };
            match commit {
                Commit::Again => {}
                Commit::FileFailed(why) => blocked = Some(Blocked::Io(why)),
                Commit::Done => return self.answer(jobs, results),
                // Another server was faster: what it did may leave room for these, or be told to whoever asked.
                Commit::Failed(Error::Conflict { .. })
                    if conflicts < CONFLICTS_MAX && self.follow_now().await =>
                {
                    conflicts += 1;
                }
                // One change that cannot be stored must not take its neighbours along.
                Commit::Failed(error)
                    if jobs.len() > 1 && !matches!(error, Error::Unavailable(_)) =>
                {
                    for job in jobs {
                        Box::pin(self.process(vec![job])).await;
                    }
                    return;
                }
                Commit::Failed(error) => return refuse_all(jobs, results, &error),
            }
        }
    }

    /// Decides about every job of the group in its order, against the state the earlier ones leave.
    async fn plan(
        &mut self,
        jobs: &[Job],
        blocked: &mut Option<Blocked>,
    ) -> (Plan, Vec<Result<Outcome>>) {
        let base = self.executor.catalogue.load_full();
        let mut plan = Plan::new(base, self.clock.now());
        if jobs.iter().any(|job| touches_files(&plan, &job.write)) {
            match self.refresh(&mut plan).await {
                Ok(()) if matches!(blocked, Some(Blocked::Io(_)) | None) => {}
                Ok(()) => *blocked = None,
                Err(why) => *blocked = Some(why),
            }
            self.reload_servers();
        }
        let mut results = Vec::with_capacity(jobs.len());
        for job in jobs {
            let on_file = touches_files(&plan, &job.write);
            results.push(match (&job.write, &*blocked) {
                (Write::Reload, Some(Blocked::Store(_))) => Err(Error::Unavailable(String::new())),
                (Write::Reload, _) => Ok(Outcome::Nothing),
                (Write::Follow(which), _) => {
                    let followed = plan.follow(self, which).await;
                    followed.map(|()| Outcome::Nothing)
                }
                (Write::Server { name, tools }, _) => {
                    self.take_server(&mut plan, name, tools);
                    Ok(Outcome::Nothing)
                }
                (_, Some(blocked)) if on_file => Err(blocked.error()),
                (write, _) if job.dry_run => {
                    let rehearsed = plan.rehearse(self, write, &job.caller).await;
                    rehearsed.map(Outcome::WouldBe)
                }
                (write, _) => plan
                    .apply(self, write, &job.caller)
                    .await
                    .map(Outcome::Tool),
            });
        }
        (plan, results)
    }

    fn take_server(&mut self, plan: &mut Plan, name: &Arc<str>, tools: &[Tool]) {
        let is_its = |tool: &Tool| {
            let server = tool.definition.config.get("server_name");
            tool.shelf == Shelf::Server && server.is_some_and(|server| *server == **name)
        };
        let base = Arc::clone(&plan.base);
        let before = base.after(None).map(|entry| &entry.tool);
        plan.take_server(before.filter(|tool| is_its(tool)), tools);
        self.given.retain(|_, tool| !is_its(tool));
        let named = |tool: &Tool| (tool.definition.name.clone(), tool.clone());
        self.given.extend(tools.iter().map(named));
    }

    async fn commit(&mut self, mut plan: Plan) -> Commit {
        let text = match plan.file_text() {
            Ok(text) => text,
            Err(problems) => return Commit::Failed(Error::problems(problems)),
        };
        let is_file = text.is_some();
        let mut file_error = None;
        // What to put back where the file is exchanged and the transaction then fails.
        let mut exchanged = None;
        let shelf = &mut self.shelf;
        let writes = plan.all_writes();
        let written = self
            .store
            .commit(&writes, || match text {
                None => Ok(()),
                Some((base, new)) => {
                    let before = std::mem::replace(&mut shelf.text, base);
                    if new == shelf.text {
                        return Ok(());
                    }
                    let old = shelf.text.clone();
                    shelf.replace(new).map_err(|error| {
                        shelf.text = before;
                        file_error = Some(error);
                        Error::Internal(String::new())
                    })?;
                    exchanged = Some(old);
                    Ok(())
                }
            })
            .await;
        match (written, file_error) {
            (_, Some(WriteError::ChangedOnDisk)) => return Commit::Again,
            (_, Some(WriteError::Io(error))) => {
                tracing::error!(%error, "tools.json cannot be written");
                return Commit::FileFailed(error.to_string());
            }
            (Err(error), None) => {
                // Nothing of the group has happened, so it may not stand in the file either.
                if let Some(old) = exchanged
                    && let Err(why) = self.shelf.replace(old)
                {
                    tracing::error!(
                        ?why,
                        "tools.json holds a change that could not be stored; it could not be taken back"
                    );
                }
                // Whatever is there now: look at it afresh next time.
                self.shelf.text.clear();
                return Commit::Failed(error);
            }
            (Ok(()), None) => {}
        }
        if is_file {
            self.replicas.set_shelf(&self.shelf.text, &self.mcp_text);
        }
        for tool in plan.newly_shadowed {
            let name = tool.definition.name.clone();
            if self.shadowed.insert(name.clone(), tool).is_none() {
                tracing::warn!(
                    tool = name,
                    "the file shelf takes the name of a database tool, which is out of use until then"
                );
            }
        }
        for name in plan.unshadowed {
            self.shadowed.remove(&name);
        }
        let shadowed: Vec<String> = self.shadowed.keys().cloned().collect();
        ShelfStatus::update(&self.status, |status| status.shadowed.clone_from(&shadowed));
        // Before the tools that refer to them can be seen.
        self.take_secrets(writes);
        let next = plan.base.with(plan.changes);
        self.executor.set_catalogue(next);
        Commit::Done
    }

    /// What was stored of secrets is known to every call from now on.
    fn take_secrets(&self, written: Vec<store::Write>) {
        let (mut new, mut gone, mut given) = (Vec::new(), Vec::new(), Vec::new());
        for write in written {
            match write {
                store::Write::Secret(row) => new.push(row),
                store::Write::SecretOwner { id, owner, at } => given.push((id, owner, at)),
                store::Write::NoSecrets(ids) => gone.extend(ids),
                _ => {}
            }
        }
        self.vault.put(&new);
        self.vault.give(&given);
        self.vault.remove(&gone);
    }

    fn answer(&self, jobs: Vec<Job>, results: Vec<Result<Outcome>>) {
        let catalogue = self.executor.catalogue.load();
        for (job, result) in jobs.into_iter().zip(results) {
            let entry = result.map(|outcome| match outcome {
                Outcome::Nothing => None,
                Outcome::Tool(id) => catalogue.by_id(id).cloned(),
                Outcome::WouldBe(entry) => entry,
            });
            // Whoever asked may be gone; the change stands all the same.
            let _ = job.reply.send(entry);
        }
    }
}

/// The transaction failed: nothing of the group has happened.
fn refuse_all(jobs: Vec<Job>, results: Vec<Result<Outcome>>, error: &Error) {
    tracing::error!(%error, ?error, "a group of catalogue changes could not be stored");
    for (job, result) in jobs.into_iter().zip(results) {
        let refusal = result.err().unwrap_or_else(|| match error {
            Error::Conflict { message, problems } => Error::Conflict {
                message: message.clone(),
                problems: problems.clone(),
            },
            Error::Invalid { message, problems } => Error::Invalid {
                message: message.clone(),
                problems: problems.clone(),
            },
            Error::Unavailable(why) => Error::Unavailable(why.clone()),
            other => Error::Internal(format!("{other:?}")),
        });
        let _ = job.reply.send(Err(refusal));
    }
}

/// Whether a change can only be decided with the file on disk in view.
fn touches_files(plan: &Plan, write: &Write) -> bool {
    match write {
        Write::Reload
        | Write::Create {
            shelf: Shelf::File, ..
        }
        | Write::Restore {
            shelf: Shelf::File, ..
        } => true,
        Write::Create { .. }
        | Write::Restore { .. }
        | Write::Reassign(_)
        | Write::Follow(_)
        | Write::Server { .. } => false,
        // One that nobody knows any more may stand in the file again.
        Write::Update { id, .. } | Write::Delete { id, .. } => {
            plan.find(*id).is_none_or(|tool| tool.shelf == Shelf::File)
        }
    }
}

/// The new text of the file after the plan's edits.
pub(crate) fn edited(
    text: &str,
    edits: &[catalog::tools_file::Edit],
) -> Result<String, Vec<Problem>> {
    if edits.is_empty() {
        return Ok(text.to_owned());
    }
    edit(text, edits)
}
