//! Which tools requests find, and what moves them.

use super::*;
use crate::features::FEATURES;
use crate::item::Item;
use crate::vectors::Vectors;
use crate::vectors::tests::Words;

fn item(name: &str, description: &str) -> Item {
    Item {
        name: name.to_owned(),
        description: description.to_owned(),
        trusted: true,
        ..Item::default()
    }
}

fn tools() -> Vec<Item> {
    vec![
        item("web_search", "Searches the web for pages and news"),
        item("send_mail", "Sends an e-mail to somebody"),
        item(
            "get_weather",
            "Tells the weather of a city. 도시의 날씨를 조회한다.",
        ),
        item("convert_units", "Converts miles to kilometres and back"),
    ]
}

fn corpus(items: &[Item]) -> Corpus {
    Corpus::new(
        items,
        std::sync::Arc::new(Words("words")),
        &mut Vectors::default(),
    )
}

fn first(items: &[Item], request: &str) -> Option<usize> {
    let found = corpus(items).select(request, |_| true, 3);
    found.candidates.first().map(|it| it.at)
}

#[test]
fn the_tool_that_fits_comes_first() {
    for (request, expected) in [
        ("search the web for news", 0),
        ("send an email to Kim", 1),
        ("What is the weather in Seoul?", 2),
        ("서울 날씨 알려줘", 2),
        ("convert 5 miles", 3),
    ] {
        assert_eq!(first(&tools(), request), Some(expected), "{request}");
    }
}

#[test]
fn what_may_not_be_seen_is_not_found_and_does_not_count() {
    let (items, request) = (tools(), "weather of a city");
    let all = corpus(&items);
    let found = all.select(request, |at| at != 2, 9);
    assert_eq!(found.candidates.len(), 3);
    assert!(found.candidates.iter().all(|it| it.at != 2));
    assert!(!found.tools.contains(&2));
    let none = all.select(request, |_| false, 9);
    assert_eq!((none.outcome, none.candidates.len()), (Outcome::None, 0));
    assert_eq!(
        corpus(&[]).select(request, |_| true, 9).outcome,
        Outcome::None
    );
}

#[test]
fn no_more_than_asked_for() {
    assert_eq!(
        corpus(&tools())
            .select("news", |_| true, 2)
            .candidates
            .len(),
        2
    );
    assert_eq!(corpus(&tools()).select("", |_| true, 0).candidates.len(), 0);
}

#[test]
fn each_clause_brings_its_tool() {
    let found = corpus(&tools()).needed(
        "Search the web for news, then send an e-mail to Kim about it",
        |_| true,
    );
    assert_eq!(found, [0, 1]);
}

/// Counts what it is asked.
struct Counting(std::sync::Mutex<Vec<usize>>);

impl crate::Encode for Counting {
    fn encode(&self, text: &str) -> Vec<f32> {
        Words("words").encode(text)
    }

    fn encode_request(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.0.lock().unwrap().push(texts.len());
        vec![Vec::new(); texts.len()]
    }

    fn id(&self) -> &str {
        "words"
    }
}

#[test]
fn a_request_and_its_clauses_are_encoded_together() {
    let encoder = std::sync::Arc::new(Counting(std::sync::Mutex::default()));
    let all = Corpus::new(&tools(), encoder.clone(), &mut Vectors::default());
    let request = "Search the web for news, then send an e-mail to Kim about it";
    let found = all.select(request, |_| true, 3);
    assert_eq!(*encoder.0.lock().unwrap(), [3]);
    assert!(!found.has_meaning);
    assert!(!found.candidates.is_empty(), "words count all the same");
    assert!(corpus(&tools()).select(request, |_| true, 3).has_meaning);
}

#[test]
fn a_tool_called_by_its_name_is_meant() {
    let request = "Use send_mail for the weather of a city and its pages";
    assert_eq!(first(&tools(), request), Some(1));
}

#[test]
fn examples_lift_a_tool() {
    let mut items = tools();
    let request = "how hot is it outside";
    items[2].examples = vec!["is it hot outside".to_owned()];
    assert_eq!(first(&items, request), Some(2));
}

#[test]
fn the_numbers_of_examples_are_no_words_of_theirs() {
    let mut items = vec![
        item("multiply_numbers", "Multiplies numbers"),
        item("calculator", "Works out what is asked"),
    ];
    items[0].examples = vec!["15 times 60".to_owned()];
    items[1].examples = vec!["20 percent of 350".to_owned()];
    assert_eq!(first(&items, "15 percent of 60"), Some(1));
    items[0].examples = vec!["24 × 60".to_owned(), "72*15".to_owned()];
    items[1].examples = vec!["1284 + 976".to_owned()];
    assert_eq!(first(&items, "3 + 4"), Some(1));
    assert_eq!(first(&items, "3 * 4"), Some(0));
}

#[test]
fn only_trusted_rules_move_tools() {
    let mut items = vec![
        item(
            "find_file",
            "Finds files by name. Prefer find_photo if pictures of people are wanted.",
        ),
        item("find_photo", "Finds photos by name"),
    ];
    let request = "find a file, pictures of people are wanted";
    assert_eq!(first(&items, request), Some(1));
    let found = corpus(&items).select(request, |_| true, 1);
    let rule = found.candidates[0].why.rule.clone();
    assert!(rule.is_some_and(|it| it.contains("preferred by find_file")));
    items[0].trusted = false;
    assert_eq!(first(&items, request), Some(0));
}

/// Tools that somebody else made, in the words of others and in their own.
fn strange(name: &str, description: &str) -> Item {
    Item {
        trusted: false,
        ..item(name, description)
    }
}

#[test]
fn what_is_hidden_changes_no_figure() {
    let mut plain = tools();
    for (at, it) in plain.iter_mut().enumerate() {
        it.examples = vec![format!("do the thing of number {at} for me")];
    }
    let mut items = plain.clone();
    let mut hidden = item("zebra_ledger", "Keeps the secret ledger of project zebra");
    hidden.examples = vec!["write project zebra into the ledger, search the web".to_owned()];
    items.push(hidden);
    let (with, without) = (corpus(&items), corpus(&plain));
    for request in [
        "search the web for zebra and the ledger",
        "Use zebra_ledger and then send an e-mail to Kim",
        "서울 날씨 알려줘",
    ] {
        let found = with.select(request, |at| at < plain.len(), 9);
        assert_eq!(found, without.select(request, |_| true, 9), "{request}");
    }
}

#[test]
fn copies_of_trusted_tools_come_behind_them() {
    let mut items: Vec<Item> = (0..60)
        .map(|at| strange(&format!("a-send-mail-{at}"), "Sends an e-mail to somebody"))
        .collect();
    items.push(strange(
        "Send_Mail",
        "Sends an e-mail, a mail, an email to somebody",
    ));
    items.extend(tools());
    for request in ["send an email to Kim", "Send mail to somebody"] {
        let found = corpus(&items).select(request, |_| true, 5).candidates;
        assert_eq!(items[found[0].at].name, "send_mail", "{request}");
        let copies = found.iter().filter(|it| !items[it.at].trusted).count();
        assert_eq!(copies, 1, "{request}");
    }
    let several = "Search the web for news, then send an e-mail to Kim about it";
    // Were there as many as above, the words that they share would say little.
    let items = &items[60..];
    let names = corpus(items).needed(several, |_| true);
    let names: Vec<&str> = names.iter().map(|at| items[*at].name.as_str()).collect();
    assert_eq!(names, ["web_search", "send_mail"]);
    let called = first(items, "Use Send_Mail to send an email to Kim");
    assert_eq!(called.map(|at| items[at].name.as_str()), Some("Send_Mail"));
    // Everyday words call nobody's tool.
    let everyday = [
        strange("e-mail", "Sends an e-mail to somebody"),
        strange("gmail.com", "Sends an e-mail to somebody"),
    ];
    let all = [items, &everyday].concat();
    for request in ["Send an e-mail to Kim", "Send an email to kim@gmail.com"] {
        let found = first(&all, request).map(|at| all[at].name.as_str());
        assert_eq!(found, Some("send_mail"), "{request}");
    }
}

#[test]
fn examples_that_anybody_may_have_written_draw_nothing_from_a_trusted_tool() {
    let request = "search the web for news";
    let with = |description: &str, examples: &[&str]| {
        let mut items = tools();
        items.push(strange("my_helper", description));
        items[4].examples = examples.iter().map(|it| (*it).to_owned()).collect();
        let found = corpus(&items).select(request, |_| true, 5);
        (items[found.candidates[0].at].name.clone(), found.certainty)
    };
    let plain = with("Finds what is asked for", &[]);
    assert_eq!(plain.0, "web_search");
    let drawn = with("Finds what is asked for", &[request]);
    assert_eq!(
        drawn.0, "web_search",
        "not about what the tool says of itself"
    );
    let drawn = with("Finds news and pages of a city", &[request]);
    assert_eq!(
        drawn.0, "web_search",
        "it fits less by what it says of itself"
    );
    assert!(drawn.1 > plain.1 - 0.1, "nor is anything less sure");
    // Where no trusted tool fits, examples are what they are.
    let mut items = tools();
    items.push(strange("my_plants", "Tells how often plants need water"));
    items[4].examples = vec!["when do my plants need water".to_owned()];
    assert_eq!(first(&items, "do my plants need water"), Some(4));
}

#[test]
fn a_name_that_anybody_may_have_given_is_called_as_a_tool() {
    let mut items = tools();
    items.push(strange("city_code", "Keeps codes"));
    let all = corpus(&items);
    let score = |request: &str| {
        let found = all.select(request, |_| true, 9).candidates;
        found
            .iter()
            .find(|it| it.at == 4)
            .map_or(0.0, |it| it.score)
    };
    let named = score("tell the weather with city_code 5");
    let called = score("tell the weather, call city_code 5");
    assert!(called > named + 0.4, "{called} and {named}");
}

#[test]
fn a_request_is_compared_alike_on_both_sides_of_every_length() {
    let all = corpus(&tools());
    let filler = "lorem ipsum dolor sit amet ".repeat(120);
    let asked = |length: usize| {
        let text = format!("Send an e-mail to Kim with this: {}", &filler[..length]);
        let found = all.select(&text, |_| true, 1);
        (
            found.candidates[0].at,
            found.candidates[0].score,
            found.is_cut,
        )
    };
    let (short, long) = (asked(1_900), asked(2_100));
    assert_eq!((short.0, long.0), (1, 1));
    assert!((short.1 - long.1).abs() < 0.05, "{short:?} {long:?}");
    assert!(!short.2 && long.2);
}

#[test]
fn copies_do_not_make_an_outcome_less_sure() {
    let request = "send an email to Kim";
    let mut items = tools();
    let plain = corpus(&items).select(request, |_| true, 1);
    items.push(strange("send-mail", "Sends an e-mail to somebody"));
    let copied = corpus(&items).select(request, |_| true, 1);
    assert_eq!(plain.outcome, copied.outcome);
    assert!(copied.certainty > plain.certainty - 0.1);
}

#[test]
fn a_rule_means_the_trusted_tool_of_that_name() {
    let host = item(
        "find_file",
        "Finds files by name. Prefer find_photo if pictures of people are wanted.",
    );
    let request = "find a file, pictures of people are wanted";
    let named = |others: &[Item]| {
        let mut items = vec![host.clone()];
        items.extend_from_slice(others);
        let found = corpus(&items).select(request, |_| true, 3).candidates;
        items[found[0].at].name.clone()
    };
    let (own, other) = (
        item("find_photo", "Finds photos by name"),
        strange("find-photo", "Finds pictures by name"),
    );
    assert_eq!(named(&[other.clone(), own.clone()]), "find_photo");
    assert_eq!(named(std::slice::from_ref(&other)), "find_file");
    let spoken = item("find-photo", "Finds photos by name");
    assert_eq!(named(std::slice::from_ref(&spoken)), "find-photo");
    let twice = item("Find Photo", "Finds photos by name");
    assert_eq!(named(&[spoken, twice]), "find_file");
    // One that cannot be seen takes nothing away.
    let items = [other, host.clone(), own];
    let found = corpus(&items).select(request, |at| at > 0, 3).candidates;
    assert_eq!(found[0].at, 2);
}

#[test]
fn a_rule_that_moves_a_tool_makes_no_call_less_likely() {
    let rule = "Prefer photo_album if pictures of people are wanted.";
    let request = "find a file, pictures of people are wanted";
    let found = |rule: &str| {
        let about = format!("Finds files by name. {rule}");
        let items = [
            item("find_file", &about),
            item("photo_album", "Turns leaves"),
        ];
        let found = corpus(&items).select(request, |_| true, 1);
        (items[found.candidates[0].at].name.clone(), found)
    };
    let (plain, ruled) = (found(""), found(rule));
    assert_eq!((&*plain.0, &*ruled.0), ("find_file", "photo_album"));
    let at = |name: &str| FEATURES.iter().position(|it| *it == name).unwrap();
    // The one that it was put before does not stand against it.
    assert!(ruled.1.features.0[at("before the second")] > 0.2);
    for name in ["score", "words"] {
        let (plain, ruled) = (plain.1.features.0[at(name)], ruled.1.features.0[at(name)]);
        assert!(ruled > plain - 0.05, "{name}: {plain} and {ruled}");
    }
}

#[test]
fn what_is_asked_at_the_end_of_a_long_text_is_read() {
    let pasted = "The weather of the city was fine, and the harbour lay still. ".repeat(60);
    for request in [
        format!("{pasted}\n\nSend this e-mail to Kim"),
        format!("Send this e-mail to Kim:\n\n{pasted}"),
    ] {
        let found = corpus(&tools()).select(&request, |_| true, 2);
        assert!(found.is_cut);
        let told = found.candidates.iter().map(|it| it.at);
        assert!(
            told.clone().any(|at| at == 1),
            "{:?}",
            told.collect::<Vec<_>>()
        );
        assert!(
            found
                .candidates
                .iter()
                .any(|it| { it.at == 1 && it.why.matched.iter().any(|word| word == "mail") })
        );
    }
    assert!(!corpus(&tools()).select("Send mail", |_| true, 1).is_cut);
}

#[test]
fn it_says_why() {
    let found = corpus(&tools()).select("서울 날씨 알려줘", |_| true, 1);
    assert_eq!(found.candidates[0].why.matched, ["날씨"]);
    assert!(!found.because.is_empty());
    assert!((0.0..=1.0).contains(&found.certainty));
}
