//! The filling of one tool's parameters from one request, sort by sort: those first that few values fit.

use super::assigned::{assigned, is_sequence, unsaid};
use super::days::Times;
use super::doubt::is_denied;
use super::mentions::mentions;
use super::questions::question;
use super::said::Said;
use super::values::{literal, pair, read};
use super::wanted::{Choice, End, Shape, Wanted, kind, loosened, wanted};
use super::{Filled, Missing, choices, formula, numbers, spans, texts};
use catalog::schema::Schema;
use jiff::civil::Date;
use selection::Item;
use selection::speech::{ASKING, ASKING_KOREAN, keys, own_words};
use serde_json::{Map, Value};

pub(super) struct Filling<'a> {
    pub(super) said: Said<'a>,
    pub(super) times: Times,
    pub(super) wanted: Vec<Wanted<'a>>,
    /// Checks one argument by itself; none where the schema cannot be used.
    schema: Option<Schema>,
    pub(super) own: Vec<u32>,
    pub(super) description: &'a str,
    /// What it is called and what it does, in small letters.
    pub(super) about: String,
    today: Date,
    /// The calculation that the request is.
    formula: Option<String>,
    pub(super) arguments: Map<String, Value>,
    /// Those for which two values are offered, and which of them is not said.
    left_open: Vec<usize>,
}

impl<'a> Filling<'a> {
    pub(super) fn new(request: &'a str, tool: &'a Item, schema: &'a Value, today: Date) -> Self {
        let said = Said::new(request);
        let wanted = wanted(schema);
        let mut own = own_words(tool);
        // What is to be chosen from is nobody's name.
        own.extend(wanted.iter().flat_map(|it| it.choices()).flat_map(keys));
        own.sort_unstable();
        Filling {
            times: Times::new(&said, today),
            said,
            wanted,
            schema: Schema::compile(&loosened(schema)).ok(),
            own,
            description: &tool.description,
            about: format!("{} {}", tool.name, tool.description).to_lowercase(),
            today,
            formula: formula::formula(request),
            arguments: Map::new(),
            left_open: Vec::new(),
        }
    }

    /// What is written as data: `{"num1": 5, "num2": 3}`, `num1=5 num2=3`.
    pub(super) fn given_by_name(&mut self) {
        if let Some(object) = literal(self.said.request) {
            let is_known = |name: &String| self.wanted.iter().any(|it| it.name == name);
            if object.keys().all(is_known) {
                for (name, value) in object {
                    let at = self.wanted.iter().position(|it| it.name == name);
                    self.put_at(at, Some(value));
                }
            }
        }
        for at in self.open(|_| true) {
            let wanted = &self.wanted[at];
            let is_free =
                wanted.shape.is_free() || matches!(wanted.shape, Shape::Formula | Shape::Sql);
            let is_list = kind(wanted.schema) == "array";
            let value = pair(&self.said, wanted.name, !is_free, is_list);
            let value = value.and_then(|text| read(text, wanted.schema, self.today).ok());
            self.put_at(Some(at), value);
        }
    }

    /// Where there is one value only, that is it.
    pub(super) fn without_choice(&mut self) {
        for at in self.open(|it| it.required) {
            if let Shape::Choice(choices) = &self.wanted[at].shape
                && let [one] = &choices[..]
            {
                let value = one.value.clone();
                self.put(at, value);
            }
        }
    }

    pub(super) fn choices(&mut self) {
        let has_text = self.wanted.iter().any(|it| it.shape == Shape::Text);
        let text_from = match texts::text_from(&self.said) {
            Some(place) if has_text => place,
            _ => usize::MAX,
        };
        for at in self.open(|_| true) {
            let value = match &self.wanted[at].shape {
                Shape::Choice(list) => {
                    let twin = self.twin(at, list);
                    match (twin, self.wanted[at].end) {
                        (true, Some(end)) => choices::ends(&self.said, list).map(|(from, to)| {
                            let one = if end == End::From { from } else { to };
                            list[one].value.clone()
                        }),
                        (true, None) => None,
                        (false, _) => {
                            choices::chosen(&self.said, &self.wanted[at], list, text_from)
                                .map(|one| list[one].value.clone())
                        }
                    }
                }
                Shape::Choices(list) => self.chosen_list(list, self.wanted[at].required),
                Shape::Boolean => choices::yes_or_no(&self.said, &self.wanted[at]).map(Value::Bool),
                _ => None,
            };
            let is_left_open = value.is_none()
                && matches!(&self.wanted[at].shape, Shape::Choice(list)
                    if choices::is_left_open(&self.said, list, text_from));
            if is_left_open {
                self.left_open.push(at);
            }
            self.put_at(Some(at), value);
        }
    }

    /// Whether another parameter has the same choices.
    fn twin(&self, at: usize, list: &[Choice]) -> bool {
        let others = self
            .wanted
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at);
        others
            .map(|it| &it.1.shape)
            .any(|it| matches!(it, Shape::Choice(other) if other == list))
    }

    fn chosen_list(&self, list: &[Choice], is_required: bool) -> Option<Value> {
        let mentions = mentions(&self.said, list);
        if mentions.iter().any(|it| it.is_not_meant(&self.said)) {
            return None;
        }
        let mut found: Vec<usize> = mentions.iter().map(|it| it.choice).collect();
        found.dedup();
        let values = found.iter().map(|it| list[*it].value.clone()).collect();
        (is_required && !found.is_empty()).then_some(Value::Array(values))
    }

    pub(super) fn numbers(&mut self) {
        let all = numbers::numbers(&self.said, &self.times.taken());
        let mut given = all.clone();
        given.retain(|it| !is_denied(&self.said, &self.said.place(&(it.at..it.last + 1))));
        let open = self.open(|it| it.shape == Shape::Number);
        let fits = |it: &String| formula::fits(it, &self.about);
        if !self.formula.as_ref().is_none_or(fits) {
            return;
        }
        let has_unit_beside = self.wanted.iter().any(|it| {
            it.spoken
                .split(' ')
                .any(|own| matches!(own, "unit" | "currency"))
        });
        let params: Vec<&Wanted<'_>> = open.iter().map(|at| &self.wanted[*at]).collect();
        let required: Vec<&Wanted<'_>> = params.iter().copied().filter(|it| it.required).collect();
        let are_operands = required.len() > 1 && is_sequence(&required);
        if are_operands && formula::computes(&self.about) && !self.is_all_said(&given) {
            return;
        }
        let is_exact = self.formula.is_some();
        let pairs = assigned(&self.said, &params, &given, has_unit_beside, is_exact);
        for (which, number) in pairs {
            self.put_at(Some(open[which]), given[number].json());
        }
        if open.is_empty() && given.len() == all.len() && spans::is_list(&self.said, &given) {
            let list: Option<Vec<Value>> = given.iter().map(numbers::Number::json).collect();
            if let Some(list) = list {
                self.only(|it| it.shape == Shape::Numbers, Value::Array(list));
            }
        }
    }

    /// Whether a request to calculate says nothing that these numbers alone would leave out: the sign of one (`minus 5 times 3`),
    /// or what is to be done with one before (`2 by the square root of 9`).
    fn is_all_said(&self, given: &[numbers::Number]) -> bool {
        if let Some(formula) = &self.formula {
            let negative = given.iter().filter(|it| it.value < 0.0);
            return formula::negatives(formula) == negative.count();
        }
        let is_number = |at: usize| given.iter().any(|it| (it.at..=it.last).contains(&at));
        let open: Vec<usize> = unsaid(&self.said).map(|it| it.at).collect();
        let last = given.last().map_or(0, |it| it.last);
        let words = self.said.words.iter().enumerate();
        // `4 by 5 without rounding`
        let mut words = words.take_while(|(at, it)| it.stem != "without" || *at < last);
        words.all(|(at, word)| {
            let all = keys(&word.stem);
            let known = all.iter().filter(|it| self.own.binary_search(it).is_ok());
            let is_own = known.count() * 2 >= all.len();
            is_own
                || is_number(at)
                || open.contains(&at)
                || is_reminder(&word.stem)
                || ASKING.contains(&word.stem.as_str())
                || ASKING_KOREAN.contains(&word.stem.as_str())
                || formula::says_work(&word.stem, &self.about)
        })
    }

    pub(super) fn formulas(&mut self) {
        let text = self
            .formula
            .clone()
            .or_else(|| match &self.said.quotes[..] {
                [one] => formula::formula(one.text),
                _ => None,
            });
        if let Some(text) = text {
            self.only(
                |it| it.shape == Shape::Formula && it.required,
                Value::String(text),
            );
        }
        if let Some(text) = texts::sql(&self.said).map(str::to_owned) {
            self.only(
                |it| it.shape == Shape::Sql && it.required,
                Value::String(text),
            );
        }
    }

    pub(super) fn finished(mut self) -> Filled {
        let is_korean = self.said.is_korean;
        let mut missing = Vec::new();
        let open = self.open(|_| true);
        for at in open {
            let wanted = &self.wanted[at];
            let is_left_open = self.left_open.contains(&at);
            if !wanted.required && !is_left_open {
                continue;
            }
            let default = wanted.schema.get("default");
            match default.filter(|it| !it.is_null() && !is_left_open) {
                Some(default) => {
                    let default = default.clone();
                    self.put(at, default);
                }
                None => missing.push(Missing {
                    name: wanted.name.to_owned(),
                    schema: wanted.schema.clone(),
                    question: question(wanted, is_korean),
                }),
            }
        }
        missing.extend(self.one_of());
        Filled {
            arguments: self.arguments,
            missing,
        }
    }

    /// `Give exactly one of `path` or `url``: schemas for models cannot say it, so descriptions do.
    fn one_of(&self) -> Option<Missing> {
        let (_, told) = self.description.split_once("one of ")?;
        let told = told.split(". ").next()?;
        let named: Vec<&Wanted<'_>> = told
            .split('`')
            .skip(1)
            .step_by(2)
            .filter_map(|name| self.wanted.iter().find(|it| it.name == name))
            .collect();
        let is_given = named
            .iter()
            .any(|it| self.arguments.contains_key(it.name) || it.required);
        let first = named.first().filter(|_| named.len() > 1 && !is_given)?;
        Some(Missing {
            name: first.name.to_owned(),
            schema: first.schema.clone(),
            question: question(first, self.said.is_korean),
        })
    }

    pub(super) fn open(&self, is_wanted: impl Fn(&Wanted<'a>) -> bool) -> Vec<usize> {
        let all = self.wanted.iter().enumerate();
        let open = all.filter(|(_, it)| !self.arguments.contains_key(it.name) && is_wanted(it));
        open.map(|it| it.0).collect()
    }

    /// Gives a value to the only parameter that it could be for.
    pub(super) fn only(&mut self, is_wanted: impl Fn(&Wanted<'a>) -> bool, value: Value) -> bool {
        match self.open(is_wanted)[..] {
            [at] => self.put(at, value),
            _ => false,
        }
    }

    pub(super) fn fits(&self, at: usize, value: &Value) -> bool {
        let one: Map<String, Value> = [(self.wanted[at].name.to_owned(), value.clone())]
            .into_iter()
            .collect();
        let schema = self.schema.as_ref();
        schema.is_none_or(|it| it.check(&Value::Object(one)).is_ok())
    }

    pub(super) fn put_at(&mut self, at: Option<usize>, value: Option<Value>) {
        if let (Some(at), Some(value)) = (at, value) {
            self.put(at, value);
        }
    }

    /// What the schema does not take is not given.
    pub(super) fn put(&mut self, at: usize, value: Value) -> bool {
        let fits = self.fits(at, &value);
        if fits {
            self.arguments
                .insert(self.wanted[at].name.to_owned(), value);
        }
        fits
    }
}

/// `don't forget to multiply 4 by 5`
fn is_reminder(stem: &str) -> bool {
    matches!(stem, "don't" | "don’t" | "forget" | "remember")
}
