//! The seam to the counts that several servers on one database share: what a server asks there and gives back, all of it in
//! one message, and what it is answered. `lease` in the registry's migrations is the other side.

use catalog::pace::{HOUR_MS, MINUTE_MS};
use catalog::tool::Millis;
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use uuid::Uuid;

/// Up to this much a limit is exact to the millisecond and every call asks for its own share. Of more, servers lease blocks.
const EXACT_MAX: u64 = 120;

/// Larger windows are kept in so many pieces. A call counts until the piece is over in which it began.
const PIECES: Millis = 6_000;

/// For how long a block can be used: what a server that dies takes with it is what it held for so long.
pub(crate) const BLOCK_MS: Millis = 500;

/// The largest block.
pub(crate) const BLOCK_MAX: u64 = 64;

pub type LeaseFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Whoever can reach the shared counts.
pub trait Leases: Send + Sync {
    fn lease<'a>(&'a self, request: &'a Request) -> LeaseFuture<'a, Answer>;

    /// How much of each is used up, but for what this server has not told yet and for its own places.
    fn used<'a>(&'a self, now: Option<Millis>, shares: &'a [Share]) -> LeaseFuture<'a, Vec<u64>>;
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Minute(Uuid),
    Hour(Uuid),
    Places(Uuid),
    User(Uuid),
    Tool(Uuid),
}

impl Key {
    pub(crate) fn text(self) -> String {
        match self {
            Key::Minute(id) => format!("minute/{id}"),
            Key::Hour(id) => format!("hour/{id}"),
            Key::Places(id) => format!("places/{id}"),
            Key::User(id) => format!("day/USER/{id}"),
            Key::Tool(id) => format!("day/TOOL/{id}"),
        }
    }

    pub(crate) fn sort(self) -> &'static str {
        match self {
            Key::Minute(_) | Key::Hour(_) => "window",
            Key::Places(_) => "places",
            Key::User(_) | Key::Tool(_) => "day",
        }
    }

    pub(crate) fn span(self) -> Millis {
        match self {
            Key::Minute(_) => MINUTE_MS,
            Key::Hour(_) => HOUR_MS,
            Key::Places(_) | Key::User(_) | Key::Tool(_) => 0,
        }
    }
}

/// A limit that a call has to pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limited {
    pub(crate) key: Key,
    /// None where calls at a time are only counted.
    pub(crate) max: Option<u64>,
    /// For how long the call can run.
    pub(crate) call_ms: Millis,
}

impl Limited {
    pub(crate) fn in_blocks(&self) -> bool {
        self.max.is_some_and(|max| max > EXACT_MAX)
    }

    /// In steps of how many milliseconds calls are counted.
    pub(crate) fn quantum(&self) -> Millis {
        match self.in_blocks() {
            true => (self.key.span() / PIECES).max(1),
            false => 1,
        }
    }

    pub(crate) fn share(&self) -> Share {
        Share {
            key: self.key.text(),
            sort: self.key.sort(),
            max: self.max.unwrap_or_default(),
            span: self.key.span(),
            quantum: self.quantum(),
            call_ms: self.call_ms,
        }
    }
}

/// The same in the words of the database.
#[derive(Debug, Clone, Serialize)]
pub struct Share {
    pub key: String,
    pub sort: &'static str,
    pub max: u64,
    pub span: Millis,
    pub quantum: Millis,
    pub call_ms: Millis,
}

/// Everything that a server has to say at one moment.
#[derive(Debug, Default, Serialize)]
pub struct Request {
    /// The time, where a test sets the clock.
    pub now: Option<Millis>,
    /// One that comes after a later one is not heard.
    pub number: u64,
    /// Whether it is the last one.
    pub leaving: bool,
    /// Everything that is named below.
    pub keys: Vec<String>,
    pub settled: Vec<Settled>,
    pub unused: Vec<Unused>,
    pub places: Vec<Places>,
    pub seeds: Vec<Seed>,
    pub asks: Vec<Ask>,
    pub blocks: Vec<Wanted>,
}

/// A block that is used no more.
#[derive(Debug, Clone, Serialize)]
pub struct Settled {
    pub id: i64,
    #[serde(skip)]
    pub key: String,
    /// When calls began, by the database's clock, and how many did.
    pub used: Vec<(Millis, u32)>,
}

/// The share of a call that did not run after all.
#[derive(Debug, Clone, Serialize)]
pub struct Unused {
    pub key: String,
    pub sort: &'static str,
    pub at: Millis,
}

/// How many calls may run here at a time from now on, and how many do.
#[derive(Debug, Clone, Serialize)]
pub struct Places {
    pub key: String,
    pub held: u64,
    pub running: u64,
    pub call_ms: Millis,
}

/// What the log says of earlier calls.
#[derive(Debug, Clone, Serialize)]
pub struct Seed {
    pub key: String,
    pub sort: &'static str,
    pub span: Millis,
    /// How long ago calls began, and how many did.
    pub calls: Vec<(Millis, u64)>,
    pub day: i64,
    pub count: u64,
}

/// What one call needs.
#[derive(Debug, Serialize)]
pub struct Ask {
    /// How long ago it began.
    pub age: Millis,
    pub shares: Vec<Share>,
}

/// A block that would be used up soon.
#[derive(Debug, Clone, Serialize)]
pub struct Wanted {
    #[serde(flatten)]
    pub share: Share,
    pub want: u64,
    pub ttl: Millis,
}

#[derive(Debug, Deserialize)]
pub struct Answer {
    pub now: Millis,
    pub asks: Vec<Decision>,
    pub blocks: Vec<Option<Granted>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Of each share the moment, or the day, that it was counted for.
    Granted(Vec<Millis>),
    Refused(Vec<Refused>),
}

#[derive(Debug, Deserialize)]
pub struct Refused {
    /// Its number in the ask.
    pub share: usize,
    /// After the call began; none where nobody knows.
    pub wait: Option<Millis>,
}

#[derive(Debug, Deserialize)]
pub struct Granted {
    pub id: i64,
    pub count: u64,
    pub day: i64,
    /// By the database's clock.
    pub until: Millis,
}
