//! What is a rule and what is not, in both languages.

use super::*;

fn rules_of(description: &str) -> Vec<(Kind, String)> {
    let rules = read(description, &["order_id"]).rules.into_iter();
    rules.map(|it| (it.kind, it.condition)).collect()
}

#[test]
fn rules_are_read_in_english() {
    let prefer = |name: &str| Kind::Prefer(name.to_owned());
    for (description, kind, condition) in [
        (
            "Prefer web_search if the user wants news.",
            prefer("web_search"),
            "news",
        ),
        (
            "Prefer the `sql_query` tool for tables with many rows.",
            prefer("sql_query"),
            "tables with many rows",
        ),
        (
            "For Korean addresses, use geocode_kr instead.",
            prefer("geocode_kr"),
            "Korean addresses",
        ),
        (
            "Use calc.sum instead when numbers are added.",
            prefer("calc.sum"),
            "numbers are added",
        ),
        (
            "If the file is a PDF use readPdf.",
            prefer("readPdf"),
            "the file is a PDF",
        ),
        (
            "Prefer this tool when maps are wanted.",
            Kind::Own,
            "maps are wanted",
        ),
        ("Use this tool only for invoices.", Kind::Only, "invoices"),
        (
            "Only use this when a tracking number is given.",
            Kind::Only,
            "a tracking number is given",
        ),
        ("Not for medical questions.", Kind::Not, "medical questions"),
        (
            "Do not use this tool for live prices.",
            Kind::Not,
            "live prices",
        ),
        ("Should not be used to send mail", Kind::Not, "send mail"),
    ] {
        assert_eq!(
            rules_of(description),
            [(kind, condition.to_owned())],
            "{description}"
        );
    }
}

#[test]
fn rules_are_read_in_korean() {
    let prefer = |name: &str| Kind::Prefer(name.to_owned());
    for (description, kind, condition) in [
        (
            "뉴스를 찾는 경우에는 web_search를 우선 사용하세요.",
            prefer("web_search"),
            "뉴스를 찾는",
        ),
        (
            "해외 주소라면 이 도구 대신 geocode를 사용하세요.",
            prefer("geocode"),
            "해외 주소",
        ),
        (
            "국내 날씨에는 kma_weather 도구를 선호합니다.",
            prefer("kma_weather"),
            "국내 날씨",
        ),
        ("송장 조회에만 사용합니다.", Kind::Only, "송장 조회"),
        ("의료 상담에는 사용하지 마세요.", Kind::Not, "의료 상담"),
        (
            "실시간 시세를 볼 때는 이 도구를 사용하지 않는다.",
            Kind::Not,
            "실시간 시세를 볼",
        ),
    ] {
        assert_eq!(
            rules_of(description),
            [(kind, condition.to_owned())],
            "{description}"
        );
    }
}

#[test]
fn one_sentence_may_say_two_things() {
    let found = rules_of("Not for stock prices; use get_quote instead.");
    let prices = "stock prices".to_owned();
    let expected = [
        (Kind::Not, prices.clone()),
        (Kind::Prefer("get_quote".to_owned()), prices),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        rules_of("Not for stock prices, use get_quote instead."),
        expected
    );
}

#[test]
fn what_is_said_of_a_case_holds_for_the_next_sentence() {
    let found = rules_of("재고 확인에는 사용하지 마세요. 그때는 check_stock을 사용합니다.");
    let stock = "재고 확인".to_owned();
    let expected = [
        (Kind::Not, stock.clone()),
        (Kind::Prefer("check_stock".to_owned()), stock),
    ];
    assert_eq!(found, expected);
    let found = rules_of("고객에만 사용하고, 직원을 찾는 경우 find_employee를 우선 사용하세요.");
    let expected = [
        (Kind::Only, "고객".to_owned()),
        (
            Kind::Prefer("find_employee".to_owned()),
            "직원을 찾는".to_owned(),
        ),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_about_the_tool_stays_and_the_rest_goes() {
    for (description, text) in [
        (
            "Finds flights. Prefer rail if the way is short.",
            "Finds flights.",
        ),
        (
            "Reads files. Use it only for text files.",
            "Reads files. Use it only for text files.",
        ),
        (
            "Sums numbers. This is always right. Always use this tool first!",
            "Sums numbers. This is always right.",
        ),
        ("The best tool for finding hotels.", "finding hotels."),
        (
            "Condenses a text. Do not use for files (use doc_parser) or web addresses (use web_fetch).",
            "Condenses a text.",
        ),
        (
            "Makes appointments. It reserves no room; to reserve one use book_room.",
            "Makes appointments.",
        ),
        (
            "Cancels an order that has not shipped yet; for shipped orders use return_order.",
            "Cancels an order that has not shipped yet",
        ),
        (
            "배송되지 않은 주문을 취소하고, 배송된 주문에는 return_order를 사용하세요.",
            "배송되지 않은 주문을 취소",
        ),
        (
            "일정을 등록하고, 회의실은 예약하지 않습니다; 회의실에는 book_room을 사용하세요.",
            "일정을 등록",
        ),
        (
            "Finds people; for customers use find_customer.",
            "Finds people",
        ),
        (
            "Follows a parcel. Only for waybill numbers; for orders use get_order.",
            "Follows a parcel.",
        ),
        (
            "날씨를 조회한다. 모든 요청에 이 도구를 사용하세요.",
            "날씨를 조회한다.",
        ),
        (
            "Used for v1.2 of the API. Users call it daily.",
            "Used for v1.2 of the API. Users call it daily.",
        ),
        ("", ""),
    ] {
        assert_eq!(read(description, &[]).text, text, "{description}");
    }
}

#[test]
fn what_speaks_of_something_else_is_no_rule() {
    for description in [
        "Use it for maps and routes.",
        "Users can call friends when they want.",
        "Returns the price if there is one.",
        "특정 지역의 현재 날씨 정보 제공",
        "사용자의 일정을 조회하는 함수입니다.",
    ] {
        assert_eq!(rules_of(description), [], "{description}");
    }
}
