//! What is known by how it is written, addresses of mail and of the web and files, and what part it has in a request.

use super::doubt::is_denied;
use super::filling::Filling;
use super::values::{is_file, is_mail, is_web};
use super::wanted::{End, Shape, Wanted};
use serde_json::Value;
use std::ops::Range;

/// What an address has to do with a request.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Meant,
    Sender,
    LeftOut,
}

impl Filling<'_> {
    /// What is known by how it is written: addresses of mail and of the web, files.
    pub(super) fn formats(&mut self) {
        for (shape, is_one) in [
            (Shape::Mail, is_mail as fn(&str) -> Option<&str>),
            (Shape::Web, is_web),
            (Shape::File, is_file),
        ] {
            let words = self.said.words.iter();
            let words = words.map(|it| (it.bare, it.place.clone()));
            let quotes = self.said.quotes.iter();
            let quotes = quotes.map(|it| (it.text, it.place.clone()));
            let all = words.chain(quotes);
            let all: Vec<(&str, Part)> = all
                .filter_map(|(text, place)| Some((is_one(text)?, self.part(&place))))
                .collect();
            let of = |part: Part| {
                let is_any = shape != Shape::Mail;
                let own = all
                    .iter()
                    .filter(move |it| it.1 == part || (is_any && it.1 != Part::LeftOut));
                let mut own: Vec<&str> = own.map(|it| it.0).collect();
                own.dedup();
                own
            };
            if shape == Shape::Mail
                && let [one] = of(Part::Sender)[..]
            {
                let value = Value::from(one);
                self.only(
                    |it| it.shape == Shape::Mail && it.end == Some(End::From),
                    value,
                );
            }
            let found = of(Part::Meant);
            let is_sender = |it: &Wanted<'_>| shape == Shape::Mail && it.end == Some(End::From);
            let open = self.open(|it| it.shape == shape && !is_sender(it));
            let needed: Vec<usize> = open
                .iter()
                .copied()
                .filter(|at| self.wanted[*at].required)
                .collect();
            let open = if needed.is_empty() { open } else { needed };
            // Of several that may be left out the first is meant only where one is as good as another.
            let is_any = self.description.contains("one of ");
            if let ([one], [at, ..]) = (&found[..], &open[..])
                && (open.len() == 1 || (is_any && !self.wanted[*at].required))
            {
                let value = Value::String((*one).to_owned());
                self.put(*at, value);
            }
            if shape == Shape::Mail && !found.is_empty() {
                let list: Vec<Value> = found.iter().map(|it| Value::from(*it)).collect();
                self.only(|it| it.shape == Shape::Mails, Value::Array(list));
            }
        }
    }

    /// Whether an address is the one that something came from, or is to be left out.
    fn part(&self, place: &Range<usize>) -> Part {
        let words = &self.said.words;
        let before = self.said.before(place.start).next();
        let after = words.iter().find(|it| it.place.start >= place.end);
        let after = after.map_or("", |it| it.bare);
        let is_next = |list: &[&str]| list.iter().any(|it| after.starts_with(it));
        let own = &self.said.request[place.clone()];
        let ends = |all: &[&str]| all.iter().any(|it| own.ends_with(it));
        match before.map_or("", |it| it.stem.as_str()) {
            _ if is_denied(&self.said, place) => Part::LeftOut,
            // Of something that is theirs.
            _ if ends(&["'s", "’s", "의"]) => Part::LeftOut,
            "from" | "by" => Part::Sender,
            _ if ends(&["에게", "한테", "께"]) => Part::Meant,
            _ if is_next(&["보낸", "에게서", "한테서"]) => Part::Sender,
            _ if ends(&["에서", "한테서", "에게서", "로부터"]) => Part::Sender,
            _ => Part::Meant,
        }
    }
}
