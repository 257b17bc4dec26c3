//! What is handed over in somebody's own words: keys of things, quotes, names and texts.

use super::doubt::{is_denied, is_forbidding, is_listed};
use super::filling::Filling;
use super::names::Surroundings;
use super::said::Said;
use super::values::is_document;
use super::wanted::{End, Shape, Wanted, kind};
use super::{numbers, texts};
use serde_json::Value;

impl Filling<'_> {
    /// Keys of things, known by their look, by the schema's pattern or by what they are called.
    pub(super) fn keys(&mut self) {
        for at in self
            .open(|it| it.required && matches!(it.shape, Shape::Key | Shape::Other | Shape::Name))
        {
            let wanted = &self.wanted[at];
            let has_pattern = wanted.schema["pattern"].is_string();
            if wanted.shape != Shape::Key && !has_pattern {
                continue;
            }
            let mut found: Vec<String> = Vec::new();
            for (word, it) in self.said.words.iter().enumerate() {
                let body = it.bare[..it.bare.len() - it.particle.len()].trim_start_matches('#');
                let before = self.said.previous(word).map_or("", |it| it.stem.as_str());
                let is_called = wanted.aliases.iter().any(|alias| alias == before)
                    || before.ends_with("번호")
                    || matches!(before, "number" | "no" | "id");
                let has_digit = body.chars().any(|c| c.is_ascii_digit());
                let digits = body.chars().filter(char::is_ascii_digit).count();
                // `PS5` is a thing, and `A-10021` the number of one.
                let has_letter = body.chars().any(|c| c.is_ascii_alphabetic()) && digits > 2;
                let is_key = body.is_ascii()
                    && has_digit
                    && (has_letter || is_called || it.bare.starts_with('#') || has_pattern);
                let is_time = self.times.taken().iter().any(|it| it.contains(&word));
                let is_quantity = !numbers::numbers(&Said::new(body), &[]).is_empty() && has_letter;
                // Of `orders 4711 and 4712` neither is the one.
                let is_meant =
                    || !is_denied(&self.said, &it.place) && !is_listed(&self.said, &it.place);
                if is_key
                    && !is_time
                    && !is_quantity
                    && is_meant()
                    && self.fits(at, &Value::from(body))
                {
                    found.push(body.to_owned());
                }
            }
            found.dedup();
            if let [one] = &found[..] {
                let value = Value::from(one.as_str());
                self.put(at, value);
            }
        }
    }

    /// Quotes that stand beside the name of a parameter; or the only one, for the only text.
    pub(super) fn quotes(&mut self) {
        for at in self.open(is_text) {
            let quote = texts::named_quote(&self.said, &self.wanted[at]);
            let quote = quote.filter(|it| !is_denied(&self.said, &it.place));
            let value = quote.map(|it| Value::from(it.text));
            self.put_at(Some(at), value);
        }
        if let [one] = &self.said.quotes[..]
            && texts::handed(&self.said) == Some(one.text)
        {
            let value = Value::from(one.text);
            let is_used = self.arguments.values().any(|it| *it == value);
            let is_own = |it: &Wanted<'_>| it.required && matches!(it.shape, Shape::Text);
            if !is_used && !self.only(is_own, value.clone()) && self.open(is_own).is_empty() {
                self.only(
                    |it| it.required && is_text(it) && it.shape != Shape::Query,
                    value,
                );
            }
        }
        let quotes: Vec<Value> = self
            .said
            .quotes
            .iter()
            .map(|it| Value::from(it.text))
            .collect();
        if !quotes.is_empty() {
            self.only(
                |it| it.required && it.shape == Shape::Texts,
                Value::Array(quotes),
            );
        }
    }

    pub(super) fn names(&mut self) {
        let is_name =
            |it: &Wanted<'_>| it.required && matches!(it.shape, Shape::Name | Shape::Place);
        let open = self.open(is_name);
        let around = Surroundings {
            said: &self.said,
            times: &self.times,
            own: &self.own,
        };
        match open[..] {
            [at] => {
                let name = around.name(&self.wanted[at]);
                self.put_at(Some(at), name.map(Value::String));
            }
            [a, b]
                if (self.wanted[a].end, self.wanted[b].end) == (Some(End::From), Some(End::To)) =>
            {
                if let Some((from, to)) = around.ends() {
                    self.put(a, Value::String(from));
                    self.put(b, Value::String(to));
                }
            }
            _ => {}
        }
    }

    /// What is handed over as it stands.
    pub(super) fn texts(&mut self) {
        if is_forbidding(&self.said) {
            return;
        }
        let free = self
            .wanted
            .iter()
            .filter(|it| it.required && it.shape.is_free())
            .count();
        for at in self.open(|it| it.required) {
            let is_only = free == 1;
            let text = match self.wanted[at].shape {
                // The web knows nothing of a file that somebody has.
                Shape::Query if is_only && self.is_about_web() && self.names_document() => None,
                Shape::Query if is_only => texts::sought(self.said.request),
                Shape::Code => texts::program(&self.said).map(str::to_owned),
                Shape::Text
                    if self.open(|it| it.required && it.shape == Shape::Text).len() == 1 =>
                {
                    texts::handed(&self.said).map(str::to_owned)
                }
                Shape::Texts
                    if is_only
                        && self.wanted[at]
                            .spoken
                            .split(' ')
                            .any(|it| it == "query" || it == "queries") =>
                {
                    let text = texts::sought(self.said.request);
                    let list = text.map(|it| Value::Array(vec![Value::String(it)]));
                    self.put_at(Some(at), list);
                    None
                }
                _ => None,
            };
            let text = text.map(Value::String);
            // What was meant for one parameter is not meant for the next.
            let text = text.filter(|it| self.arguments.values().all(|used| used != it));
            self.put_at(Some(at), text);
        }
    }

    fn is_about_web(&self) -> bool {
        ["web", "internet", "웹", "인터넷"]
            .iter()
            .any(|it| self.about.contains(it))
    }

    /// Whether somebody speaks of a file of theirs: `summarize report.pdf`.
    fn names_document(&self) -> bool {
        let words = self.said.words.iter().map(|it| it.bare);
        let quotes = self.said.quotes.iter().map(|it| it.text);
        words.chain(quotes).any(is_document)
    }
}

/// Whether a parameter takes a text at all.
fn is_text(it: &Wanted<'_>) -> bool {
    let is_any = matches!(
        it.shape,
        Shape::Text | Shape::Query | Shape::Name | Shape::Place | Shape::Key | Shape::Code
    );
    is_any || (it.shape == Shape::Other && kind(it.schema) == "string")
}
