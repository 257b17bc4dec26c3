//! What a request surely gives for the parameters of a tool, and what has to be asked for. Nothing is guessed: a value that
//! could be meant for two parameters, or that could mean two things, is asked for like one that is not there.

mod addresses;
mod assigned;
mod choices;
mod days;
mod doubt;
mod filling;
mod formula;
mod mentions;
mod moments;
mod names;
mod numbers;
mod own_words;
mod questions;
mod said;
mod spans;
mod spelled;
#[cfg(test)]
mod tests;
mod texts;
mod units;
pub(crate) mod values;
mod wanted;

pub(crate) use formula::several;
pub(crate) use questions::is_foreign;
pub use questions::{form, questions};

use filling::Filling;
use jiff::civil::Date;
use selection::{Item, Parameter};
use serde_json::{Map, Value};

/// The arguments that a request gives, and the parameters that it does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filled {
    pub arguments: Map<String, Value>,
    pub missing: Vec<Missing>,
}

/// A required parameter that nothing in the request is surely meant for.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    pub name: String,
    pub schema: Value,
    /// In the language of the request.
    pub question: String,
}

/// What a request gives for a schema of which nothing more is known.
#[must_use]
pub fn fill(request: &str, input_schema: &Value, today: Date) -> Filled {
    let tool = Item {
        parameters: Parameter::of_schema(input_schema),
        ..Item::default()
    };
    fill_for(request, &tool, input_schema, today)
}

/// The same for a tool: its own words are no values.
#[must_use]
pub fn fill_for(request: &str, tool: &Item, input_schema: &Value, today: Date) -> Filled {
    let mut filling = Filling::new(request, tool, input_schema, today);
    filling.given_by_name();
    filling.without_choice();
    filling.days();
    filling.hours();
    filling.formats();
    filling.choices();
    filling.numbers();
    filling.formulas();
    filling.keys();
    filling.quotes();
    filling.names();
    filling.texts();
    filling.finished()
}

/// Whether a request is an order to leave something, or ends with one.
pub(crate) fn forbids(request: &str) -> bool {
    doubt::is_forbidding(&said::Said::new(request))
}

/// Whether something in a request stands in marks.
pub(crate) fn has_marks(request: &str) -> bool {
    !said::Said::new(request).quotes.is_empty()
}

/// The calculation that a request is, every word of it; nothing where that is not certain.
#[must_use]
pub fn calculation(request: &str) -> Option<String> {
    formula::formula(request)
}
