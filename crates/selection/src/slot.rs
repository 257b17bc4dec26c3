//! One parameter of a tool, and how well each thing that a request gives would fill it.

use crate::item::Parameter;
use crate::values::{Sort, Value};
use crate::wants::{Want, want};
use crate::words::spoken;

/// More choices are not looked at: each is compared with each value of each request.
const CHOICES_MAX: usize = 200;

/// How well something fits that a tool says it is about: `onboarding guide`, given to a search in `policies, onboarding guides`.
const LISTED: f32 = 0.5;

/// Whether a word is the asker's, or one that the tool has itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Asker,
    Tool,
    /// The tool has it in a list of the things that it is about.
    Listed,
}

/// Something that a request gives, while slots take what fits them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) value: &'a Value,
    pub(crate) whose: Whose,
}

/// A parameter that a request has to speak of.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) want: Want,
    /// It may also be a name: `name or e-mail address`.
    is_name: bool,
    /// Or an e-mail address, or one of the web: `address or text to encode`.
    pub(crate) is_mail: bool,
    pub(crate) is_web: bool,
    is_from: bool,
    is_to: bool,
    pub(crate) is_needed: bool,
    /// Its type is known, so what it wants is no guess.
    pub(crate) is_typed: bool,
    choices: Vec<String>,
}

impl Slot {
    pub(crate) fn new(it: &Parameter) -> Self {
        let name = spoken(&it.name);
        let about = it.description.to_lowercase();
        let has = |names: &[&str]| {
            names
                .iter()
                .any(|word| name.split(' ').any(|own| own == *word))
        };
        let any = |phrases: &[&str]| phrases.iter().any(|it| about.contains(it));
        let is_name = about.contains("name") || about.contains("이름");
        // What follows from the rest need not be said.
        let follows = [
            "default",
            "optional",
            "the same day",
            "기본",
            "선택",
            "생략",
        ];
        let follows = it.has_default || follows.iter().any(|word| about.contains(word));
        Slot {
            want: want(it, &name, &about),
            is_name,
            is_mail: any(&["e-mail", "email", "이메일", "메일 주소"]),
            is_web: any(&["address or", "url", "link", "링크", "웹 주소"]),
            is_from: has(&["from", "origin", "source", "departure", "start", "begin"])
                || about.contains("출발"),
            is_to: has(&["to", "destination", "arrival", "end", "until", "target"])
                || about.contains("도착"),
            is_needed: it.required && !follows,
            is_typed: !it.kind.is_empty(),
            choices: it
                .choices
                .iter()
                .take(CHOICES_MAX)
                .map(|it| spoken(it))
                .collect(),
        }
    }

    /// The more values fit, the later a slot takes its own.
    pub(crate) fn freedom(&self) -> usize {
        match self.want {
            Want::Query => 6,
            Want::Text => 5,
            Want::Any => 4,
            Want::Name | Want::Place => 3,
            Want::Key | Want::Choice => 2,
            Want::Number | Want::Moment => 1,
            _ => 0,
        }
    }

    /// Takes the value that fits best away from those that are left; says how well it fits, and whether it is more than
    /// some word.
    pub(crate) fn take(&self, left: &mut [Option<Said<'_>>]) -> (f32, bool) {
        let fits = left
            .iter()
            .enumerate()
            .filter_map(|(at, it)| Some((at, self.fit_of((*it)?))));
        let best = fits.max_by(|a, b| a.1.total_cmp(&b.1));
        match best {
            Some((at, fit)) if fit > 0.0 => {
                let Some(taken) = left[at].take() else {
                    return (0.0, false);
                };
                drop_run(taken.value, left);
                (fit, taken.value.sort != Sort::Word)
            }
            _ => (0.0, false),
        }
    }

    /// A word of the tool's own gives it nothing, unless it is one of the choices, or one of the things that the tool says it is
    /// about.
    fn fit_of(&self, said: Said<'_>) -> f32 {
        match (said.whose, self.want) {
            (Whose::Asker, _) => self.fit(said.value),
            (_, Want::Choice) if self.is_choice(said.value) => 1.0,
            (Whose::Listed, Want::Query | Want::Any | Want::Name | Want::Place) => LISTED,
            _ => 0.0,
        }
    }

    /// How well a value fits.
    fn fit(&self, value: &Value) -> f32 {
        let sort = value.sort;
        let some =
            |fits: &[(Sort, f32)]| fits.iter().find(|it| it.0 == sort).map_or(0.0, |it| it.1);
        let fit = match self.want {
            Want::Number => some(&[(Sort::Number, 1.0)]),
            Want::Day => some(&[(Sort::Day, 1.0), (Sort::Hour, 0.2)]),
            Want::Hour => some(&[(Sort::Hour, 1.0)]),
            Want::Moment => some(&[(Sort::Hour, 1.0), (Sort::Day, 0.9)]),
            Want::Mail => some(&[
                (Sort::Mail, 1.0),
                (Sort::Name, if self.is_name { 0.9 } else { 0.4 }),
            ]),
            Want::Web => some(&[(Sort::Web, 1.0), (Sort::File, 0.3)]),
            Want::Picture => some(&[(Sort::Picture, 1.0), (Sort::Web, 0.8), (Sort::File, 0.8)]),
            Want::File => some(&[(Sort::File, 1.0), (Sort::Picture, 0.8), (Sort::Web, 0.8)]),
            Want::Key => some(&[
                (Sort::Key, 1.0),
                (Sort::Quote, 0.9),
                (Sort::Number, 0.7),
                (Sort::Name, if self.is_name { 0.9 } else { 0.35 }),
                (Sort::Word, if self.is_name { 0.6 } else { 0.1 }),
            ]),
            Want::Language => some(&[(Sort::Language, 1.0)]),
            Want::Currency => some(&[(Sort::Currency, 1.0)]),
            Want::Choice => self.choice(value),
            Want::Place => some(&[(Sort::Name, 1.0), (Sort::Word, 0.7), (Sort::Key, 0.3)]),
            Want::Name => some(&[
                (Sort::Name, 1.0),
                (Sort::Mail, 1.0),
                (Sort::Key, 0.9),
                (Sort::Quote, 0.9),
                (Sort::Word, 0.6),
            ]),
            Want::Text => some(&[
                (Sort::Quote, 1.0),
                (Sort::Word, 0.7),
                (Sort::Name, 0.6),
                (Sort::Web, 0.8),
                (Sort::Number, 0.4),
                (Sort::Key, 0.6),
                (Sort::Day, 0.3),
                (Sort::Hour, 0.2),
            ]),
            Want::Query => some(&[
                (Sort::Quote, 1.0),
                (Sort::Word, 0.8),
                (Sort::Name, 0.9),
                (Sort::Key, 1.0),
                (Sort::Number, 0.9),
                (Sort::Mail, 0.9),
                (Sort::Web, 0.9),
                (Sort::Day, 0.4),
                (Sort::Language, 0.6),
                (Sort::Currency, 0.6),
            ]),
            Want::Any => some(&[
                (Sort::Name, 1.0),
                (Sort::Quote, 1.0),
                (Sort::Key, 0.9),
                (Sort::Number, 0.7),
                (Sort::Word, 0.7),
                (Sort::Day, 0.5),
                (Sort::Hour, 0.4),
                (Sort::Web, 0.8),
                (Sort::Mail, 0.8),
                (Sort::File, 0.8),
                (Sort::Picture, 0.8),
                (Sort::Language, 0.6),
                (Sort::Currency, 0.6),
            ]),
        };
        // What goes to a place does not come from it.
        let is_wrong = (self.is_from && value.is_to && !value.is_from)
            || (self.is_to && value.is_from && !value.is_to);
        if is_wrong { fit * 0.3 } else { fit }
    }

    fn is_choice(&self, value: &Value) -> bool {
        self.choices.iter().any(|it| {
            let mut parts = it.split(' ');
            *it == value.text || parts.any(|part| part.len() > 2 && value.text.starts_with(part))
        })
    }

    fn choice(&self, value: &Value) -> f32 {
        match (self.is_choice(value), value.sort) {
            (true, _) => 1.0,
            // In other words, or another language.
            (false, Sort::Word) => 0.55,
            (false, Sort::Name) => 0.3,
            _ => 0.0,
        }
    }
}

/// `Brian Cho` is one value, and so is `Gangnam station`. Korean says in the same way what are two.
fn drop_run(taken: &Value, left: &mut [Option<Said<'_>>]) {
    let is_part = |it: &Value| {
        matches!(it.sort, Sort::Name | Sort::Word) && it.text.is_ascii() && !it.is_from && !it.is_to
    };
    if !is_part(&Value {
        is_from: false,
        is_to: false,
        ..taken.clone()
    }) {
        return;
    }
    let mut place = taken.place;
    for it in left.iter_mut() {
        if let Some(said) = *it
            && said.value.place == place + 1
            && is_part(said.value)
        {
            place += 1;
            *it = None;
        }
    }
}
