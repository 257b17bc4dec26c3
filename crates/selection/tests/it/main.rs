//! Requests over the tools of the gold set, with the encoder of the program: what is plain to everybody has to be right, and
//! of requests that nothing was learned from, nearly all.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use encoder::Encoder;
use selection::{Corpus, Encode, Item, Outcome, Selection, Vectors};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Of a hundred fresh requests, so many are right at least.
const FRESH_LEAST: usize = 90;

struct Own(Encoder);

impl Encode for Own {
    fn encode(&self, text: &str) -> Vec<f32> {
        self.0.encode(text).to_vec()
    }

    fn id(&self) -> &str {
        selection::ENCODER
    }
}

static TOOLS: LazyLock<(Vec<Item>, Corpus)> = LazyLock::new(|| {
    let pool: Value = serde_json::from_str(&read("pool.json")).unwrap();
    let items = pool["items"].as_array().unwrap().iter().map(Item::of_tool);
    let items: Vec<Item> = items
        .filter(|it| it.name != "request_human_input")
        .collect();
    let corpus = Corpus::new(
        &items,
        Arc::new(Own(Encoder::open().unwrap())),
        &mut Vectors::new(selection::ENCODER),
    );
    (items, corpus)
});

fn read(file: &str) -> String {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("gold");
    std::fs::read_to_string(folder.join(file)).unwrap()
}

fn select(request: &str) -> (Selection, &'static str) {
    let (items, corpus) = &*TOOLS;
    let found = corpus.select(request, |_| true, 1);
    let first = items[found.candidates[0].at].name.as_str();
    (found, first)
}

/// Tools that nobody gave examples, and no others: whoever begins a run may name them.
#[test]
fn a_request_of_several_parts_is_called_where_each_part_is() {
    let tool = |name: &str, description: &str| Item {
        name: name.to_owned(),
        description: description.to_owned(),
        ..Item::default()
    };
    let items = [
        tool("wipe_archive", "Wipes the archive of the warehouse"),
        tool("list_drivers", "Lists all drivers of the fleet"),
    ];
    let encoder = Arc::new(Own(Encoder::open().unwrap()));
    let corpus = Corpus::new(&items, encoder, &mut Vectors::new(selection::ENCODER));
    for request in [
        "Wipe the archive of the warehouse, and then list all drivers of the fleet",
        "First wipe the archive, then list all drivers of the fleet",
    ] {
        let found = corpus.select(request, |_| true, 2);
        assert_eq!((found.outcome, found.tools), (Outcome::Call, vec![0, 1]));
    }
    let idle = "Thank you so much, and have a nice evening";
    assert_eq!(corpus.select(idle, |_| true, 2).outcome, Outcome::None);
}

/// Nothing deletes, and nothing sends mail: what is asked for besides is done by no tool.
#[test]
fn a_part_that_no_tool_fits_brings_none() {
    let (items, _) = &*TOOLS;
    let calculator = items.iter().find(|it| it.name == "calculator");
    let limit = Item {
        name: "daily_limit".to_owned(),
        description: "Looks up the daily limit of a user".to_owned(),
        ..Item::default()
    };
    let items = [calculator.cloned().unwrap(), limit];
    let encoder = Arc::new(Own(Encoder::open().unwrap()));
    let corpus = Corpus::new(&items, encoder, &mut Vectors::new(selection::ENCODER));
    for (request, tool) in [
        ("Calculate 3 * 4, then delete everything", 0),
        ("Look up the daily limit of Hong and email it to lee", 1),
    ] {
        let found = corpus.select(request, |_| true, 2);
        assert_eq!(found.tools, [tool], "{request}");
    }
}

/// Tools that say the same of themselves but for one word of their names, and requests in which no list of words tells them apart.
#[test]
fn whether_something_is_to_be_done_is_read_of_any_wording() {
    let tool = |name: &str| Item {
        name: name.to_owned(),
        description: "The subscription of a customer".to_owned(),
        ..Item::default()
    };
    let items = [tool("get_subscription"), tool("cancel_subscription")];
    let encoder = Arc::new(Own(Encoder::open().unwrap()));
    let corpus = Corpus::new(&items, encoder, &mut Vectors::new(selection::ENCODER));
    for (request, right) in [
        (
            "I'd like to know until which day the subscription of Kim runs",
            0,
        ),
        (
            "Kim's subscription, is it the large one or the small one?",
            0,
        ),
        (
            "Kim no longer wants the subscription, please terminate it today",
            1,
        ),
        ("김민수 고객이 쓰는 구독이 언제까지더라", 0),
        ("김민수 고객 구독을 해지해 주세요", 1),
    ] {
        let found = corpus.select(request, |_| true, 1);
        assert_eq!(found.candidates[0].at, right, "{request}");
    }
}

#[test]
fn what_says_all_is_called() {
    for (request, tool) in [
        (
            "Book the Hanra room tomorrow from 3 to 4pm",
            "book_meeting_room",
        ),
        (
            "한라 회의실을 내일 3시부터 4시까지 예약해줘",
            "book_meeting_room",
        ),
        ("translate hello to French", "translate_text"),
        ("search wiki for onboarding guide", "search_wiki"),
        ("add buy milk to my todo list", "add_todo"),
        ("100 나누기 4는 얼마야?", "calculator"),
        ("48 modulo 5", "calculator"),
    ] {
        let (found, first) = select(request);
        assert_eq!(
            (found.outcome, first),
            (Outcome::Call, tool),
            "{request}: {}",
            found.because
        );
    }
}

#[test]
fn what_is_not_to_be_done_calls_nothing() {
    for request in [
        "Do not send any mail",
        "메일 보내지 마",
        "Do not multiply 4 by 5",
    ] {
        let (found, first) = select(request);
        assert_eq!(
            found.outcome,
            Outcome::None,
            "{request}: {first}, {}",
            found.because
        );
    }
}

#[test]
fn a_request_for_two_tools_gets_both() {
    let found = names("12.5 percent of 340 and how many miles are 5 km?");
    assert_eq!(found, ["calculator", "convert_units"]);
}

fn names(request: &str) -> Vec<&'static str> {
    let tools = select(request).0.tools.into_iter();
    tools.map(|at| TOOLS.0[at].name.as_str()).collect()
}

/// A reason, what somebody else wants and what is not wanted name what other tools are about.
#[test]
fn a_part_that_only_tells_something_brings_no_tool() {
    for (request, tool) in [
        (
            "We had three tickets about this last month already. Roll checkout-api back in production.",
            "rollback_service",
        ),
        (
            "I was told the meeting room is too small, whatever. Put \"buy more chairs\" on my to-do list.",
            "add_todo",
        ),
        (
            "No need to look for older tickets. File a bug: the export button does nothing in Safari, high priority.",
            "create_ticket",
        ),
        (
            "고객이 주문 A-20419 때문에 화가 났어요. 4만 2천원 환불해 주세요.",
            "refund_order",
        ),
    ] {
        assert_eq!(names(request), [tool], "{request}");
    }
}

#[test]
fn parts_that_ask_for_something_bring_their_tools() {
    for (request, tools) in [
        (
            "Refund 20,000 won of order A-31177, then mail kim@moon.example that the money is on its way.",
            ["refund_order", "send_mail"],
        ),
        (
            "내일 부산 날씨 알려주고 부산역에서 해운대까지 가는 길도 찾아줘",
            ["get_weather_forecast", "find_route"],
        ),
    ] {
        assert_eq!(names(request), tools, "{request}");
    }
}

#[test]
fn what_nothing_was_learned_from_is_mostly_right() {
    let rows = read("fresh.jsonl");
    let rows = rows
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    let (mut right, mut all) = (0, 0);
    for row in rows {
        let (found, first) = select(row["query"].as_str().unwrap());
        let is_outcome = found.outcome.to_string() == row["outcome"].as_str().unwrap();
        let is_tool = row["gold"].as_array().unwrap().iter().any(|it| it == first);
        all += 1;
        right += usize::from(is_outcome && (found.outcome != Outcome::Call || is_tool));
    }
    assert!(right * 100 >= FRESH_LEAST * all, "{right} of {all}");
}
