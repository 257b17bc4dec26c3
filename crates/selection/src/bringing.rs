//! Whether a clause of a request brings a tool of its own. `The customer with A-70915 called. Where is parcel 3100-4482?` has
//! two clauses and needs one tool: what only tells something, gives a reason or says what is not wanted brings none. A small
//! network on what can be seen of the clause and of the tool that fits it best, trained by `scripts/train-clauses`.

use crate::bringing_weights::{HIDDEN, OUT};
use crate::manner::Manner;
use crate::nature::Nature;
use crate::outcome::sum;
use crate::wording::Wording;
use crate::words::{is_hangul, words};

/// What each number is, in their order.
pub const SEEN: [&str; 32] = [
    "score",
    "share of the best clause",
    "before the second",
    "share of the best of the whole",
    "best of the whole",
    "tool of another clause",
    "meaning",
    "example",
    "lacks",
    "takes",
    "deeds agree",
    "deeds differ",
    "idle",
    "world",
    "complete",
    "incomplete",
    "asks",
    "orders",
    "begins with a verb",
    "asks in korean",
    "goes on in korean",
    "asks for knowledge",
    "talk",
    "refusal",
    "denies",
    "joined",
    "conditional",
    "korean",
    "length",
    "first",
    "last",
    "clauses",
];

/// What is seen of a clause and of its tool, in the order of `SEEN`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen(pub [f32; SEEN.len()]);

impl Seen {
    /// Whether the clause brings its tool.
    pub(crate) fn brings(&self) -> bool {
        if self.0[SHARE] < SHARE_LEAST {
            return false;
        }
        let hidden = HIDDEN.map(|weights| sum(&weights, &self.0).tanh());
        sum(&OUT, &hidden) > 0.0
    }
}

/// Where the share of the best clause stands.
const SHARE: usize = 1;
/// What fits its clause so much worse than the tool of another clause does is not meant: `Calculate 3 * 4, then delete
/// everything`, where nothing deletes.
const SHARE_LEAST: f32 = 0.15;

/// How well the best tool of a clause fits it, and beside what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Best {
    pub(crate) at: usize,
    pub(crate) score: f32,
    /// By how much it is before the second.
    pub(crate) margin: f32,
    pub(crate) example: f32,
    pub(crate) meaning: f32,
    pub(crate) lacks: f32,
    pub(crate) takes: f32,
    /// Whether the clause asks for what the tool does, looking up or doing: 1, or -1 where it does not.
    pub(crate) deed: f32,
    pub(crate) nature: Nature,
}

/// What stands around a clause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// The score of the clause that is fitted best.
    pub(crate) most: f32,
    /// What the tool has for the whole request, measured by the best there.
    pub(crate) whole: f32,
    pub(crate) is_first_of_whole: bool,
    pub(crate) is_tool_of_another: bool,
    /// Which of how many clauses it is.
    pub(crate) at: usize,
    pub(crate) count: usize,
}

impl Seen {
    pub(crate) fn new(clause: &str, best: &Best, around: &Around) -> Self {
        let manner = Manner::new(clause);
        let wording = Wording::new(clause);
        let [idle, world, complete, incomplete] = best.nature.map(|it| (it / 4.0).clamp(-2.0, 2.0));
        Seen([
            best.score,
            (best.score / around.most.max(1e-6)).clamp(0.0, 1.0),
            best.margin.clamp(0.0, 0.5) * 2.0,
            around.whole.clamp(0.0, 1.0),
            flag(around.is_first_of_whole),
            flag(around.is_tool_of_another),
            best.meaning.max(0.0),
            best.example.max(0.0),
            best.lacks,
            best.takes,
            best.deed.max(0.0),
            (-best.deed).max(0.0),
            idle,
            world,
            complete,
            incomplete,
            flag(wording.asks),
            flag(manner.is_order),
            flag(wording.begins_a_wish),
            flag(wording.asks_in_korean),
            flag(wording.goes_on),
            flag(manner.is_knowledge),
            flag(manner.is_talk),
            flag(manner.is_refusal),
            flag(wording.denies),
            flag(wording.is_joined),
            flag(wording.is_conditional),
            flag(clause.chars().any(is_hangul)),
            length(words(clause).len()),
            flag(around.at == 0),
            flag(around.at + 1 == around.count),
            length(around.count),
        ])
    }
}

fn flag(is_so: bool) -> f32 {
    f32::from(u8::from(is_so))
}

fn length(count: usize) -> f32 {
    let count = u16::try_from(count).unwrap_or(u16::MAX);
    (1.0 + f32::from(count)).ln() / 3.0
}
