//! Days and hours of a request for the parameters that want one, or a beginning and an end.

use super::days::{Found, written};
use super::filling::Filling;
use super::wanted::{End, Shape, Wanted};
use serde_json::Value;

impl<'a> Filling<'a> {
    pub(super) fn days(&mut self) {
        if self.times.vague_days.is_empty() {
            let found = std::mem::take(&mut self.times.days);
            self.moments(|it| it.shape == Shape::Day, &found, |it| it.to_string());
            self.times.days = found;
        }
    }

    pub(super) fn hours(&mut self) {
        if self.times.vague_hours.is_empty() {
            let found = std::mem::take(&mut self.times.hours);
            self.moments(|it| it.shape == Shape::Hour, &found, |it| written(*it));
            self.times.hours = found;
        }
    }

    /// Days or hours: one for the only parameter that needs one, or a beginning and an end.
    fn moments<T: PartialOrd>(
        &mut self,
        is_wanted: impl Fn(&Wanted<'a>) -> bool,
        found: &[Found<T>],
        text: impl Fn(&T) -> String,
    ) {
        let open = self.open(is_wanted);
        let needed: Vec<usize> = open
            .iter()
            .copied()
            .filter(|at| self.wanted[*at].required)
            .collect();
        let end = |at: usize| self.wanted[at].end;
        match (found, &open[..]) {
            ([one], _) => {
                let meant: Vec<usize> = match one.end {
                    // What is said to end there begins nothing.
                    Some(said) => open
                        .iter()
                        .copied()
                        .filter(|at| end(*at).map_or(!one.is_beyond, |it| it == said))
                        .collect(),
                    None if needed.is_empty() => open.clone(),
                    None => needed,
                };
                if let [at] = meant[..] {
                    self.put(at, Value::String(text(&one.value)));
                }
            }
            ([first, second], [a, b]) => {
                let are_ends = (end(*a), end(*b)) == (Some(End::From), Some(End::To));
                let is_span = first.end == Some(End::From) || second.end == Some(End::To);
                if are_ends && is_span && first.value <= second.value {
                    self.put(*a, Value::String(text(&first.value)));
                    self.put(*b, Value::String(text(&second.value)));
                }
            }
            _ => {}
        }
    }
}
