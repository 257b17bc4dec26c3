//! What each transaction changed, for the other servers on the same PostgreSQL: numbered in the order of the commits, told by
//! NOTIFY, and kept for a while for whoever was not listening.

use crate::Write;
use crate::confirmed::ConfirmedWrite;
use crate::db::{Db, Result};
use crate::servers::ServerWrite;
use sqlx::postgres::{PgListener, PgPoolOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use uuid::Uuid;

/// The channel that all servers on one database listen to; schemas are told apart by what is said there.
const CHANNEL: &str = "toolcrib";

/// Who was away for longer reads everything anew.
const FORGET: &str = "DELETE FROM changes WHERE at < clock_timestamp() - interval '1 hour'";

pub(crate) const NEXT_REVISION: &str = "UPDATE revision SET number = number + 1 RETURNING number";

pub(crate) const ADD_CHANGE: &str = "INSERT INTO changes (revision, subject, ids, instance) \
    VALUES ($1, $2, $3, current_setting('application_name'))";

pub(crate) const TELL: &str = "SELECT pg_notify('toolcrib', current_schema())";

/// What a server keeps in memory and has to read anew when another changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// Before the tools that refer to them.
    Secrets,
    Tools,
    /// People and their keys.
    Access,
    /// After the people whose they are, by whose ids they are told.
    Sessions,
    Policy,
    Toolsets,
    Limits,
    Agents,
    Servers,
    ServerPins,
    ServerTokens,
    Sources,
    Confirmed,
    /// Last: what is erased is read anew before.
    Erasures,
}

impl Subject {
    /// In the order in which they are declared.
    pub const ALL: [Subject; 14] = [
        Subject::Secrets,
        Subject::Tools,
        Subject::Access,
        Subject::Sessions,
        Subject::Policy,
        Subject::Toolsets,
        Subject::Limits,
        Subject::Agents,
        Subject::Servers,
        Subject::ServerPins,
        Subject::ServerTokens,
        Subject::Sources,
        Subject::Confirmed,
        Subject::Erasures,
    ];

    /// What somebody has to do with and is erased of them.
    pub const OF_PEOPLE: [Subject; 6] = [
        Subject::Secrets,
        Subject::Access,
        Subject::Limits,
        Subject::ServerTokens,
        Subject::Confirmed,
        Subject::Erasures,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Subject::Secrets => "secrets",
            Subject::Tools => "tools",
            Subject::Access => "access",
            Subject::Sessions => "sessions",
            Subject::Policy => "policy",
            Subject::Toolsets => "toolsets",
            Subject::Limits => "limits",
            Subject::Agents => "agents",
            Subject::Servers => "servers",
            Subject::ServerPins => "server_pins",
            Subject::ServerTokens => "server_tokens",
            Subject::Sources => "sources",
            Subject::Confirmed => "confirmed",
            Subject::Erasures => "erasures",
        }
    }
}

/// Which of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    These(BTreeSet<Uuid>),
    /// It is not known, or not told apart.
    All,
}

impl Which {
    fn and(&mut self, other: Which) {
        match (self, other) {
            (Which::These(ids), Which::These(more)) => ids.extend(more),
            (mine, _) => *mine = Which::All,
        }
    }

    /// Whether both can be about the same.
    pub(crate) fn meets(&self, other: &Which) -> bool {
        match (self, other) {
            (Which::These(ids), Which::These(others)) => !ids.is_disjoint(others),
            _ => true,
        }
    }

    fn as_text(&self) -> String {
        match self {
            Which::All => String::new(),
            Which::These(ids) => {
                let ids: Vec<String> = ids.iter().map(Uuid::to_string).collect();
                ids.join(",")
            }
        }
    }

    fn read(text: &str) -> Which {
        let ids: Option<BTreeSet<Uuid>> = text.split(',').map(|id| id.parse().ok()).collect();
        ids.map_or(Which::All, Which::These)
    }
}

/// What others have changed, by subject.
pub type Changed = BTreeMap<Subject, Which>;

/// What has happened since a certain revision.
#[derive(Debug, PartialEq, Eq)]
pub struct News {
    /// Up to which revision this tells.
    pub revision: i64,
    pub changed: Changed,
}

impl Write {
    /// What other servers have to read anew after this; none where they keep nothing of it.
    fn subject(&self) -> Option<(Subject, Which)> {
        let one = |id: &Uuid| Which::These(BTreeSet::from([*id]));
        Some(match self {
            Write::Tool(row) => (Subject::Tools, one(&row.id)),
            // The history is asked from the database; a link is used up there.
            Write::Version(_) | Write::Act(_) | Write::Link(_) | Write::Unless(_) => return None,
            Write::Erase(_) => (Subject::Erasures, Which::All),
            Write::User(_) | Write::Key(_) | Write::RevokeKeys { .. } => {
                (Subject::Access, Which::All)
            }
            Write::Session(row) => (Subject::Sessions, one(&row.user_id)),
            Write::EndSession { user, .. } => {
                (Subject::Sessions, user.as_ref().map_or(Which::All, one))
            }
            Write::EndSessions(user) => (Subject::Sessions, one(user)),
            Write::Agent(row) => (Subject::Agents, one(&row.id)),
            Write::Toolset(_) => (Subject::Toolsets, Which::All),
            Write::Server(ServerWrite::Put(_) | ServerWrite::Remove { .. }) => {
                (Subject::Servers, Which::All)
            }
            // Everybody asks a server for its lists by themselves.
            Write::Server(ServerWrite::Lists(_)) => return None,
            Write::Server(ServerWrite::Pin(_) | ServerWrite::Forget(_)) => {
                (Subject::ServerPins, Which::All)
            }
            Write::Source(_) | Write::NoSource { .. } => (Subject::Sources, Which::All),
            Write::Policy(_) => (Subject::Policy, Which::All),
            Write::Confirmed(
                ConfirmedWrite::Put(_)
                | ConfirmedWrite::Remove { .. }
                | ConfirmedWrite::RemoveAll(_),
            ) => (Subject::Confirmed, Which::All),
            Write::Limit(_) | Write::NoLimit { .. } => (Subject::Limits, Which::All),
            Write::Secret(row) | Write::Rewrapped { row, .. } => (Subject::Secrets, one(&row.id)),
            Write::SecretOwner { id, .. } | Write::NoSecret(id) => (Subject::Secrets, one(id)),
            Write::NoSecrets(ids) if ids.is_empty() => return None,
            Write::NoSecrets(ids) => (
                Subject::Secrets,
                Which::These(ids.iter().copied().collect()),
            ),
            Write::ServerToken(_)
            | Write::ServerTokenRenewed(_)
            | Write::NoServerToken { .. }
            | Write::ServerClient(_)
            | Write::NoServerClient(_) => (Subject::ServerTokens, Which::All),
        })
    }
}

/// Takes the next number in a transaction that changes something, before anything else: from here on the other servers'
/// changes wait for this one, so that rows are never locked crosswise.
macro_rules! next_revision {
    ($tx:ident, $changes:ident) => {
        match $changes.is_empty() {
            true => 0_i64,
            false => sqlx::query_scalar($crate::feed::NEXT_REVISION)
                .fetch_one(&mut *$tx)
                .await
                .map_err($crate::Error::from)?,
        }
    };
}
pub(crate) use next_revision;

/// Tells the other servers what a transaction has changed, once it commits.
macro_rules! tell {
    ($tx:ident, $revision:ident, $changes:ident) => {
        for (subject, ids) in &$changes {
            let row = sqlx::query($crate::feed::ADD_CHANGE).bind($revision);
            let row = row.bind(*subject).bind(ids);
            row.execute(&mut *$tx).await.map_err($crate::Error::from)?;
        }
        if !$changes.is_empty() {
            let told = sqlx::query($crate::feed::TELL);
            told.execute(&mut *$tx).await.map_err($crate::Error::from)?;
        }
    };
}
pub(crate) use tell;

/// A row of `changes`: its revision, the subject, the ids, and whether this process made it.
pub(crate) type Told = (i64, String, String, bool);

/// What others have changed after `known` up to `number`, told in the order of the commits.
pub(crate) fn news(known: i64, number: i64, told: impl IntoIterator<Item = Told>) -> News {
    let mut news = News {
        revision: number,
        changed: Changed::new(),
    };
    let mut last = known;
    for (revision, subject, ids, is_mine) in told {
        if revision > last + 1 {
            break;
        }
        last = revision;
        if is_mine {
            continue;
        }
        let subject = Subject::ALL.into_iter().find(|it| it.as_str() == subject);
        match subject {
            Some(subject) => add(&mut news.changed, subject, Which::read(&ids)),
            // A later version keeps something that this one does not know.
            None => tracing::debug!("a change of something unknown was told"),
        }
    }
    if last != number {
        // Some of it is forgotten already, or this is another database than before.
        let all = Subject::ALL.into_iter();
        news.changed = all.map(|subject| (subject, Which::All)).collect();
    }
    news
}

fn add(changed: &mut Changed, subject: Subject, which: Which) {
    match changed.get_mut(&subject) {
        Some(known) => known.and(which),
        None => drop(changed.insert(subject, which)),
    }
}

/// Hears of changes at once.
pub struct Listener {
    inner: PgListener,
    schema: String,
}

impl Listener {
    /// Whether the line still leads to the database. One that is broken somewhere on the way looks whole from here.
    pub async fn answers(&mut self, within: Duration) -> bool {
        let asked = sqlx::query("SELECT 1").execute(&mut self.inner);
        matches!(tokio::time::timeout(within, asked).await, Ok(Ok(_)))
    }

    /// Waits until somebody has changed something. False: the line was lost, and changes may have been missed.
    pub async fn heard(&mut self) -> Result<bool> {
        loop {
            match self.inner.try_recv().await? {
                None => return Ok(false),
                Some(notice) if notice.payload() == self.schema => return Ok(true),
                Some(_) => {}
            }
        }
    }
}

impl Db {
    /// Rows of `changes` for a list of writes: the subject and its ids. None where there is nobody to tell.
    pub(crate) fn changes_of(&self, writes: &[Write]) -> Vec<(&'static str, String)> {
        let mut changed = Changed::new();
        if let Db::Postgres(..) = self {
            for (subject, which) in writes.iter().filter_map(Write::subject) {
                add(&mut changed, subject, which);
            }
            if writes.iter().any(|write| matches!(write, Write::Erase(_))) {
                for subject in Subject::OF_PEOPLE {
                    add(&mut changed, subject, Which::All);
                }
            }
        }
        let rows = changed.iter();
        rows.map(|(subject, which)| (subject.as_str(), which.as_text()))
            .collect()
    }

    /// A line on which changes are told; none where nobody else can change anything.
    pub async fn listen(&self) -> Result<Option<Listener>> {
        let Db::Postgres(pool, ..) = self else {
            return Ok(None);
        };
        // Not one of the pool's, which would miss it for as long as the system takes to notice that a line is broken.
        let own = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(Duration::from_secs(5))
            .max_lifetime(None)
            .idle_timeout(None);
        let own = own.connect_lazy_with((*pool.connect_options()).clone());
        let mut inner = PgListener::connect_with(&own).await?;
        // Who lost the line has to look for what was missed before it is trusted again.
        inner.eager_reconnect(false);
        inner.listen(CHANNEL).await?;
        let schema = sqlx::query_scalar("SELECT current_schema()")
            .fetch_one(pool)
            .await?;
        Ok(Some(Listener { inner, schema }))
    }

    /// The number of the last change; always 0 where nobody else can change anything.
    pub async fn revision(&self) -> Result<i64> {
        match self {
            Db::Sqlite(..) => Ok(0),
            Db::Postgres(pool, ..) => {
                let number = sqlx::query_scalar("SELECT number FROM revision");
                Ok(number.fetch_one(pool).await?)
            }
        }
    }

    /// What others than this process have changed since the revision `known`.
    pub async fn news_since(&self, known: i64) -> Result<News> {
        let Db::Postgres(pool, ..) = self else {
            // Where it is in doubt what is known, nothing is.
            return Ok(news(known, 0, []));
        };
        const SQL: &str = "SELECT r.number, c.revision, c.subject, c.ids, \
            c.instance = current_setting('application_name') \
            FROM revision r LEFT JOIN changes c ON c.revision > $1 ORDER BY c.revision";
        type Row = (
            i64,
            Option<i64>,
            Option<String>,
            Option<String>,
            Option<bool>,
        );
        let rows: Vec<Row> = sqlx::query_as(SQL).bind(known).fetch_all(pool).await?;
        let number = rows.first().map_or(known, |row| row.0);
        let told = rows
            .into_iter()
            .filter_map(|(_, revision, subject, ids, is_mine)| {
                Some((revision?, subject?, ids?, is_mine?))
            });
        Ok(news(known, number, told))
    }

    /// Forgets changes that everybody has heard of.
    pub async fn forget_changes(&self) -> Result<()> {
        if let Db::Postgres(pool, ..) = self {
            sqlx::query(FORGET).execute(pool).await?;
        }
        Ok(())
    }
}
