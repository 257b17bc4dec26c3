//! What the model is shown of a long conversation: the newest that fits, and never a call without its result.

use crate::result::shortened;
use providers::{Arguments, Call, Said};

/// How much of a conversation is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    pub messages_max: Option<usize>,
    pub tokens_max: Option<usize>,
}

/// What stands in place of results that are too old to be shown whole.
const CLEARED: &str =
    "[this result is older than what is kept; call the tool again where it is needed]";

/// The room of a result that is shortened, at least; half of it is for saying so.
const RESULT_TOKENS_LEAST: usize = 60;

impl Window {
    /// The part of a conversation that is shown. What the person asks, which stands at `request_at`, is always in it, as are
    /// the last things said.
    pub fn of(&self, said: &[Said], request_at: usize) -> Vec<Said> {
        let groups = grouped(said);
        let mut kept = vec![true; groups.len()];
        let newest = groups.len().saturating_sub(1);
        let request = group_of(&groups, request_at);
        let returned = just_returned(&groups);
        let fixed = |at: usize| at == newest || Some(at) == request || Some(at) == returned;
        let messages = |kept: &[bool]| -> usize {
            let both = groups.iter().zip(kept);
            both.filter(|(_, kept)| **kept).map(|(g, _)| g.len()).sum()
        };
        if let Some(most) = self.messages_max {
            for at in 0..groups.len() {
                if messages(&kept) <= most {
                    break;
                }
                kept[at] = fixed(at);
            }
        }
        let mut shown: Vec<Vec<Said>> = groups.iter().map(|group| group.to_vec()).collect();
        if let Some(most) = self.tokens_max {
            let mut sizes: Vec<usize> = shown.iter().map(|group| tokens_of(group)).collect();
            let total = |sizes: &[usize], kept: &[bool]| -> usize {
                let both = sizes.iter().zip(kept);
                both.filter(|(_, kept)| **kept).map(|(size, _)| size).sum()
            };
            // Old results first: what was asked and answered says more than what a tool returned.
            for at in (0..newest).filter(|at| Some(*at) != returned) {
                if total(&sizes, &kept) <= most {
                    break;
                }
                clear_results(&mut shown[at]);
                sizes[at] = tokens_of(&shown[at]);
            }
            for at in 0..groups.len() {
                if total(&sizes, &kept) <= most {
                    break;
                }
                kept[at] = fixed(at);
            }
            // What was just returned is all that is left to shorten: several large results may be too long by themselves.
            let all = total(&sizes, &kept);
            if let Some(at) = returned.filter(|_| all > most) {
                let beside = all - results_of(&shown[at]);
                shorten_results(&mut shown[at], most.saturating_sub(beside));
            }
        }
        if kept.contains(&false) {
            // A conversation begins with what a person says: providers take no other.
            let is_user = |at: &usize| kept[*at] && matches!(groups[*at][0], Said::User(_));
            let first = (0..groups.len()).find(is_user).unwrap_or(newest);
            kept[..first].fill(false);
        }
        let both = shown.into_iter().zip(kept);
        both.filter(|(_, kept)| *kept)
            .flat_map(|(group, _)| group)
            .collect()
    }
}

/// The group that a message stands in.
fn group_of(groups: &[&[Said]], message: usize) -> Option<usize> {
    let mut end = 0;
    groups.iter().position(|group| {
        end += group.len();
        message < end
    })
}

/// The group with results that the model has not answered to: the run may have said something itself since.
fn just_returned(groups: &[&[Said]]) -> Option<usize> {
    let at = groups
        .iter()
        .rposition(|group| !matches!(group, [Said::User(_)]))?;
    matches!(groups[at].last(), Some(Said::Results(_))).then_some(at)
}

/// What belongs together: a turn with calls and their results, or anything else by itself.
fn grouped(said: &[Said]) -> Vec<&[Said]> {
    let mut groups = Vec::new();
    let mut rest = said;
    while !rest.is_empty() {
        let pair = match rest {
            [Said::Model(turn), Said::Results(_), ..] => !turn.calls.is_empty(),
            _ => false,
        };
        let (group, after) = rest.split_at(if pair { 2 } else { 1 });
        groups.push(group);
        rest = after;
    }
    groups
}

fn clear_results(group: &mut [Said]) {
    for said in group {
        if let Said::Results(results) = said {
            for result in results {
                if result.text.len() > CLEARED.len() {
                    result.text = CLEARED.to_owned();
                }
            }
        }
    }
}

fn results_of(group: &[Said]) -> usize {
    let results = group.iter().filter_map(|said| match said {
        Said::Results(results) => Some(results),
        _ => None,
    });
    results.flatten().map(|it| tokens(&it.text)).sum()
}

/// Each result is given the same room of what there is.
fn shorten_results(group: &mut [Said], tokens_max: usize) {
    for said in group {
        let Said::Results(results) = said else {
            continue;
        };
        let share = (tokens_max / results.len().max(1)).max(RESULT_TOKENS_LEAST);
        for result in results {
            let size = tokens(&result.text);
            if size > share {
                let chars = result.text.chars().count() * (share - RESULT_TOKENS_LEAST / 2) / size;
                result.text = shortened(&result.text, chars).0;
            }
        }
    }
}

/// About how many tokens a text is: no model is asked. Letters of most scripts beside Latin are about a token each.
pub fn tokens(text: &str) -> usize {
    let (mut ascii, mut other) = (0, 0);
    for c in text.chars() {
        match c.is_ascii() {
            true => ascii += 1,
            false => other += 1,
        }
    }
    ascii / 4 + other + 1
}

fn tokens_of_arguments(arguments: &Arguments) -> usize {
    match arguments {
        Arguments::Json(value) => tokens(&value.to_string()),
        Arguments::Bad(text) => tokens(text),
    }
}

/// About how many tokens a conversation is.
pub fn size(said: &[Said]) -> usize {
    tokens_of(said)
}

fn tokens_of(group: &[Said]) -> usize {
    let of_call = |call: &Call| tokens(&call.name) + tokens_of_arguments(&call.arguments);
    let of = |said: &Said| match said {
        Said::User(text) => tokens(text),
        Said::Model(turn) => tokens(&turn.text) + turn.calls.iter().map(of_call).sum::<usize>(),
        Said::Results(results) => results.iter().map(|it| tokens(&it.text)).sum(),
    };
    // Each message has something around it.
    group.iter().map(|said| of(said) + 4).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use providers::{ToolResult, Turn};
    use serde_json::json;

    fn turn(calls: usize) -> Said {
        let call = |i: usize| Call {
            id: format!("c{i}"),
            name: "t".to_owned(),
            arguments: Arguments::Json(json!({})),
        };
        Said::Model(Turn {
            text: "x".repeat(40),
            calls: (0..calls).map(call).collect(),
            ..Turn::default()
        })
    }

    fn results(count: usize) -> Said {
        let result = |i: usize| ToolResult {
            call_id: format!("c{i}"),
            name: "t".to_owned(),
            text: "y".repeat(400),
            ..ToolResult::default()
        };
        Said::Results((0..count).map(result).collect())
    }

    /// Conversations of every form up to eight groups long: three kinds of group at each place.
    fn conversations() -> impl Iterator<Item = Vec<Said>> {
        (0..3_usize.pow(7)).map(|mut form| {
            let mut said = vec![Said::User("the request".to_owned())];
            for _ in 0..7 {
                match form % 3 {
                    0 => said.push(Said::User("more".to_owned())),
                    1 => said.push(turn(0)),
                    _ => said.extend([turn(2), results(2)]),
                }
                form /= 3;
            }
            said
        })
    }

    #[test]
    fn no_call_is_shown_without_its_results_and_no_result_without_its_call() {
        for said in conversations() {
            for most in 1..9 {
                let by_count = Window {
                    messages_max: Some(most),
                    tokens_max: None,
                };
                let by_size = Window {
                    messages_max: None,
                    tokens_max: Some(most * 40),
                };
                for window in [by_count, by_size] {
                    let shown = window.of(&said, 0);
                    assert_eq!(shown.first(), said.first(), "what was asked is shown");
                    for (i, it) in shown.iter().enumerate() {
                        match it {
                            Said::Model(turn) if !turn.calls.is_empty() => {
                                assert!(matches!(shown.get(i + 1), Some(Said::Results(_))));
                            }
                            Said::Results(_) => {
                                assert!(
                                    matches!(&shown[i - 1], Said::Model(t) if t.calls.len() == 2)
                                );
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn results_that_are_too_long_together_are_shortened() {
        for (letter, most) in [("y", 1_000), ("가", 1_000)] {
            let Said::Results(mut long) = results(4) else {
                unreachable!()
            };
            long[0].text = "short".to_owned();
            for it in &mut long[1..] {
                it.text = letter.repeat(20_000);
            }
            let said = [Said::User("q".to_owned()), turn(4), Said::Results(long)];
            let window = Window {
                messages_max: None,
                tokens_max: Some(most),
            };
            let shown = window.of(&said, 0);
            assert_eq!(shown.len(), 3);
            assert!(size(&shown) <= most, "{}", size(&shown));
            let Said::Results(shown) = &shown[2] else {
                panic!("no results")
            };
            assert_eq!(shown[0].text, "short");
            let is_cut = |it: &ToolResult| it.text.contains("characters were left out");
            assert!(shown[1..].iter().all(is_cut));
            assert!(shown[1].text.len() > most / 8, "no more than needed");
        }
    }

    #[test]
    fn what_was_just_returned_is_shown_though_the_run_has_said_something_since() {
        let Said::Results(mut long) = results(1) else {
            unreachable!()
        };
        long[0].text = "y".repeat(20_000);
        let last = Said::User("The run took 3 steps. Answer now".to_owned());
        let said = [
            Said::User("q".to_owned()),
            turn(1),
            Said::Results(long),
            last,
        ];
        let (by_size, by_count) = (Some(1_000), Some(2));
        for (tokens_max, messages_max) in [(by_size, None), (None, by_count)] {
            let window = Window {
                messages_max,
                tokens_max,
            };
            let shown = window.of(&said, 0);
            assert_eq!(shown.len(), 4, "{window:?}");
            assert!(size(&shown) <= tokens_max.unwrap_or(usize::MAX));
            let Said::Results(shown) = &shown[2] else {
                panic!("no results")
            };
            assert!(shown[0].text.starts_with("yyyy"), "{window:?}");
        }
    }

    #[test]
    fn a_window_holds_what_it_says() {
        let said: Vec<Said> = (0..50).flat_map(|_| [turn(2), results(2)]).collect();
        let said = [vec![Said::User("q".to_owned())], said].concat();
        let shown = Window {
            messages_max: Some(20),
            tokens_max: None,
        };
        assert_eq!(
            shown.of(&said, 0).len(),
            19,
            "whole groups of two, and the request"
        );
        let shown = Window {
            messages_max: None,
            tokens_max: Some(5_000),
        };
        let shown = shown.of(&said, 0);
        assert!(tokens_of(&shown) <= 5_000, "{}", tokens_of(&shown));
        assert!(
            shown.len() == said.len(),
            "old results are cleared before anything is left out"
        );
        assert_eq!(shown.last(), said.last(), "the newest is whole");
    }

    #[test]
    fn of_a_conversation_that_goes_on_the_newest_request_is_shown() {
        let user = |text: &str| Said::User(text.to_owned());
        for most in 2..9 {
            let mut said = vec![user("the first request")];
            said.extend((0..6).flat_map(|_| [turn(1), results(1)]));
            said.extend([turn(0), user("this request")]);
            let request_at = said.len() - 1;
            said.extend((0..6).flat_map(|_| [turn(1), results(1)]));
            for window in [
                Window {
                    messages_max: Some(most),
                    tokens_max: None,
                },
                Window {
                    messages_max: None,
                    tokens_max: Some(most * 90),
                },
            ] {
                let shown = window.of(&said, request_at);
                assert!(shown.contains(&user("this request")), "{window:?}");
                assert!(matches!(shown[0], Said::User(_)), "{window:?} {shown:?}");
                assert_eq!(shown.last(), said.last(), "{window:?}");
            }
        }
    }
}
