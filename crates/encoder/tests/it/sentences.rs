//! Texts to encode, written for this test.

/// What somebody may ask for, in English, Korean and both.
const PLAIN: &[&str] = &[
    "What is the weather like in Seoul tomorrow morning?",
    "Book a table for four at an Italian restaurant near Gangnam station at 7 pm.",
    "Convert 250 US dollars to Korean won at today's rate.",
    "Show me all unread mails from my manager that came in last week.",
    "How many calories are in a bowl of bibimbap?",
    "Please cancel the meeting with Mr. O'Neill on Thursday, and tell everyone why.",
    "translate this sentence into korean: the train leaves at half past nine",
    "Find the shortest route from Busan to Daejeon that avoids toll roads",
    "Create a pull request from branch fix/login-timeout into main",
    "SELECT name, price FROM products WHERE price > 100 ORDER BY name LIMIT 10;",
    "Turn the living-room lights off and set the thermostat to 21.5 °C.",
    "Who won the 2002 World Cup semi-final between Germany and South Korea?",
    "Summarise the attached report in three sentences.",
    "I'd like to know whether my order #48213-B has been shipped yet…",
    "Play some jazz, then add it to the playlist “Sunday morning”.",
    "What's the difference between a list and a tuple in Python?",
    "Resize photo_01.png to 1024x768 and save it as a JPEG with 80% quality",
    "Remind me to water the plants every other day at 8:30",
    "Which of my subscriptions renew this month, and what do they cost altogether?",
    "Is there a pharmacy open now within 500 m?",
    "get_user_by_email(email=\"kim@example.com\")",
    "HTTP 404: the page /docs/v2/index.html was not found",
    "Write a haiku about rain on a tin roof.",
    "ok",
    "a",
    "7",
    "Compare the battery life of these two laptops and recommend the better one for travelling.",
    "The quarterly revenue grew by 14.4 per cent, from 1,204 to 1,377.",
    "서울 내일 아침 날씨 어때?",
    "강남역 근처 이탈리안 레스토랑에 저녁 7시에 네 명 예약해 줘.",
    "오늘 환율로 250달러를 원화로 바꾸면 얼마야?",
    "지난주에 팀장님이 보낸 메일 중에 안 읽은 것만 보여줘",
    "비빔밥 한 그릇은 몇 칼로리인가요?",
    "목요일 회의를 취소하고 참석자들에게 이유를 알려 주세요.",
    "이 문장을 영어로 번역해줘: 기차는 아홉 시 반에 출발합니다",
    "부산에서 대전까지 유료 도로를 피해서 가는 가장 빠른 길을 찾아줘",
    "거실 불을 끄고 온도를 21.5도로 맞춰줘",
    "2002년 월드컵 준결승에서 누가 이겼어?",
    "첨부한 보고서를 세 문장으로 요약해줘",
    "주문번호 48213-B 배송이 시작됐는지 알고 싶어요",
    "재즈 음악 틀어주고 '일요일 아침' 재생목록에 추가해줘",
    "파이썬에서 리스트와 튜플의 차이가 뭐야?",
    "사진 크기를 1024x768로 줄이고 품질 80%로 저장해줘",
    "이틀에 한 번 오전 8시 30분에 화분에 물 주라고 알려줘",
    "이번 달에 갱신되는 구독 서비스가 뭐가 있고 다 합쳐서 얼마야?",
    "지금 문 연 약국이 500미터 안에 있어?",
    "양철 지붕에 떨어지는 비에 대한 시를 써줘",
    "네",
    "ㅋㅋㅋㅋ 진짜 웃기다 ㅠㅠ",
    "주식 투자를 자꾸 실패해서 이번에는 넷플릭스에 넣어 보려고 하는데 지금 가격 좀 알려줘",
    "동해 물과 백두산이 마르고 닳도록 하느님이 보우하사 우리나라 만세",
    "GitHub에 issue 하나 만들어줘, title은 'login timeout'으로",
    "내일 meeting을 3pm으로 reschedule 해줘",
    "AWS EC2 인스턴스 t3.micro 두 개를 서울 리전(ap-northeast-2)에 띄워줘",
    "Please translate '감사합니다' and '잘 부탁드립니다' into English.",
    "Netflix 주가랑 Apple 주가 비교해줘",
    "Send 김민수 a message saying \"회의 10분 늦어요\"",
    "pdf 파일을 docx로 convert 할 수 있어?",
];

/// Signs, forms and spaces that are made plain before a text is cut.
const ODD: &[&str] = &[
    "",
    "   ",
    "\t\n\r",
    "  several   spaces\tand\nlines  ",
    "Ｆｕｌｌｗｉｄｔｈ　ｌｅｔｔｅｒｓ １２３",
    "ﬁnd the ﬂight №5 ½ ㎏ ㈜ ™",
    "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8} \u{110b}\u{1165} conjoining letters",
    "￦1,000 stays what it is, ㉠ and ⅷ do not",
    "zero\u{200b}width\u{200d}joiner\u{feff} and soft\u{ad}hyphen",
    "non\u{a0}breaking\u{2003}spaces\u{3000}here",
    "\u{2581}a sign\u{2581}that stands for a space\u{2581}",
    "tabs\u{0}and\u{1}control\u{1f}characters\u{7f}",
    "!!!???...,,,;;;:::---___***",
    "1234567890 0.00001 1e-12 0xFF",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "ThisIsACamelCaseToolName and_this_is_a_snake_case_one and-kebab-case",
    "https://example.com/path?query=1&other=한글#part",
    "{\"json\": [1, 2, {\"nested\": null}], \"ok\": true}",
    "← → ↑ ↓ ★ ☆ ♥ ♪ ● ○ ■ □ ※",
    "“quotes” ‘single’ «angles» „low“ – — … ·",
    "€100 £50 ¥30 ₩2,000 ₿1",
    "weather ☀️ tomorrow? 😀😂🥲",
    "👨‍👩‍👧‍👦 family dinner 🍕🍝 예약해줘 🙏🏽",
    "🇰🇷 vs 🇩🇪",
    "αβγ + π ≈ 3.14159, Σ x² ≤ ∞",
];

/// All texts that the kept pieces are enough for.
pub(crate) fn ours() -> Vec<String> {
    let mut texts: Vec<String> = PLAIN
        .iter()
        .chain(ODD)
        .map(|&text| text.to_owned())
        .collect();
    for text in PLAIN {
        texts.push(text.to_uppercase());
        texts.push(with_typos(text));
        texts.push(text.replace(' ', ""));
    }
    for pair in PLAIN.chunks(5) {
        texts.push(pair.join(" "));
    }
    // About as long as the longest text that is taken whole.
    texts.push(PLAIN[..10].join(" / "));
    texts
}

/// Every seventh character changes places with the one after it.
fn with_typos(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for start in (3..letters.len().saturating_sub(1)).step_by(7) {
        letters.swap(start, start + 1);
    }
    letters.into_iter().collect()
}
