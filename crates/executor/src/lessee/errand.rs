//! The questions to the shared counts: when there is something to say it is said, everything at once and one after the other.

use super::budget::{Block, Moment, Times};
use super::{Denied, Lessee, State, Taken, Token, Told, Waiting};
use crate::leases::{
    Answer, Ask, BLOCK_MAX, BLOCK_MS, Decision, Key, Limited, Places, Request, Wanted,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How often a server that runs limited calls says so: a few times within what makes it count as gone.
const BEAT: Duration = Duration::from_secs(2);

/// How long to wait for an answer. Who asked is refused afterwards.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// What could not be told is told again so much later.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// For how long free places are kept that were leased in blocks.
const SPARE_FOR: Duration = Duration::from_millis(BLOCK_MS.unsigned_abs());

/// With more limits in mind than this, those that nobody asks for are forgotten.
const BUDGETS_MAX: usize = 256;

/// How long whoever finds all places taken should wait; nobody knows when one is free.
const BUSY_MS: i64 = 1_000;

/// One question on its way, and who waits for the answer.
pub(super) struct Errand {
    request: Request,
    sent: Moment,
    asks: Vec<Waiting>,
    seeds: Vec<Told>,
    wanted: Vec<Limited>,
    /// Whose number of places it tells.
    places: Vec<Key>,
}

enum Step {
    Say(Box<Errand>),
    Wait(Duration),
    Rest,
}

type Reply = (
    oneshot::Sender<Result<Taken, Denied>>,
    Result<Taken, Denied>,
);

impl Lessee {
    /// Somebody sees to it that what is due is said.
    pub(super) fn keep_working(self: &Arc<Self>, state: &mut State) {
        // A call may be dropped when there is no runtime any more.
        if !state.is_working
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            state.is_working = true;
            runtime.spawn(work(Arc::clone(self)));
        }
    }

    /// The last thing that is said: everything goes back.
    pub(crate) async fn leave(self: &Arc<Self>) {
        let _one_at_a_time = self.asking.lock().await;
        let errand = {
            let mut state = self.lock();
            if state.number == 0 {
                return;
            }
            let now = self.now();
            let mut errand = state.errand(now, |_| true);
            errand.request.now = self.set_time().map(|_| now.at);
            errand.request.leaving = true;
            errand
        };
        self.say(errand).await;
    }

    fn step(&self) -> Step {
        let mut state = self.lock();
        let now = self.now();
        match state.due(now) {
            None => {
                state.budgets.retain(|_, budget| !budget.is_empty(now));
                state.is_working = false;
                Step::Rest
            }
            // Places fall idle without a word.
            Some(due) if due > now.steady => Step::Wait((due - now.steady).min(SPARE_FOR)),
            Some(_) => {
                let mut errand = state.errand(now, |block| block.is_over(now));
                errand.request.now = self.set_time().map(|_| now.at);
                Step::Say(Box::new(errand))
            }
        }
    }

    async fn say(self: &Arc<Self>, errand: Errand) {
        let leases = self.leases.upgrade();
        let is_gone = leases.is_none();
        let answer = match leases {
            None => Err("the server stops".to_owned()),
            Some(leases) => {
                let answer = leases.lease(&errand.request);
                match tokio::time::timeout(ANSWER_WITHIN, answer).await {
                    Ok(answer) => answer,
                    Err(_) => Err("no answer in time".to_owned()),
                }
            }
        };
        // Not under the lock: whoever does not wait any more gives back what they get.
        for (reply, result) in self.hear(errand, answer) {
            let _ = reply.send(result);
        }
        if is_gone {
            self.lock().abandon();
        }
    }

    fn hear(self: &Arc<Self>, errand: Errand, answer: Result<Answer, String>) -> Vec<Reply> {
        let mut state = self.lock();
        let fits = |answer: &Answer| {
            answer.asks.len() == errand.asks.len() && answer.blocks.len() == errand.wanted.len()
        };
        let answer = match answer {
            Ok(answer) if fits(&answer) => answer,
            Ok(_) => return state.unheard(errand, "the answer is of another question"),
            Err(why) => return state.unheard(errand, &why),
        };
        state.failed = false;
        state.heard = Some(errand.sent.steady);
        for reply in errand.seeds {
            let _ = reply.send(Ok(()));
        }
        let now = self.now();
        let mut replies = Vec::new();
        for (waiting, decision) in errand.asks.into_iter().zip(answer.asks) {
            let result = match decision {
                Decision::Granted(moments) => Ok(Taken {
                    lessee: Arc::clone(self),
                    tokens: state.granted(&waiting.limits, &moments),
                    is_spent: false,
                }),
                Decision::Refused(refused) => Err(state.refused(&waiting, &refused, now)),
            };
            replies.push((waiting.reply, result));
        }
        let times = Times {
            sent: errand.sent,
            granted_at: answer.now,
            received: now.at,
        };
        for (limited, granted) in errand.wanted.iter().zip(&answer.blocks) {
            if let Some(granted) = granted {
                let budget = state.budgets.entry(limited.key).or_default();
                budget.add_block(limited, granted, times);
            }
        }
        replies
    }
}

async fn work(lessee: Arc<Lessee>) {
    loop {
        let wait = {
            let _one_at_a_time = lessee.asking.lock().await;
            match lessee.step() {
                Step::Rest => return,
                Step::Wait(wait) => wait,
                Step::Say(errand) => {
                    lessee.say(*errand).await;
                    continue;
                }
            }
        };
        tokio::select! {
            () = lessee.wake.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

impl State {
    /// When the next question is due; none where there is nothing to say.
    fn due(&self, now: Moment) -> Option<Instant> {
        if !self.asks.is_empty() || !self.seeds.is_empty() {
            return Some(now.steady);
        }
        let sent = self.sent.unwrap_or(now.steady);
        let mut due = self.tell_by;
        let mut by = |at: Instant| due = Some(due.map_or(at, |due| due.min(at)));
        if !self.settled.is_empty() {
            by(now.steady);
        }
        for budget in self.budgets.values() {
            for block in &budget.blocks {
                by(block.ends());
            }
            if budget.held > 0 || budget.untold {
                by(sent + BEAT);
            }
            if let Some(since) = budget.spare_since
                && budget.held > budget.running
            {
                by(since + SPARE_FOR);
            }
        }
        match self.failed {
            true => due.map(|due| due.max(sent + AGAIN_AFTER)),
            false => due,
        }
    }

    /// Everything that there is to say. `ends`: which blocks are given back.
    fn errand(&mut self, now: Moment, ends: impl Fn(&Block) -> bool) -> Errand {
        self.number += 1;
        self.sent = Some(now.steady);
        self.tell_by = None;
        let mut places = Vec::new();
        for (key, budget) in &mut self.budgets {
            let over = budget.blocks.extract_if(.., |block| ends(block));
            self.settled
                .extend(over.map(|block| block.settled(key.text())));
            let is_idle = |since: Instant| now.steady >= since + SPARE_FOR;
            if budget.spare_since.is_some_and(is_idle) {
                budget.release();
            }
            if std::mem::take(&mut budget.untold) {
                places.push((
                    *key,
                    Places {
                        key: key.text(),
                        held: budget.held,
                        running: budget.running,
                        call_ms: budget.call_ms,
                    },
                ));
            }
        }
        if self.budgets.len() > BUDGETS_MAX {
            self.budgets.retain(|_, budget| !budget.is_empty(now));
        }
        let asks = std::mem::take(&mut self.asks);
        let wanted = self.wanted(&asks, now);
        let (seeds, told): (Vec<_>, Vec<_>) = std::mem::take(&mut self.seeds).into_iter().unzip();
        let ask = |waiting: &Waiting| Ask {
            age: now.at - waiting.at,
            shares: waiting.limits.iter().map(Limited::share).collect(),
        };
        let (keys, places) = places.into_iter().unzip();
        let mut request = Request {
            number: self.number,
            settled: std::mem::take(&mut self.settled),
            unused: std::mem::take(&mut self.unused),
            places,
            seeds: seeds.into_iter().flatten().collect(),
            asks: asks.iter().map(ask).collect(),
            blocks: wanted.iter().map(|(_, wanted)| wanted.clone()).collect(),
            ..Request::default()
        };
        request.keys = keys_of(&request);
        Errand {
            request,
            sent: now,
            asks,
            seeds: told,
            wanted: wanted.into_iter().map(|(limited, _)| limited).collect(),
            places: keys,
        }
    }

    /// Blocks for those limits of which nothing is left here, as large as what was used of them lately.
    fn wanted(&mut self, asks: &[Waiting], now: Moment) -> Vec<(Limited, Wanted)> {
        let mut found: Vec<(Limited, u64)> = Vec::new();
        for limited in asks.iter().flat_map(|waiting| &waiting.limits) {
            if !limited.in_blocks() {
                continue;
            }
            self.budgets.entry(limited.key).or_default().count(now);
            match found.iter_mut().find(|(it, _)| it.key == limited.key) {
                Some((_, asked)) => *asked += 1,
                None => found.push((*limited, 1)),
            }
        }
        let wanted = found.into_iter().filter_map(|(limited, asked)| {
            let budget = self.budgets.get(&limited.key)?;
            let want = match limited.key.sort() {
                "places" => asked + budget.running / 4,
                _ if budget.blocks.iter().any(|block| !block.is_over(now)) => 0,
                _ => budget.expected(),
            };
            let wanted = Wanted {
                share: limited.share(),
                want: want.min(BLOCK_MAX),
                ttl: BLOCK_MS,
            };
            (want > 1).then_some((limited, wanted))
        });
        wanted.collect()
    }

    fn granted(&mut self, limits: &[Limited], moments: &[i64]) -> Vec<Token> {
        let mut tokens = Vec::new();
        for (limited, at) in limits.iter().zip(moments) {
            let key = limited.key;
            let budget = self.budgets.entry(key).or_default();
            budget.forget();
            if key.sort() == "places" {
                budget.add_place(limited);
                tokens.push(limited.place());
            } else {
                let (block, at) = (None, *at);
                tokens.push(Token::Share { key, block, at });
            }
        }
        tokens
    }

    /// Remembers where each of these limits stands, and tells the one that refuses for longest.
    fn refused(
        &mut self,
        waiting: &Waiting,
        refused: &[crate::leases::Refused],
        now: Moment,
    ) -> Denied {
        let mut longest: Option<(usize, Option<i64>)> = None;
        for (number, limited) in waiting.limits.iter().enumerate() {
            let by = refused.iter().find(|by| by.share == number);
            let wait = by.map(|by| by.wait.unwrap_or(BUSY_MS));
            let budget = self.budgets.entry(limited.key).or_default();
            budget.note(limited, now, wait.map(|wait| waiting.at + wait));
            let known = longest.map(|(_, wait)| wait.unwrap_or(BUSY_MS));
            if let (Some(by), Some(wait)) = (by, wait)
                && known.is_none_or(|known| known < wait)
            {
                longest = Some((number, by.wait));
            }
        }
        match longest {
            Some((number, wait)) => Denied::Refused { number, wait },
            None => Denied::Unavailable("it refuses without a reason".to_owned()),
        }
    }

    /// Nobody knows whether it was heard. Blocks and places are told again; what could be counted twice is not.
    fn unheard(&mut self, errand: Errand, why: &str) -> Vec<Reply> {
        self.failed = true;
        self.settled.extend(errand.request.settled);
        let asked = errand.asks.iter().flat_map(|waiting| &waiting.limits);
        let asked = asked.chain(&errand.wanted).map(|limited| limited.key);
        let places = asked.filter(|key| key.sort() == "places");
        for key in places.chain(errand.places) {
            self.budgets.entry(key).or_default().untold = true;
        }
        for reply in errand.seeds {
            let _ = reply.send(Err(why.to_owned()));
        }
        let refused = errand.asks.into_iter().map(|waiting| {
            let denied = Denied::Unavailable(why.to_owned());
            (waiting.reply, Err(denied))
        });
        refused.collect()
    }

    /// There is nobody any more to tell anything to.
    fn abandon(&mut self) {
        self.budgets.clear();
        self.settled.clear();
        self.unused.clear();
        self.tell_by = None;
    }
}

fn keys_of(request: &Request) -> Vec<String> {
    let asked = request.asks.iter().flat_map(|ask| &ask.shares);
    let shares = asked.chain(request.blocks.iter().map(|wanted| &wanted.share));
    let keys: BTreeSet<&String> = shares
        .map(|share| &share.key)
        .chain(request.settled.iter().map(|settled| &settled.key))
        .chain(request.unused.iter().map(|unused| &unused.key))
        .chain(request.places.iter().map(|places| &places.key))
        .chain(request.seeds.iter().map(|seed| &seed.key))
        .collect();
    keys.into_iter().cloned().collect()
}
