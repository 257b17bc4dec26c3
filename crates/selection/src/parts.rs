//! What is worked out once for a tool: its words, its spelling, its vectors and its rules. Kept as long as the tool says
//! the same.

use crate::bm25::Bag;
use crate::deed;
use crate::dense::Vector;
use crate::grams::Spelling;
use crate::item::Item;
use crate::nature::{Nature, Reader, mean};
use crate::preference::{Kind, Rule, read};
use crate::rank::Weights;
use crate::reach::Reach;
use crate::slots::{Slots, same_language};
use crate::sums::operations;
use crate::turns::Turns;
use crate::vectors::{Encode, Vectors};
use crate::words::{cut, spoken, words};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// An encoder reads no more of a description than this with profit: the longer the text, the less its vector says.
const ABOUT_BYTES_MAX: usize = 600;
const EXAMPLES_MAX: usize = 24;

/// Examples that differ more say no more of what a tool is for.
const TOGETHER_LEAST: f32 = 0.3;

/// How near an example that anybody may have written must be to what the tool says of itself, so that it counts.
const OWN_EXAMPLE: f32 = 0.15;

/// What the words of each text of a tool weigh.
const NAME: f32 = 2.0;
const TITLE: f32 = 1.0;
const ABOUT: f32 = 1.0;
const PARAMETER: f32 = 0.7;
const PARAMETER_ABOUT: f32 = 0.4;
const EXAMPLE: f32 = 0.7;

pub(crate) type Key = [u8; 32];

/// What all parts are made with.
pub(crate) struct Making<'a> {
    pub(crate) encoder: &'a dyn Encode,
    pub(crate) vectors: &'a Vectors,
    pub(crate) weights: &'a Weights,
    pub(crate) background: &'a [Arc<Vector>],
    pub(crate) reader: &'a Reader,
    pub(crate) reach: &'a Reach,
}

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Whether whoever runs the server answers for it.
    pub(crate) is_trusted: bool,
    pub(crate) bag: Bag,
    pub(crate) spelling: Spelling,
    pub(crate) spelt: Spelling,
    pub(crate) about: Option<Arc<Vector>>,
    pub(crate) user: Option<Arc<Vector>>,
    pub(crate) named: Option<Arc<Vector>>,
    pub(crate) examples: Vec<Arc<Vector>>,
    pub(crate) rules: Vec<(Rule, Option<Arc<Vector>>)>,
    pub(crate) slots: Slots,
    /// Whether it looks something up or does something, by its name.
    pub(crate) deed: f32,
    /// What it does with numbers, by all that it says of itself.
    pub(crate) operations: u8,
    /// Whether all its texts have vectors. One without some is made anew at the next chance.
    pub(crate) is_whole: bool,
    /// How much it can be asked about anything in the world.
    pub(crate) world: f32,
    /// What is read of its examples on the whole, of those in other languages and of those in Korean: they need it, and
    /// say all that it needs.
    pub(crate) natures: [Option<Nature>; 2],
    /// All vectors in one, by their weights.
    pub(crate) blended: Option<Vector>,
    /// How near it is to any request, and how much nearer the nearest of its examples is than they are on the whole.
    pub(crate) usual: f32,
    pub(crate) usual_nearest: f32,
    /// How much nearer the better of its two descriptions is than they are on the whole.
    pub(crate) usual_apart: f32,
}

impl Part {
    pub(crate) fn new(item: &Item, mut texts: Texts, making: &Making<'_>) -> Self {
        let weights = making.weights;
        if !item.trusted {
            texts.keep_own_examples(making.vectors);
        }
        let mut is_whole = true;
        let mut vector = |text: &str| {
            let found = making.vectors.known(text);
            let is_wanted = !text.trim().is_empty() && !making.encoder.refuses(text);
            is_whole &= found.is_some() || !is_wanted;
            found
        };
        let about = vector(&texts.about);
        let user = texts.user.as_deref().and_then(&mut vector);
        let named = vector(&texts.name);
        let examples: Vec<Arc<Vector>> =
            texts.examples.iter().filter_map(|it| vector(it)).collect();
        let rules = std::mem::take(&mut texts.rules);
        let rules = rules.into_iter().map(|rule| {
            let when = vector(&rule.condition);
            (rule, when)
        });
        let rules = rules.collect();
        let blended = blended(&[&about, &user], named.as_deref(), &examples, weights);
        let (usual, usual_nearest) = usual(blended.as_ref(), &examples, making.background);
        let usual_apart = apart(about.as_deref(), user.as_deref(), making.background);
        let abouts = [about.as_deref(), user.as_deref()];
        let read = |text: &str| {
            let vector = making.vectors.known(text)?;
            Some(making.reader.read(Some(&vector), &Turns::new(text)))
        };
        let each: Vec<Nature> = texts.examples.iter().filter_map(|it| read(it)).collect();
        let world = making.reach.of(&abouts, &each, making.reader.is_trained());
        let natures = same_language(&texts.examples)
            .map(|same| mean(&same.into_iter().filter_map(read).collect::<Vec<_>>()));
        Part {
            natures,
            usual,
            world,
            usual_nearest,
            usual_apart,
            name: item.name.clone(),
            is_trusted: item.trusted,
            bag: bag(item, &texts),
            spelling: Spelling::new(&format!("{} {}", texts.name, texts.plain)),
            spelt: Spelling::of_examples(&texts.examples),
            blended,
            about,
            user,
            named,
            examples,
            rules,
            slots: Slots::new(item),
            deed: deed::of_tool(&item.name),
            operations: operations(&format!("{} {}", spoken(&item.name), item.description)),
            is_whole,
        }
    }
}

/// The texts of a tool that are compared as a whole.
pub(crate) struct Texts {
    pub(crate) name: String,
    pub(crate) plain: String,
    pub(crate) about: String,
    pub(crate) user: Option<String>,
    pub(crate) examples: Vec<String>,
    pub(crate) rules: Vec<Rule>,
}

impl Texts {
    pub(crate) fn new(item: &Item) -> Self {
        let parameters = item.parameters.iter().map(|it| it.name.as_str());
        let parameters: Vec<&str> = parameters.collect();
        let mut said = read(&item.description, &parameters);
        let user = item.description_user.as_deref();
        let user = user.map(|it| read(it, &parameters));
        let title = item.title.as_deref().filter(|it| !it.trim().is_empty());
        let name = title.map_or_else(|| spoken(&item.name), spoken);
        let about = format!("{name}: {}", cut(&said.text, ABOUT_BYTES_MAX));
        let mut plain = std::mem::take(&mut said.text);
        let mut rules = said.rules;
        let mut user_about = None;
        if let Some(user) = user {
            plain.push(' ');
            plain.push_str(&user.text);
            user_about = Some(cut(&user.text, ABOUT_BYTES_MAX).to_owned());
            rules.extend(user.rules);
        }
        // What anybody may write is not listened to.
        rules.retain(|rule| item.trusted && (rule.kind != Kind::Own || !rule.condition.is_empty()));
        let examples = item.examples.iter().take(EXAMPLES_MAX);
        Texts {
            name,
            plain,
            about,
            user: user_about,
            examples: examples
                .map(|it| cut(it, ABOUT_BYTES_MAX).to_owned())
                .collect(),
            rules,
        }
    }

    /// Of examples that anybody may have written, those count that are about what the tool says of itself.
    fn keep_own_examples(&mut self, vectors: &Vectors) {
        let own = [Some(&self.about), self.user.as_ref(), Some(&self.name)];
        let own: Vec<_> = own
            .iter()
            .flatten()
            .filter_map(|it| vectors.known(it))
            .collect();
        self.examples.retain(|it| {
            let known = vectors.known(it);
            known.is_none_or(|example| own.iter().any(|it| it.dot(&example) >= OWN_EXAMPLE))
        });
    }

    /// All that is encoded.
    pub(crate) fn encoded(&self) -> impl Iterator<Item = &str> {
        let own = [self.about.as_str(), self.name.as_str()].into_iter();
        let user = self.user.as_deref().into_iter();
        let examples = self.examples.iter().map(String::as_str);
        let conditions = self.rules.iter().map(|it| it.condition.as_str());
        own.chain(user).chain(examples).chain(conditions)
    }
}

fn bag(item: &Item, texts: &Texts) -> Bag {
    let mut fields = vec![(words(&item.name), NAME), (words(&texts.plain), ABOUT)];
    let title = item.title.as_deref().unwrap_or_default();
    fields.push((words(title), TITLE));
    for parameter in &item.parameters {
        fields.push((words(&parameter.name), PARAMETER));
        fields.push((words(&parameter.description), PARAMETER_ABOUT));
    }
    let examples = texts.examples.iter();
    fields.extend(examples.map(|it| (words(it), EXAMPLE)));
    Bag::new(
        fields
            .iter()
            .map(|(words, weight)| (words.as_slice(), *weight)),
    )
}

/// To be near to a sum is to be near to its parts, so that one row for each tool is enough. The weights of what a tool
/// has add up to the same for all, but for how much examples differ: to say more is no advantage.
fn blended(
    abouts: &[&Option<Arc<Vector>>],
    named: Option<&Vector>,
    examples: &[Arc<Vector>],
    weights: &Weights,
) -> Option<Vector> {
    let mut parts: Vec<(&Vector, f32)> = Vec::new();
    let abouts: Vec<&Vector> = abouts.iter().filter_map(|it| it.as_deref()).collect();
    let share = |count: usize| 1.0 / f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    let own = weights.own(!examples.is_empty());
    parts.extend(
        abouts
            .iter()
            .map(|it| (*it, weights.about * own * share(abouts.len()))),
    );
    parts.extend(named.map(|it| (it, weights.name * own)));
    let all = (weights.about + weights.name) * own;
    // The more examples differ, the shorter their mean is, and the farther from all that is asked; a tool that is asked for
    // in many ways should not lose by that.
    let each = all * (weights.examples / together(examples) + weights.nearest);
    parts.extend(
        examples
            .iter()
            .map(|it| (&**it, each * share(examples.len()))),
    );
    Vector::sum(parts.into_iter())
}

/// How long the mean of some vectors of length 1 is.
fn together(vectors: &[Arc<Vector>]) -> f32 {
    let share = 1.0 / f32::from(u16::try_from(vectors.len().max(1)).unwrap_or(u16::MAX));
    let mean = Vector::sum(vectors.iter().map(|it| (&**it, share)));
    mean.map_or(1.0, |it| it.dot(&it).sqrt())
        .max(TOGETHER_LEAST)
}

fn usual(
    blended: Option<&Vector>,
    examples: &[Arc<Vector>],
    background: &[Arc<Vector>],
) -> (f32, f32) {
    let mean = |each: &dyn Fn(&Vector) -> f32| {
        let count = u16::try_from(background.len().max(1)).unwrap_or(u16::MAX);
        background.iter().map(|it| each(it)).sum::<f32>() / f32::from(count)
    };
    let near = |it: &Vector| blended.map_or(0.0, |own| own.dot(it));
    let more = |it: &Vector| spread(examples.iter().map(|own| own.dot(it))).map_or(0.0, |it| it.1);
    (mean(&near), mean(&more))
}

fn apart(about: Option<&Vector>, user: Option<&Vector>, background: &[Arc<Vector>]) -> f32 {
    let (Some(about), Some(user)) = (about, user) else {
        return 0.0;
    };
    let count = f32::from(u16::try_from(background.len().max(1)).unwrap_or(u16::MAX));
    let each = background
        .iter()
        .map(|it| (about.dot(it) - user.dot(it)).abs() / 2.0);
    each.sum::<f32>() / count
}

/// The nearest, and how much nearer it is than they are on the whole.
pub(crate) fn spread(near: impl Iterator<Item = f32> + Clone) -> Option<(f32, f32)> {
    let nearest = near.clone().max_by(f32::total_cmp)?;
    let count = u16::try_from(near.clone().count()).unwrap_or(u16::MAX);
    Some((nearest, nearest - near.sum::<f32>() / f32::from(count)))
}

/// The same for two tools only if they say the same.
pub(crate) fn key(item: &Item) -> Key {
    let mut hash = Sha256::new();
    let mut text = |text: &str| {
        hash.update(text.len().to_le_bytes());
        hash.update(text.as_bytes());
    };
    text(&item.name);
    text(item.title.as_deref().unwrap_or("\0"));
    text(&item.description);
    text(item.description_user.as_deref().unwrap_or("\0"));
    for parameter in &item.parameters {
        text(&parameter.name);
        text(&parameter.description);
        text(if parameter.required { "required" } else { "" });
        text(if parameter.has_default { "default" } else { "" });
        text(&parameter.kind);
        text(&parameter.format);
        for one in parameter.choices.iter().chain(&parameter.examples) {
            text(one);
        }
        text("next");
    }
    text("examples");
    for example in &item.examples {
        text(example);
    }
    text(if item.trusted { "trusted" } else { "" });
    hash.finalize().into()
}
