//! What this server has at hand of one limit: blocks that it leased, places that it holds, and for a moment what it was told.

use crate::leases::{BLOCK_MS, Granted, Limited, Settled};
use catalog::tool::Millis;
use std::time::{Duration, Instant};

/// For how long an answer holds without asking again. Others may have given something back since.
const REMEMBER_MS: Millis = 50;

/// So long after the database was heard of, places at hand are not given to further calls: soon it counts this server as gone.
const HEARD_WITHIN: Duration = Duration::from_secs(5);

/// Over how long calls are counted for the size of the next block: as long as one is good for.
const STRETCH: Duration = Duration::from_millis(BLOCK_MS.unsigned_abs());

/// Now, by the clock that calls are stamped with and by one that nobody sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) at: Millis,
    pub(crate) steady: Instant,
}

impl Moment {
    /// The longer of what both clocks say has passed; none where one was set back.
    fn since(self, earlier: Moment) -> Option<Millis> {
        let steady = self.steady.saturating_duration_since(earlier.steady);
        let steady = Millis::try_from(steady.as_millis()).unwrap_or(Millis::MAX);
        let by_clock = self.at - earlier.at;
        (by_clock >= 0).then_some(by_clock.max(steady))
    }
}

/// Shares that are used up here without asking.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) id: i64,
    max: u64,
    left: u64,
    quantum: Millis,
    /// Of a day's calls, which day's.
    day: Option<i64>,
    /// When it was asked for, and the database's time of the answer, which is later.
    sent: Moment,
    granted_at: Millis,
    until: Millis,
    /// Calls that began before it was there are not among those it was counted for.
    from: Millis,
    used: Vec<(Millis, u32)>,
}

impl Block {
    /// The database's time, or a little later.
    fn time(&self, now: Moment) -> Option<Millis> {
        let time = self.granted_at + now.since(self.sent)?;
        (time < self.until).then_some(time)
    }

    pub(crate) fn is_over(&self, now: Moment) -> bool {
        self.left == 0 || self.time(now).is_none()
    }

    /// When it is over at the latest.
    pub(crate) fn ends(&self) -> Instant {
        let left = u64::try_from(self.until - self.granted_at).unwrap_or_default();
        self.sent.steady + Duration::from_millis(left)
    }

    fn fits(&self, limited: &Limited, at: Millis, now: Moment) -> Option<Millis> {
        let time = self.time(now)?;
        let fits = self.left > 0 && limited.max == Some(self.max) && at >= self.from;
        let slot = (time + self.quantum - 1).div_euclid(self.quantum) * self.quantum;
        fits.then(|| self.day.unwrap_or(slot))
    }

    fn take(&mut self, slot: Millis) {
        self.left -= 1;
        match self.used.last_mut() {
            Some((last, count)) if *last == slot => *count += 1,
            _ => self.used.push((slot, 1)),
        }
    }

    fn put_back(&mut self, slot: Millis) {
        if let Some((_, count)) = self.used.iter_mut().find(|(at, n)| *at == slot && *n > 0) {
            *count -= 1;
            self.left += 1;
        }
    }

    fn used(&self) -> u64 {
        self.used.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    pub(crate) fn settled(self, key: String) -> Settled {
        let used = self.used.into_iter().filter(|(_, count)| *count > 0);
        Settled {
            id: self.id,
            key,
            used: used.collect(),
        }
    }
}

/// What the database said of a limit.
#[derive(Debug, Clone, Copy)]
struct Known {
    max: u64,
    noted: Moment,
    /// From when on there is room; none where there was.
    free_at: Option<Millis>,
}

/// Where a limit stands, as far as it is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// There is something at hand, or there was room a moment ago.
    Open,
    /// From when on there is room.
    Shut(Millis),
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct Budget {
    pub(crate) blocks: Vec<Block>,
    known: Option<Known>,
    /// Calls in this stretch of time and in the one before: what a block is measured by.
    recent: [u64; 2],
    stretch: Option<Instant>,
    pub(crate) held: u64,
    pub(crate) running: u64,
    pub(crate) call_ms: Millis,
    /// Whether the database has another number of places.
    pub(crate) untold: bool,
    /// When a place that is free was last put there or taken.
    pub(crate) spare_since: Option<Instant>,
}

impl Budget {
    /// Takes something that is at hand. The answer is the moment, or the day, that it counts for.
    pub(crate) fn take(
        &mut self,
        limited: &Limited,
        at: Millis,
        now: Moment,
    ) -> Option<(Option<i64>, Millis)> {
        let slots = self.blocks.iter_mut();
        let mut fitting = slots.filter_map(|block| Some((block.fits(limited, at, now)?, block)));
        let (slot, block) = fitting.next()?;
        block.take(slot);
        let id = block.id;
        self.count(now);
        Some((Some(id), slot))
    }

    /// Takes a place that is at hand; one where calls are only counted always is.
    pub(crate) fn take_place(&mut self, limited: &Limited, heard: Option<Instant>) -> bool {
        if let Some(max) = limited.max {
            let heard = heard.is_some_and(|at| at.elapsed() < HEARD_WITHIN);
            if !heard || self.held <= self.running || self.held > max || !limited.in_blocks() {
                return false;
            }
        } else {
            self.held = self.held.max(self.running + 1);
        }
        self.running += 1;
        self.untold = true;
        self.spare_since = Some(Instant::now());
        self.call_ms = self.call_ms.max(limited.call_ms);
        true
    }

    /// A place that was leased for this call.
    pub(crate) fn add_place(&mut self, limited: &Limited) {
        self.held += 1;
        self.running += 1;
        self.call_ms = self.call_ms.max(limited.call_ms);
        self.known = None;
    }

    pub(crate) fn add_block(&mut self, limited: &Limited, granted: &Granted, times: Times) {
        if limited.key.sort() == "places" {
            self.held += granted.count;
            self.spare_since = Some(Instant::now());
            return;
        }
        self.blocks.push(Block {
            id: granted.id,
            max: limited.max.unwrap_or_default(),
            left: granted.count,
            quantum: limited.quantum(),
            day: (limited.key.sort() == "day").then_some(granted.day),
            sent: times.sent,
            granted_at: times.granted_at,
            until: granted.until,
            from: times.received,
            used: Vec::new(),
        });
    }

    /// The call is over. Where places are leased in blocks, it is kept for the next one.
    pub(crate) fn end(&mut self, keeps: bool) {
        self.running = self.running.saturating_sub(1);
        if !keeps {
            self.held = self.held.saturating_sub(1).max(self.running);
        }
        self.untold = true;
        self.spare_since = Some(Instant::now());
        self.known = None;
        if self.held == 0 {
            self.call_ms = 0;
        }
    }

    /// Gives up the places that no call has.
    pub(crate) fn release(&mut self) {
        if self.held > self.running {
            self.held = self.running;
            self.untold = true;
        }
    }

    /// Whether it could be put back into its block.
    pub(crate) fn put_back(&mut self, block: Option<i64>, slot: Millis) -> bool {
        self.known = None;
        let open = self.blocks.iter_mut().find(|open| Some(open.id) == block);
        open.map(|open| open.put_back(slot)).is_some()
    }

    pub(crate) fn note(&mut self, limited: &Limited, noted: Moment, free_at: Option<Millis>) {
        self.known = limited.max.map(|max| Known {
            max,
            noted,
            free_at,
        });
    }

    pub(crate) fn forget(&mut self) {
        self.known = None;
    }

    pub(crate) fn standing(
        &self,
        limited: &Limited,
        at: Millis,
        now: Moment,
        heard: Option<Instant>,
    ) -> Standing {
        let Some(max) = limited.max else {
            return Standing::Open;
        };
        let fits = |block: &Block| block.fits(limited, at, now).is_some();
        let heard = heard.is_some_and(|at| at.elapsed() < HEARD_WITHIN);
        let has_place = limited.in_blocks() && heard && self.held > self.running;
        if has_place || self.blocks.iter().any(fits) {
            return Standing::Open;
        }
        let fresh = |known: &&Known| {
            let passed = now.since(known.noted);
            known.max == max && passed.is_some_and(|passed| passed < REMEMBER_MS)
        };
        match self.known.as_ref().filter(fresh) {
            None => Standing::Unknown,
            Some(known) => match known.free_at {
                None => Standing::Open,
                Some(free_at) if free_at > at => Standing::Shut(free_at),
                Some(_) => Standing::Unknown,
            },
        }
    }

    /// One more call.
    pub(crate) fn count(&mut self, now: Moment) {
        let stretch = self.stretch.get_or_insert(now.steady);
        let passed = now.steady.saturating_duration_since(*stretch);
        if passed >= STRETCH {
            let before = self.recent[0];
            self.recent = [0, if passed < STRETCH * 2 { before } else { 0 }];
            *stretch = now.steady;
        }
        self.recent[0] += 1;
    }

    /// How many calls there will be soon, if it goes on like this.
    pub(crate) fn expected(&self) -> u64 {
        self.recent[0].max(self.recent[1])
    }

    /// What was used of blocks that the database has not heard of yet.
    pub(crate) fn used(&self) -> u64 {
        self.blocks.iter().map(Block::used).sum()
    }

    /// Whether nothing here matters any more. How often it was asked for does for a while: the next block is measured by it.
    pub(crate) fn is_empty(&self, now: Moment) -> bool {
        let was_used = self
            .stretch
            .is_some_and(|since| now.steady.saturating_duration_since(since) < STRETCH * 2);
        let has_none = self.blocks.is_empty() && self.held == 0 && self.running == 0;
        has_none && !self.untold && !was_used
    }
}

/// When a block was asked for, granted and there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) sent: Moment,
    pub(crate) granted_at: Millis,
    pub(crate) received: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leases::Key;
    use uuid::Uuid;

    fn limited(max: u64) -> Limited {
        Limited {
            key: Key::Minute(Uuid::nil()),
            max: Some(max),
            call_ms: 0,
        }
    }

    /// A block of two, asked for now and granted at 50,000 by the database's clock until 50,500.
    fn leased() -> (Budget, Moment) {
        let sent = Moment {
            at: 1_000,
            steady: Instant::now(),
        };
        let times = Times {
            sent,
            granted_at: 50_000,
            received: 1_003,
        };
        let granted = Granted {
            id: 7,
            count: 2,
            day: 0,
            until: 50_500,
        };
        let mut budget = Budget::default();
        budget.add_block(&limited(600), &granted, times);
        (budget, sent)
    }

    fn later(moment: Moment, by_clock: Millis, steady: u64) -> Moment {
        Moment {
            at: moment.at + by_clock,
            steady: moment.steady + Duration::from_millis(steady),
        }
    }

    #[test]
    fn a_block_is_good_until_its_end_by_every_clock() {
        for (by_clock, steady, good) in [
            (499, 499, true),
            (500, 0, false),
            (0, 500, false),
            (-1, 10, false),
        ] {
            let (mut budget, sent) = leased();
            let now = later(sent, by_clock, steady);
            let taken = budget.take(&limited(600), 1_003, now);
            assert_eq!(taken.is_some(), good, "{by_clock} {steady}");
            assert_eq!(budget.blocks[0].is_over(now), !good);
        }
    }

    #[test]
    fn only_calls_that_it_was_counted_for_take_from_a_block() {
        let (mut budget, sent) = leased();
        let now = later(sent, 20, 20);
        assert!(
            budget.take(&limited(600), 1_002, now).is_none(),
            "too early"
        );
        assert!(budget.take(&limited(500), 1_010, now).is_none(), "lowered");
        let taken = budget.take(&limited(600), 1_010, now);
        assert_eq!(taken, Some((Some(7), 50_020)), "counted when it began");
        let taken = budget.take(&limited(600), 1_010, later(sent, 21, 21));
        assert_eq!(taken, Some((Some(7), 50_030)), "rounded up");
        assert!(budget.take(&limited(600), 1_010, now).is_none(), "used up");
        assert!(budget.put_back(Some(7), 50_020));
        assert!(!budget.put_back(None, 50_020), "it was of no block");
        let settled = budget.blocks.remove(0).settled(String::new());
        assert_eq!(settled.used, [(50_030, 1)]);
    }

    #[test]
    fn what_was_said_holds_for_a_moment() {
        let (mut budget, now) = (Budget::default(), leased().1);
        budget.note(&limited(9), now, Some(5_000));
        let standing = |budget: &Budget, max, by| {
            budget.standing(&limited(max), 1_000, later(now, by, 0), None)
        };
        assert_eq!(standing(&budget, 9, 49), Standing::Shut(5_000));
        assert_eq!(standing(&budget, 9, 50), Standing::Unknown, "too old");
        assert_eq!(standing(&budget, 8, 0), Standing::Unknown, "another limit");
        budget.put_back(None, 0);
        assert_eq!(standing(&budget, 9, 0), Standing::Unknown, "given back");
    }
}
