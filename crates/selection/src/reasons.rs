//! What each number that an outcome is judged by says to people: where it is more than usual, and where it is less.

use crate::features::FEATURES;

/// In the order of `FEATURES`. Nothing, where one side says nothing that would help anybody.
pub(crate) const REASONS: [(&str, &str); FEATURES.len()] = [
    (
        "the request means what the tool does",
        "no tool does what the request means",
    ),
    (
        "the request is near to the name of the tool",
        "no tool is called anything like it",
    ),
    (
        "an example prompt of the tool is alike",
        "no example prompt is like it",
    ),
    (
        "it has the words of the tool",
        "it has few words of the tool",
    ),
    (
        "it is spelt like what the tool says of itself",
        "nothing in it is spelt like the tool",
    ),
    ("the tool fits well", "no tool fits well"),
    ("one tool stands out from the others", "no tool stands out"),
    (
        "the best tool is far ahead of the second",
        "two tools fit nearly alike",
    ),
    ("there are many tools", "there are few tools"),
    ("it is in Korean", "it is not in Korean"),
    ("it says much", "it says little"),
    (
        "much of it is about other things than the tool",
        "all of it is about the tool",
    ),
    ("the tool needs much", "the tool needs little"),
    ("the tool needs nothing", "the tool needs something"),
    (
        "what the tool needs is there",
        "much of what the tool needs is missing",
    ),
    (
        "everything that the tool needs is there",
        "something that the tool needs is missing",
    ),
    (
        "several things that the tool needs are missing",
        "nothing that the tool needs is missing",
    ),
    (
        "nothing of what the tool needs is there",
        "something of what the tool needs is there",
    ),
    (
        "it gives more than the tool needs",
        "it gives no more than the tool needs",
    ),
    (
        "it gives names, days, numbers or the like",
        "it gives no name, day, number or the like",
    ),
    ("it gives numbers", "it gives no number"),
    ("it quotes a text", "it quotes nothing"),
    (
        "it reads like small talk or a question that needs no tool",
        "it does not read like small talk",
    ),
    (
        "it asks about the world as it is now",
        "it does not ask about the world as it is now",
    ),
    (
        "it reads like a request that says all",
        "it does not read like a request that says all",
    ),
    (
        "it reads like a request that leaves something out",
        "it does not read like a request that leaves something out",
    ),
    (
        "the tool knows about the world at large",
        "the tool knows about one thing",
    ),
    ("it asks about the world, and the tool knows about it", ""),
    (
        "it asks about the world, and the tool does not know about it",
        "",
    ),
    (
        "it asks for general knowledge",
        "it does not ask for general knowledge",
    ),
    ("it is small talk", "it is no small talk"),
    (
        "it asks for something to be done",
        "it does not ask for anything to be done",
    ),
    (
        "it points at something that it does not say",
        "it points at nothing that is unsaid",
    ),
    ("it says itself that something is not known", ""),
    ("it says that something is not to be done", ""),
    (
        "something of a known kind is missing",
        "nothing of a known kind is missing",
    ),
    (
        "several things of a known kind are missing",
        "nothing of a known kind is missing",
    ),
    (
        "all of a known kind is there",
        "not all of a known kind is there",
    ),
    ("the tool fits, and something that it needs is missing", ""),
    (
        "an example prompt is alike, and something that the tool needs is missing",
        "",
    ),
    (
        "the request means what the tool does",
        "no tool does what the request means",
    ),
    ("one tool stands out from the others", "no tool stands out"),
    (
        "several things that the tool needs are missing",
        "nothing that the tool needs is missing",
    ),
    (
        "what the tool needs is there",
        "much of what the tool needs is missing",
    ),
    (
        "it gives names, days, numbers or the like",
        "it gives no name, day, number or the like",
    ),
    (
        "what the tool needs is given by more than some word",
        "what the tool needs is given by mere words at best",
    ),
    (
        "the tool has example prompts",
        "the tool has no example prompts",
    ),
    (
        "it gives less than the example prompts do",
        "it gives as much as the example prompts do",
    ),
    (
        "it has fewer words of its own than the example prompts",
        "it has as many words of its own as the example prompts",
    ),
    (
        "it is shorter than the example prompts",
        "it is as long as the example prompts",
    ),
    (
        "the text that the tool needs is missing",
        "the text that the tool needs is there",
    ),
    (
        "the name that the tool needs is missing",
        "the name that the tool needs is there",
    ),
    (
        "it asks how things are now",
        "it does not ask how things are now",
    ),
    (
        "it asks how things once were",
        "it does not ask how things once were",
    ),
    (
        "it points to what was said before",
        "it does not point to what was said before",
    ),
    (
        "it is about something of the asker's own",
        "it is not about anything of the asker's own",
    ),
    (
        "it is idler than the example prompts",
        "it is no idler than the example prompts",
    ),
    (
        "it says less of what is needed than the example prompts",
        "it says as much of what is needed as the example prompts",
    ),
    (
        "it leaves out less than the example prompts",
        "it leaves out more than the example prompts",
    ),
    (
        "something is missing that nearly all example prompts give",
        "nothing is missing that example prompts give",
    ),
    (
        "several things are missing that example prompts give",
        "nothing is missing that example prompts give",
    ),
    (
        "something is to be done, and the tool only looks things up",
        "",
    ),
    (
        "something is to be looked up, and the tool does something",
        "",
    ),
    (
        "the tool does what the request asks for",
        "the tool may do something else than the request asks for",
    ),
    (
        "example prompts give a text, and it gives none",
        "it gives a text as the example prompts do",
    ),
    ("it is a sum", "it is no sum"),
    ("it is a sum that the tool works out", ""),
    (
        "it is nearly an example prompt of the tool",
        "it is far from the example prompts",
    ),
    (
        "all that the tool needs is surely there",
        "not all that the tool needs is surely there",
    ),
];

/// What a number says to people; nothing where that would help nobody.
pub(crate) fn reason(at: usize, is_more: bool) -> Option<&'static str> {
    let (more, less) = REASONS[at];
    let said = if is_more { more } else { less };
    (!said.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_number_say_different_things() {
        for (name, (more, less)) in FEATURES.iter().zip(REASONS) {
            assert!(!more.is_empty() && more != less, "{name}");
            assert!(!more.contains(char::is_numeric), "{name}");
        }
    }
}
