//! What can be seen of a request and of the tool that fits it best, in numbers: what the outcome is judged by.

use crate::manner::Manner;
use crate::nature::{Nature, worldly};
use crate::slots::{Filled, Usual, number};
use crate::values::{Given, Sort};

/// What each number is, in their order.
pub const FEATURES: [&str; 69] = [
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
    "idle",
    "world",
    "complete",
    "incomplete",
    "tool of the world",
    "world and the tool",
    "world and not the tool",
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
    "example and lacks",
    "meaning in korean",
    "above in korean",
    "missing in korean",
    "filled in korean",
    "values in korean",
    "filled by more than words",
    "has examples",
    "fewer values than examples",
    "fewer words than examples",
    "shorter than examples",
    "lacks words of one's own",
    "lacks a name",
    "now",
    "past",
    "points",
    "own",
    "idler than examples",
    "less complete than examples",
    "less incomplete than examples",
    "lacks what examples give",
    "lacks most of what examples give",
    "does what only looks",
    "looks for what does",
    "deeds agree",
    "sets apart less than examples",
    "a sum",
    "a sum for the tool",
    "nearly an example",
    "all filled by more than words",
];

/// How many of them are seen beside how well the tool fits and is filled.
const BESIDE: usize = 23;

/// From where on a request is nearly an example prompt of the tool.
const NEARLY: f32 = 0.7;

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
    /// What its examples give it, on the whole.
    pub(crate) usual: Option<Usual>,
    /// Of the sorts of things that its examples give, what is missing: at most, and together.
    pub(crate) lacks: (f32, f32),
    /// How much the tool can be asked about anything in the world.
    pub(crate) world: f32,
    /// Whether the request asks to look something up, and whether the tool does; as `deed` tells it.
    pub(crate) asked_deed: f32,
    pub(crate) deed: f32,
    /// Whether the request is a sum with its numbers, and whether the tool does what is to be done with them.
    pub(crate) is_sum: bool,
    pub(crate) does_sum: bool,
    pub(crate) nature: Nature,
    /// What is read of its examples.
    pub(crate) usual_nature: Option<Nature>,
}

impl Top {
    /// How much more speaks for a kind than does for its examples.
    fn apart(&self, kind: usize) -> f32 {
        let usual = self.usual_nature.unwrap_or(self.nature);
        ((self.nature[kind] - usual[kind]) / 4.0).clamp(-2.0, 2.0)
    }

    /// What is seen beside how well it fits and is filled: measured by its examples, and by how the request speaks.
    fn beside(&self, given: &Given, manner: &Manner) -> [f32; BESIDE] {
        let filled = &self.filled;
        let lacks = 1.0 - filled.worst;
        // Of a tool without examples nobody knows what is usual.
        let usual = self.usual.unwrap_or(Usual::as_given(filled, given));
        [
            flag(self.usual.is_some()),
            fewer(usual.sure, filled.sure),
            fewer(usual.foreign, filled.foreign),
            fewer(usual.said, given.said),
            flag(filled.is_free) * lacks,
            flag(filled.is_named) * lacks,
            flag(manner.is_now),
            flag(manner.is_past),
            number(manner.points.min(3)) / 3.0,
            flag(manner.is_own),
            self.apart(0),
            -self.apart(2),
            -self.apart(3),
            self.lacks.0,
            self.lacks.1.min(3.0) / 3.0,
            flag(self.asked_deed < 0.0 && self.deed > 0.0),
            flag(self.asked_deed > 0.0 && self.deed < 0.0),
            flag(self.asked_deed * self.deed > 0.0),
            usual.apart - flag(given.is_apart),
            flag(self.is_sum),
            flag(self.does_sum),
            ((self.example.unwrap_or(0.0) - NEARLY) / (1.0 - NEARLY)).clamp(0.0, 1.0),
            flag(filled.needed > 0 && filled.worst >= 0.7 && filled.solid() > 0.85),
        ]
    }
}

impl Features {
    pub(crate) fn new(request: &str, given: &Given, top: &Top) -> Self {
        let manner = Manner::new(request);
        let filled = &top.filled;
        let (korean, typed) = (flag(given.is_korean), flag(filled.is_typed));
        let share = 1.0 - filled.lacking();
        let above = top.above.clamp(0.0, 8.0) / 8.0;
        let missing = number(filled.missing.min(3)) / 3.0;
        let meaning = top.about.max(0.0);
        let example = top.example.unwrap_or(meaning).max(meaning);
        let lacks = 1.0 - filled.worst;
        let values = number(filled.sure.min(5)) / 5.0;
        let [idle, world, complete, incomplete] = top.nature.map(|it| (it / 4.0).clamp(-2.0, 2.0));
        let worldly = worldly(&top.nature);
        let fit = [
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
            (1.0 + number(given.said)).ln() / 3.0,
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
            idle,
            world,
            complete,
            incomplete,
            top.world,
            worldly * top.world,
            worldly * (1.0 - top.world),
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
            example * lacks,
            meaning * korean,
            above * korean,
            missing * korean,
            share * korean,
            values * korean,
            filled.solid(),
        ];
        let mut all = [0.0; FEATURES.len()];
        let (first, last) = all.split_at_mut(fit.len());
        first.copy_from_slice(&fit);
        last.copy_from_slice(&top.beside(given, &manner));
        Features(all)
    }
}

fn flag(is_so: bool) -> f32 {
    f32::from(u8::from(is_so))
}

/// By how much something is less than usual.
fn fewer(usual: f32, count: usize) -> f32 {
    ((usual - number(count)) / 4.0).clamp(-1.0, 1.0)
}
