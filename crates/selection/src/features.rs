//! What can be seen of a request and of the tool that fits it best, in numbers: what the outcome is judged by.

use crate::manner::Manner;
use crate::nature::Nature;
use crate::slots::Filled;
use crate::values::{Given, Sort};

/// What each number is, in their order.
pub const FEATURES: [&str; 50] = [
    "meaning",
    "name",
    "example",
    "words",
    "spelling",
    "score",
    "above the others",
    "before the second",
    "tools",
    "korean",
    "length",
    "share not of the tool",
    "needed",
    "nothing needed",
    "filled",
    "worst filled",
    "missing",
    "all missing",
    "more than needed",
    "values",
    "numbers",
    "quotes",
    "talk",
    "knowledge",
    "thought",
    "hands",
    "work",
    "world",
    "world and the tool",
    "world and not the tool",
    "nearer to no tool",
    "asks for knowledge",
    "small talk",
    "asks to do",
    "vague",
    "unknown",
    "refusal",
    "surely lacks",
    "surely missing",
    "surely has all",
    "fits and lacks",
    "work and lacks",
    "work and fits",
    "example and lacks",
    "meaning in korean",
    "above in korean",
    "missing in korean",
    "filled in korean",
    "work in korean",
    "values in korean",
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features(pub [f32; FEATURES.len()]);

/// What is known of the tool that fits best.
#[derive(Debug, Default)]
pub(crate) struct Top {
    pub(crate) about: f32,
    pub(crate) name: f32,
    pub(crate) example: Option<f32>,
    pub(crate) words: f32,
    pub(crate) spelling: f32,
    pub(crate) score: f32,
    /// By how many spreads it is above the mean.
    pub(crate) above: f32,
    /// By how much it is before the second.
    pub(crate) margin: f32,
    pub(crate) shown: usize,
    pub(crate) filled: Filled,
    /// How much the tool is asked about the world just now.
    pub(crate) world: f32,
    pub(crate) nature: Nature,
    /// How near the nearest written request is that needs no tool.
    pub(crate) idle: f32,
}

impl Features {
    pub(crate) fn new(request: &str, given: &Given, top: &Top) -> Self {
        let manner = Manner::new(request);
        let filled = &top.filled;
        let korean = flag(given.is_korean);
        let share = 1.0 - filled.lacking();
        let above = top.above.clamp(0.0, 8.0) / 8.0;
        let missing = number(filled.missing.min(3)) / 3.0;
        let meaning = top.about.max(0.0);
        let example = top.example.unwrap_or(meaning).max(meaning);
        let lacks = 1.0 - filled.worst;
        let typed = flag(filled.is_typed);
        let values = number(filled.sure.min(5)) / 5.0;
        let [talk, knowledge, thought, hands, work, world] = top.nature;
        let length = (1.0 + number(given.said)).ln() / 3.0;
        Features([
            meaning,
            top.name.max(0.0),
            example,
            top.words.min(2.0),
            top.spelling,
            top.score,
            above,
            top.margin.clamp(0.0, 0.5) * 2.0,
            (1.0 + number(top.shown)).ln() / 7.0,
            korean,
            length,
            number(filled.foreign) / number(given.said.max(1)),
            number(filled.needed.min(5)) / 5.0,
            flag(filled.needed == 0),
            share,
            filled.worst,
            missing,
            flag(filled.needed > 0 && filled.missing == filled.needed),
            number(filled.over.min(6)) / 6.0,
            values,
            number(given.count(Sort::Number).min(4)) / 4.0,
            number(given.count(Sort::Quote).min(2)) / 2.0,
            talk,
            knowledge,
            thought,
            hands,
            work,
            world,
            world.max(0.0) * top.world,
            world.max(0.0) * (1.0 - top.world),
            top.idle - example,
            flag(manner.is_knowledge),
            flag(manner.is_talk),
            flag(manner.is_order),
            flag(manner.is_vague),
            flag(manner.is_unknown),
            flag(manner.is_refusal),
            typed * lacks,
            typed * missing,
            typed * flag(filled.missing == 0),
            top.score * lacks,
            work * lacks,
            work * top.score,
            example * lacks,
            meaning * korean,
            above * korean,
            missing * korean,
            share * korean,
            work * korean,
            values * korean,
        ])
    }
}

fn flag(is_so: bool) -> f32 {
    f32::from(u8::from(is_so))
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn number(count: usize) -> f32 {
    count as f32
}
