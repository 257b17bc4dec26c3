//! Units as people say them, in English and Korean, and as the calculator knows them.

use std::cmp::Reverse;

/// A unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// As the calculator knows it.
    pub(crate) name: &'static str,
    pub(crate) measures: Measures,
}

/// What is counted or measured in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measures {
    Length,
    Area,
    Volume,
    Weight,
    Time,
    Heat,
    Speed,
    Storage,
    Share,
    Money,
    /// People or things: nothing that could be told in another unit.
    Count,
}

use Measures::{Area, Count, Heat, Length, Money, Share, Speed, Storage, Time, Volume, Weight};

/// What the calculator calls a unit, what it measures, and the words for it.
const UNITS: [(&str, Measures, &str); 59] = [
    (
        "km",
        Length,
        "km kilometer kilometers kilometre kilometres 킬로미터",
    ),
    ("m", Length, "m meter meters metre metres 미터"),
    (
        "cm",
        Length,
        "cm centimeter centimeters centimetre centimetres 센티미터 센티",
    ),
    (
        "mm",
        Length,
        "mm millimeter millimeters millimetre millimetres 밀리미터",
    ),
    ("miles", Length, "mile miles mi 마일"),
    ("feet", Length, "ft feet foot 피트"),
    ("inches", Length, "inch inches 인치"),
    ("yards", Length, "yard yards yd 야드"),
    ("m^2", Area, "m2 m² sqm 제곱미터"),
    ("acres", Area, "acre acres 에이커"),
    ("hectares", Area, "hectare hectares 헥타르"),
    ("liters", Volume, "l liter liters litre litres 리터"),
    (
        "ml",
        Volume,
        "ml milliliter milliliters millilitre millilitres 밀리리터",
    ),
    ("gallons", Volume, "gallon gallons 갤런"),
    ("cups", Volume, "cup cups"),
    (
        "kg",
        Weight,
        "kg kilogram kilograms kilo kilos 킬로그램 킬로그람",
    ),
    ("g", Weight, "g gram grams 그램 그람"),
    ("mg", Weight, "mg milligram milligrams 밀리그램"),
    ("pounds", Weight, "lb lbs pound pounds 파운드"),
    ("oz", Weight, "oz ounce ounces 온스"),
    ("tonnes", Weight, "ton tons tonne tonnes 톤"),
    ("seconds", Time, "s sec secs second seconds 초"),
    ("ms", Time, "ms millisecond milliseconds 밀리초"),
    ("minutes", Time, "min mins minute minutes 분"),
    ("hours", Time, "h hr hrs hour hours 시간"),
    ("days", Time, "day days 일"),
    ("weeks", Time, "week weeks 주"),
    ("months", Time, "month months 개월"),
    ("years", Time, "year years 년"),
    ("°C", Heat, "°c celsius centigrade 섭씨"),
    ("°F", Heat, "°f fahrenheit 화씨"),
    ("kelvin", Heat, "kelvin 켈빈"),
    ("mph", Speed, "mph"),
    ("km/hour", Speed, "km/h kph kmh"),
    ("m/s", Speed, "m/s"),
    ("bytes", Storage, "byte bytes 바이트"),
    ("KB", Storage, "kb kilobyte kilobytes 킬로바이트"),
    ("MB", Storage, "mb megabyte megabytes 메가바이트 메가"),
    ("GB", Storage, "gb gigabyte gigabytes 기가바이트 기가"),
    ("TB", Storage, "tb terabyte terabytes 테라바이트 테라"),
    ("bits", Storage, "bit bits 비트"),
    ("%", Share, "% percent pct 퍼센트 프로"),
    ("KRW", Money, "원 won krw ₩ 원화"),
    ("USD", Money, "dollar dollars usd $ 달러 불 bucks"),
    ("EUR", Money, "euro euros eur € 유로"),
    ("JPY", Money, "yen jpy 엔 엔화"),
    ("CNY", Money, "yuan cny 위안"),
    ("GBP", Money, "gbp £"),
    (
        "people",
        Count,
        "person people persons guest guests 명 인 사람 분이",
    ),
    (
        "things",
        Count,
        "개 건 results items articles pieces copies entries rows documents 가지",
    ),
    ("times", Count, "번 회 times"),
    ("nights", Count, "night nights 박"),
    ("pages", Count, "page pages 페이지 쪽"),
    ("words", Count, "word words 단어"),
    ("lines", Count, "line lines 줄"),
    ("sheets", Count, "장"),
    ("bottles", Count, "병 잔"),
    ("books", Count, "권"),
    ("pixels", Count, "px pixel pixels 픽셀"),
];

/// The unit that a word, in small letters, is.
pub(crate) fn unit(small: &str) -> Option<Unit> {
    let found = UNITS
        .iter()
        .find(|(_, _, words)| words.split(' ').any(|it| it == small))?;
    Some(Unit {
        name: found.0,
        measures: found.1,
    })
}

/// The longest unit that a text begins with, and what follows it.
pub(crate) fn leading_unit(small: &str) -> Option<(Unit, &str)> {
    let all = UNITS.iter().flat_map(|it| it.2.split(' '));
    let mut begins: Vec<&str> = all.filter(|it| small.starts_with(it)).collect();
    begins.sort_by_key(|it| Reverse(it.len()));
    let word = begins.first()?;
    Some((unit(word)?, &small[word.len()..]))
}

/// The unit in which a parameter wants its number, by its name or what is said of it; none where several are named.
pub(crate) fn unit_of(spoken: &str, about: &str) -> Option<Unit> {
    // What is wanted per minute is no time, and what is wanted not in percent is no percentage.
    let turned = ["per", "a", "an", "every", "each", "not"];
    let is_turned = |text: &str| {
        let parted = text.replace('/', " per ").replace("not in ", "not ");
        let words: Vec<&str> = parted.split(' ').collect();
        let named = |it: &str| unit(it.trim_end_matches([',', '.', ';', ')'])).is_some();
        let mut pairs = words.windows(2);
        pairs.any(|it| turned.contains(&it[0]) && named(it[1]))
    };
    if is_turned(spoken) || is_turned(&about.to_lowercase()) {
        return None;
    }
    // Single letters are names of numbers, and a `page` is the number of one.
    let is_telling = |it: &Unit| it.measures != Count && it.measures != Money;
    // `min_price` is the least, and `second_number` comes after the first.
    let is_place = |at: usize, it: &str| at == 0 && matches!(it, "min" | "second");
    let parts = spoken.split(' ').enumerate();
    let mut parts = parts.filter(|(at, it)| it.len() > 1 && !is_place(*at, it));
    let named = parts.find_map(|it| unit(it.1));
    if let Some(unit) = named.filter(is_telling) {
        return Some(unit);
    }
    if spoken.split(' ').any(|it| it == "percentage") {
        return unit("%");
    }
    let about = about.to_lowercase();
    let words = about.split(|c: char| !c.is_alphanumeric() && c != '%' && c != '°');
    let mut units = words
        .filter(|it| it.chars().count() > 1 || *it == "%")
        // The second of several and the least, and no time.
        .filter(|it| *it != "second" && *it != "min")
        .filter_map(unit)
        .filter(is_telling);
    let first = units.next()?;
    units.all(|it| it == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_known_by_their_words() {
        for (word, name) in [
            ("miles", "miles"),
            ("피트", "feet"),
            ("%", "%"),
            ("원", "KRW"),
        ] {
            assert_eq!(unit(word).map(|it| it.name), Some(name), "{word}");
        }
        assert_eq!(unit("paris"), None);
        let (unit, rest) = leading_unit("시간이지").unwrap();
        assert_eq!((unit.name, rest), ("hours", "이지"));
    }

    #[test]
    fn the_calculator_knows_every_unit() {
        let mut context = fend_core::Context::new();
        for (name, measures, _) in UNITS {
            if !matches!(measures, Count | Money | Share) {
                let text = format!("1 {name} to {name}");
                let known = fend_core::evaluate(&text, &mut context);
                assert!(known.is_ok(), "{name}: {known:?}");
            }
        }
    }

    #[test]
    fn a_parameter_tells_its_unit() {
        for (spoken, about, name) in [
            ("duration minutes", "", Some("minutes")),
            ("duration", "How long, in minutes", Some("minutes")),
            ("duration", "in minutes or hours", None),
            ("percentage", "", Some("%")),
            ("num2", "The second number", None),
            ("min price", "Min price", None),
            ("second number", "", None),
            ("duration min", "", Some("minutes")),
            ("pause", "How long, in seconds", Some("seconds")),
            ("count", "How many results at most", None),
            ("m", "", None),
        ] {
            assert_eq!(
                unit_of(spoken, about).map(|it| it.name),
                name,
                "{spoken} {about}"
            );
        }
    }
}
