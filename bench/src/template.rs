//! Text with counters, so that each request is its own and each answer can be foretold.
//! `{i}` the request's number, `{j}` a second number made from it, `{i+j}` their sum, `{i%N}` the rest; other braces are plain text.

use std::io::Write;

use crate::Failure;

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(Vec<u8>),
    I,
    J,
    Sum,
    Rest(u64),
}

#[derive(Debug, Clone)]
pub(crate) struct Template(Vec<Part>);

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let mut parts = Vec::new();
        let mut plain = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            plain.extend_from_slice(&rest.as_bytes()[..open]);
            rest = &rest[open..];
            let named = rest
                .find('}')
                .map(|close| (close, counter(&rest[1..close])));
            match named {
                Some((close, Some(part))) => {
                    let part = part?;
                    if !plain.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(part);
                    rest = &rest[close + 1..];
                }
                _ => {
                    plain.push(b'{');
                    rest = &rest[1..];
                }
            }
        }
        plain.extend_from_slice(rest.as_bytes());
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Template(parts))
    }

    /// Appends the text for request number `i`.
    pub(crate) fn render(&self, i: u64, out: &mut Vec<u8>) {
        let j = i.wrapping_mul(31) % 997;
        for part in &self.0 {
            let number = match part {
                Part::Text(text) => {
                    out.extend_from_slice(text);
                    continue;
                }
                Part::I => i,
                Part::J => j,
                Part::Sum => i.wrapping_add(j),
                Part::Rest(n) => i % n,
            };
            write!(out, "{number}").expect("writing to a Vec cannot fail");
        }
    }
}

/// The counter a name stands for; `None` for braces that are not ours.
fn counter(name: &str) -> Option<Result<Part, Failure>> {
    match name {
        "i" => Some(Ok(Part::I)),
        "j" => Some(Ok(Part::J)),
        "i+j" => Some(Ok(Part::Sum)),
        _ => name.strip_prefix("i%").map(|n| match n.parse() {
            Ok(n) if n > 0 => Ok(Part::Rest(n)),
            _ => Err(format!(
                "{{{name}}} in a template: expected a whole number above 0 after `i%`, as in {{i%100}}"
            )),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str, i: u64) -> String {
        let mut out = Vec::new();
        Template::parse(text).unwrap().render(i, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn counters_are_filled_in_and_json_braces_stay() {
        assert_eq!(
            render(r#"{"a":{i},"b":{j},"c":{"d":{i+j}}}"#, 2),
            r#"{"a":2,"b":62,"c":{"d":64}}"#
        );
        assert_eq!(render("tool_{i%10}/x", 23), "tool_3/x");
        assert_eq!(render("{} {k} { {", 1), "{} {k} { {");
        assert_eq!(render("", 1), "");
    }

    #[test]
    fn the_sum_is_the_sum_of_both() {
        let both = render("{i} {j} {i+j}", 12_345);
        let numbers: Vec<u64> = both.split(' ').map(|n| n.parse().unwrap()).collect();
        assert_eq!(numbers[0] + numbers[1], numbers[2]);
    }

    #[test]
    fn a_rest_by_nothing_is_refused() {
        assert!(Template::parse("{i%0}").unwrap_err().contains("above 0"));
        assert!(Template::parse("{i%x}").is_err());
    }
}
