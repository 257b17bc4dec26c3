//! This server's part of the limits that servers share: takes what it has at hand, asks for what it has not, and gives back.
//! All calls that ask at the same time ask together, and one question is under way at a time.

mod budget;
mod errand;

use crate::leases::{Key, Leases, Limited, Seed, Settled, Unused};
use budget::{Budget, Moment, Standing};
use catalog::clock::Clock;
use catalog::tool::Millis;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};

/// What was given back goes along with a question, or so much later: the next call often comes at once.
const GIVE_BACK_AFTER: Duration = Duration::from_millis(5);

/// Why a call does not get past its limits.
#[derive(Debug)]
pub(crate) enum Denied {
    /// The number of the limit that refuses longest; how long after the call began, where that is known.
    Refused { number: usize, wait: Option<Millis> },
    /// The database does not answer.
    Unavailable(String),
}

pub(crate) struct Lessee {
    leases: Weak<dyn Leases>,
    clock: Clock,
    state: Mutex<State>,
    wake: Notify,
    /// Held while a question is under way.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    budgets: HashMap<Key, Budget>,
    asks: Vec<Waiting>,
    seeds: Vec<(Vec<Seed>, Told)>,
    unused: Vec<Unused>,
    settled: Vec<Settled>,
    /// The number of the last question.
    number: u64,
    is_working: bool,
    /// When a question was sent that was answered.
    heard: Option<Instant>,
    /// When the last one was sent, whether it was answered or not.
    sent: Option<Instant>,
    /// Until when what was given back has to be told.
    tell_by: Option<Instant>,
    /// Whether the last question was not answered.
    failed: bool,
}

/// Whoever waits until something was told.
type Told = oneshot::Sender<Result<(), String>>;

/// A call that waits for shares.
struct Waiting {
    limits: Vec<Limited>,
    at: Millis,
    reply: oneshot::Sender<Result<Taken, Denied>>,
}

/// What a call has of one limit.
#[derive(Debug)]
enum Token {
    /// Of a block, or of its own; for which moment or day.
    Share {
        key: Key,
        block: Option<i64>,
        at: Millis,
    },
    Place {
        key: Key,
        keeps: bool,
        is_limited: bool,
    },
}

/// Shares of all limits of a call. What was not spent goes back when this does, places in any case.
pub(crate) struct Taken {
    lessee: Arc<Lessee>,
    tokens: Vec<Token>,
    is_spent: bool,
}

impl Taken {
    /// The call begins: from now on it counts.
    pub(crate) fn spend(mut self) -> Self {
        self.is_spent = true;
        self
    }

    /// The call is over.
    pub(crate) fn finish(mut self, may_have_run: bool) {
        self.is_spent = may_have_run;
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut tokens = std::mem::take(&mut self.tokens);
        if self.is_spent {
            tokens.retain(|token| matches!(token, Token::Place { .. }));
        }
        if !tokens.is_empty() {
            self.lessee.give_back(tokens);
        }
    }
}

impl Lessee {
    pub(crate) fn new(leases: Weak<dyn Leases>, clock: Clock) -> Self {
        Lessee {
            leases,
            clock,
            state: Mutex::default(),
            wake: Notify::new(),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// Takes from all of these limits or from none, for a call that began at `at`.
    pub(crate) async fn take(
        self: &Arc<Self>,
        limits: &[Limited],
        at: Millis,
    ) -> Result<Taken, Denied> {
        let (mut taken, missing, answer) = {
            let mut state = self.lock();
            let now = self.now();
            if let Some(denied) = state.refusal(limits, at, now) {
                return Err(denied);
            }
            let (tokens, missing) = state.at_hand(limits, at, now);
            let taken = Taken {
                lessee: Arc::clone(self),
                tokens,
                is_spent: false,
            };
            self.keep_working(&mut state);
            if missing.is_empty() {
                return Ok(taken);
            }
            let (reply, answer) = oneshot::channel();
            state.asks.push(Waiting {
                limits: missing.iter().map(|number| limits[*number]).collect(),
                at,
                reply,
            });
            self.wake.notify_one();
            (taken, missing, answer)
        };
        let gone = |_| Err(Denied::Unavailable("the server stops".to_owned()));
        match answer.await.unwrap_or_else(gone) {
            Ok(mut more) => {
                taken.tokens.append(&mut more.tokens);
                Ok(taken)
            }
            Err(Denied::Refused { number, wait }) => Err(Denied::Refused {
                number: missing[number],
                wait,
            }),
            Err(denied) => Err(denied),
        }
    }

    /// Tells the shared counts what the log says of earlier calls.
    pub(crate) async fn seed(self: &Arc<Self>, seeds: Vec<Seed>) -> Result<(), String> {
        let (reply, answer) = oneshot::channel();
        {
            let mut state = self.lock();
            state.seeds.push((seeds, reply));
            self.keep_working(&mut state);
            self.wake.notify_one();
        }
        answer.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// How much of each is used up.
    pub(crate) async fn used(&self, limits: &[Limited]) -> Result<Vec<u64>, String> {
        let leases = self.leases.upgrade().ok_or("the server stops")?;
        let shares: Vec<_> = limits.iter().map(Limited::share).collect();
        let elsewhere = leases.used(self.set_time(), &shares).await?;
        let state = self.lock();
        let both = limits.iter().zip(elsewhere).map(|(limited, elsewhere)| {
            let own = state.budgets.get(&limited.key);
            elsewhere + own.map_or(0, |own| own.used() + own.running)
        });
        Ok(both.collect())
    }

    /// The time of a clock that a test sets; the database has its own otherwise.
    fn set_time(&self) -> Option<Millis> {
        match &self.clock {
            Clock::System => None,
            Clock::Manual(_) => Some(self.clock.now()),
        }
    }

    fn now(&self) -> Moment {
        Moment {
            at: self.clock.now(),
            steady: Instant::now(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_back(self: &Arc<Self>, tokens: Vec<Token>) {
        let mut state = self.lock();
        let soon = Instant::now() + GIVE_BACK_AFTER;
        for token in tokens {
            match token {
                Token::Place {
                    key,
                    keeps,
                    is_limited,
                } => {
                    state.budgets.entry(key).or_default().end(keeps);
                    if is_limited && !keeps {
                        state.tell_by.get_or_insert(soon);
                    }
                }
                Token::Share { key, block, at } => {
                    if !state.budgets.entry(key).or_default().put_back(block, at) {
                        state.unused.push(Unused {
                            key: key.text(),
                            sort: key.sort(),
                            at,
                        });
                        state.tell_by.get_or_insert(soon);
                    }
                }
            }
        }
        self.keep_working(&mut state);
        if state.tell_by.is_some() {
            self.wake.notify_one();
        }
    }
}

impl State {
    /// The limit that refuses for longest, where all are known to be open or shut.
    fn refusal(&self, limits: &[Limited], at: Millis, now: Moment) -> Option<Denied> {
        let mut longest: Option<(usize, Millis)> = None;
        for (number, limited) in limits.iter().enumerate() {
            let budget = self.budgets.get(&limited.key);
            let standing = match budget {
                Some(budget) => budget.standing(limited, at, now, self.heard),
                None if limited.max.is_none() => Standing::Open,
                None => Standing::Unknown,
            };
            match standing {
                Standing::Open => {}
                Standing::Unknown => return None,
                Standing::Shut(free_at) => {
                    if longest.is_none_or(|(_, known)| known < free_at) {
                        longest = Some((number, free_at));
                    }
                }
            }
        }
        longest.map(|(number, free_at)| Denied::Refused {
            number,
            wait: (limits[number].key.sort() != "places").then_some(free_at - at),
        })
    }

    /// What is there of these limits, and the numbers of those that have to be asked for.
    fn at_hand(&mut self, limits: &[Limited], at: Millis, now: Moment) -> (Vec<Token>, Vec<usize>) {
        let (mut tokens, mut missing) = (Vec::new(), Vec::new());
        for (number, limited) in limits.iter().enumerate() {
            let key = limited.key;
            let budget = self.budgets.entry(key).or_default();
            if key.sort() == "places" {
                match budget.take_place(limited, self.heard) {
                    true => tokens.push(limited.place()),
                    false => missing.push(number),
                }
                continue;
            }
            match budget.take(limited, at, now) {
                Some((block, at)) => tokens.push(Token::Share { key, block, at }),
                None => missing.push(number),
            }
        }
        (tokens, missing)
    }
}

impl Limited {
    fn place(&self) -> Token {
        Token::Place {
            key: self.key,
            keeps: self.in_blocks(),
            is_limited: self.max.is_some(),
        }
    }
}
