//! Which numbers of a request are surely meant for which parameters.

use super::doubt::{is_hedged, is_listed};
use super::numbers::{Number, plain};
use super::said::Said;
use super::units::{Measures, unit};
use super::wanted::{End, Shape, Wanted};

/// Names of parameters that stand for an amount of something.
const AMOUNTS: [&str; 14] = [
    "amount",
    "price",
    "cost",
    "value",
    "budget",
    "salary",
    "total",
    "sum",
    "fee",
    "income",
    "quantity",
    "number",
    "bill",
    "principal",
];

/// What is told apart by numbers: one that follows says which.
const NUMBERED: [&str; 20] = [
    "order", "account", "room", "ticket", "invoice", "issue", "case", "user", "customer", "item",
    "flight", "gate", "line", "version", "chapter", "id", "계좌", "주문", "방", "고객",
];

/// Names of parameters that say how many come.
const PEOPLE: [&str; 9] = [
    "party",
    "attendees",
    "participants",
    "headcount",
    "seats",
    "travelers",
    "travellers",
    "passengers",
    "visitors",
];

/// Which number each of some parameters gets. A calculation is exact: it says just what its numbers are.
pub(crate) fn assigned(
    said: &Said<'_>,
    wanted: &[&Wanted<'_>],
    numbers: &[Number],
    has_unit_beside: bool,
    is_exact: bool,
) -> Vec<(usize, usize)> {
    let may_be = |it: &Wanted<'_>, number: &Number| {
        let place = said.place(&(number.at..number.last + 1));
        (is_exact || !is_hedged(said, it, number, numbers))
            && !is_length_of_point(it, number)
            && !(wants_key(it) && (number.is_one_of_two || is_listed(said, &place)))
    };
    let mut pairs = told(said, wanted, numbers, may_be);
    let is_left = |pairs: &[(usize, usize)], which: &usize| pairs.iter().all(|it| it.0 != *which);
    let mut left: Vec<usize> = (0..wanted.len())
        .filter(|which| wanted[*which].required && is_left(&pairs, which))
        .collect();
    let free = (0..numbers.len()).filter(|at| pairs.iter().all(|it| it.1 != *at));
    let (keys, free): (Vec<usize>, Vec<usize>) = free.partition(|at| is_key(said, &numbers[*at]));
    if !keys.is_empty() {
        // What is told apart by a number gets the number of one, and never another.
        let (which, others): (Vec<usize>, Vec<usize>) =
            left.into_iter().partition(|it| wants_key(wanted[*it]));
        if let ([which], [at]) = (&which[..], &keys[..])
            && !is_other_key(said, wanted[*which], &numbers[*at])
            && may_be(wanted[*which], &numbers[*at])
        {
            pairs.push((*which, *at));
        }
        left = others;
    }
    let fits = |which: usize, at: usize| {
        let (it, number) = (wanted[which], &numbers[at]);
        fits(it, number, has_unit_beside) && may_be(it, number) && !counts(said, it, number)
    };
    match (&left[..], &free[..]) {
        ([which], [at]) if fits(*which, *at) => pairs.push((*which, *at)),
        ([_, _, ..], _) if left.len() == free.len() => {
            let in_order = left.iter().copied().zip(free.iter().copied());
            let all_fit = in_order.clone().all(|(which, at)| fits(which, at));
            let names: Vec<&Wanted<'_>> = left.iter().map(|it| wanted[*it]).collect();
            let given: Vec<&Number> = free.iter().map(|it| &numbers[*it]).collect();
            if all_fit && is_order_certain(said, &names, &given) {
                pairs.extend(in_order);
            }
        }
        // `multiply 5 by something`: what is not said yet has its place, too.
        ([_, _, ..], [_, ..]) if left.len() > free.len() => {
            let mut places: Vec<(Option<usize>, Number)> = free
                .iter()
                .map(|at| (Some(*at), numbers[*at].clone()))
                .chain(unsaid(said).map(|it| (None, it)))
                .collect();
            places.sort_by_key(|it| it.1.at);
            let names: Vec<&Wanted<'_>> = left.iter().map(|it| wanted[*it]).collect();
            let given: Vec<&Number> = places.iter().map(|it| &it.1).collect();
            let in_order = left.iter().zip(&places);
            let said_ones = in_order.filter_map(|(which, it)| Some((*which, it.0?)));
            let is_apart = given.windows(2).any(|it| {
                let between = &said.words[it[0].last..it[1].at];
                between.iter().any(|word| word.ends_part)
            });
            let is_certain = places.len() == left.len()
                && !is_apart
                && is_sequence(&names)
                && !is_inverted(said, &given)
                && said_ones.clone().all(|(which, at)| fits(which, at));
            if is_certain {
                pairs.extend(said_ones);
            }
        }
        _ => {}
    }
    pairs
}

/// The parameters that a number is named for, or that alone want what it is measured in.
fn told(
    said: &Said<'_>,
    wanted: &[&Wanted<'_>],
    numbers: &[Number],
    may_be: impl Fn(&Wanted<'_>, &Number) -> bool,
) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (which, it) in wanted.iter().enumerate() {
        let has_unit = |at: &usize| it.unit.is_some() && numbers[*at].unit == it.unit;
        let is_any_in_unit = (0..numbers.len()).any(|at| has_unit(&at));
        let named: Vec<usize> = (0..numbers.len())
            .filter(|at| is_named(said, it, wanted, &numbers[*at]))
            // In `add a 15% tip to 80` the other number is no percentage.
            .filter(|at| has_unit(at) || !is_any_in_unit)
            .collect();
        let by_unit = || {
            let others = wanted.iter().filter(|other| other.unit == it.unit);
            let found: Vec<usize> = (0..numbers.len()).filter(has_unit).collect();
            if others.count() == 1 {
                found
            } else {
                Vec::new()
            }
        };
        let found = if named.is_empty() { by_unit() } else { named };
        if let [one] = found[..]
            && pairs.iter().all(|pair| pair.1 != one)
            && may_be(it, &numbers[one])
            && (it.end.is_some() || !numbers[one].is_one_of_two)
        {
            pairs.push((which, one));
        }
    }
    pairs
}

/// `the last 3 years` are not the year 3.
fn is_length_of_point(wanted: &Wanted<'_>, number: &Number) -> bool {
    let last = wanted.spoken.split(' ').next_back().unwrap_or_default();
    let is_time = number.unit.is_some_and(|it| it.measures == Measures::Time);
    let is_year = last == "year" && number.value >= 1000.0;
    is_time && matches!(last, "year" | "month" | "week" | "day") && !is_year
}

/// `42 users` and `the first 42` say how many, and neither which one nor how much.
fn counts(said: &Said<'_>, wanted: &Wanted<'_>, number: &Number) -> bool {
    let next = said.next(number.last);
    let next = next.filter(|_| !said.words[number.last].ends_part);
    let next = next.map_or("", |it| it.stem.as_str());
    let lead = said.previous(number.at).filter(|it| !it.ends_part);
    let lead = lead.map_or("", |it| it.stem.as_str());
    (wants_key(wanted) && is_plural(next)) || matches!(lead, "top" | "first" | "상위")
}

fn is_plural(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss")
}

/// `order 4711`, `계좌 12345`: the number of something that has one, and no amount.
fn is_key(said: &Said<'_>, number: &Number) -> bool {
    let before = said.previous(number.at).filter(|it| !it.ends_part);
    // `order 5 apples` asks for them, and `order 5, apples` does not.
    let is_verb = before.is_some_and(|it| it.begins_sentence && it.stem == "order")
        && !said.words[number.last].ends_part
        && said.next(number.last).is_some_and(|it| is_plural(&it.stem));
    if is_verb {
        return false;
    }
    let before = before.map_or("", |it| it.stem.as_str());
    said.words[number.at].bare.starts_with('#')
        || before.ends_with("번호")
        || NUMBERED.contains(&before)
}

/// In `user 42's order 7` the 7 is no user's.
fn is_other_key(said: &Said<'_>, wanted: &Wanted<'_>, number: &Number) -> bool {
    let lead = said.previous(number.at).map_or("", |it| it.stem.as_str());
    let is_thing = |it: &str| it != "id" && it.is_ascii() && NUMBERED.contains(&it);
    is_thing(lead)
        && wanted.spoken.split(' ').any(is_thing)
        && wanted.spoken.split(' ').all(|it| it != lead)
}

/// `id`, `order_id`, `issue_number`, `room`.
fn wants_key(wanted: &Wanted<'_>) -> bool {
    let words: Vec<&str> = wanted.spoken.split(' ').collect();
    let last = words.last().copied().unwrap_or_default();
    let is_number = matches!(last, "no" | "nr" | "number" | "key");
    matches!(last, "id" | "iid")
        || NUMBERED.contains(&last)
        || (is_number && words.iter().any(|it| NUMBERED.contains(it)))
}

/// Where a number stands that is still to be said: `something`, `another number`, `무언가`.
pub(crate) fn unsaid<'s>(said: &'s Said<'_>) -> impl Iterator<Item = Number> + 's {
    let is_unsaid = |at: usize| {
        let before = said.previous(at).map_or("", |it| it.stem.as_str());
        match said.words[at].stem.as_str() {
            "something" | "anything" | "무언가" | "무엇인가" | "뭔가" => true,
            "number" | "수" | "숫자" => {
                matches!(
                    before,
                    "another" | "other" | "some" | "any" | "다른" | "어떤"
                )
            }
            _ => false,
        }
    };
    let all = (0..said.words.len()).filter(move |at| is_unsaid(*at));
    all.map(|at| Number {
        particle: said.words[at].particle.to_owned(),
        ..plain(0.0, at)
    })
}

/// Whether a number could be meant where nothing names it. `5 km` is no count, and `30` may be of anything.
fn fits(wanted: &Wanted<'_>, number: &Number, has_unit_beside: bool) -> bool {
    let is_amount = wanted.spoken.split(' ').any(|it| AMOUNTS.contains(&it));
    match (wanted.unit, number.unit) {
        (Some(wants), Some(has)) => wants == has,
        (Some(_), None) => false,
        (None, None) => true,
        (None, Some(_)) if wants_key(wanted) => false,
        (None, Some(has)) => match has.measures {
            Measures::Count => true,
            Measures::Money => is_amount || has_unit_beside,
            _ => is_amount && has_unit_beside,
        },
    }
}

/// `width 300`, `a width of 300`, `300 wide` does not count; `너비 300`.
fn is_named(said: &Said<'_>, wanted: &Wanted<'_>, all: &[&Wanted<'_>], number: &Number) -> bool {
    // What two are called by, as `price` of `min_price` and `max_price`, names neither.
    let is_alias = |text: &str| {
        let are_called = all
            .iter()
            .filter(|it| it.aliases.iter().any(|it| it == text));
        wanted.aliases.iter().any(|it| it == text) && are_called.count() < 2
    };
    let units_agree = wanted.unit.is_none() || number.unit.is_none() || wanted.unit == number.unit;
    if !units_agree || !matches!(wanted.shape, Shape::Number) {
        return false;
    }
    let mut before = Vec::new();
    let mut at = number.at;
    while let Some(word) = said.previous(at).filter(|it| !it.ends_sentence) {
        at -= 1;
        let is_between = matches!(word.stem.as_str(), "of" | "is" | "to" | "the" | "a" | "at");
        if !is_between || before.len() > 2 {
            before.push(word.stem.as_str());
            break;
        }
    }
    let longer = said.previous(at).map(|it| it.stem.as_str());
    let last = before.last().copied().unwrap_or_default();
    let both = longer.map(|it| format!("{it} {last}"));
    let follows = said
        .next(number.last)
        .filter(|_| number.unit.is_none())
        .is_some_and(|it| is_alias(&it.stem) && !is_followed_by_number(said, number.last + 1));
    let counts = matches!(last, "top" | "first" | "상위")
        || number.unit.is_some_and(|it| it.name == "things");
    is_alias(last)
        || both.is_some_and(|it| is_alias(&it))
        || follows
        || (counts && wanted.counts_results())
        || (counts_same(wanted, number)
            && all.iter().filter(|it| counts_same(it, number)).count() == 1)
}

/// `for 12 people` is the size of the party, and `2 nights` are the nights.
fn counts_same(wanted: &Wanted<'_>, number: &Number) -> bool {
    let Some(unit_said) = number.unit.filter(|it| it.measures == Measures::Count) else {
        return false;
    };
    // `page` is the number of one, and `pages` how many.
    let is_many = |it: &str| it == "people" || it.ends_with('s');
    let is_same = |it: &str| is_many(it) && unit(it) == Some(unit_said);
    let is_people = |it: &str| unit_said.name == "people" && PEOPLE.contains(&it);
    wanted
        .spoken
        .split(' ')
        .any(|it| is_same(it) || is_people(it))
}

/// In `300 width 200 height 100` nobody knows which is which.
fn is_followed_by_number(said: &Said<'_>, at: usize) -> bool {
    let next = said.next(at);
    next.is_some_and(|it| it.bare.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether parameters are asked for in the order in which numbers are said.
fn is_order_certain(said: &Said<'_>, wanted: &[&Wanted<'_>], numbers: &[&Number]) -> bool {
    let ends: Vec<Option<End>> = wanted.iter().map(|it| it.end).collect();
    if ends == [Some(End::From), Some(End::To)] {
        let is_span = said.words[numbers[0].at..=numbers[1].last]
            .iter()
            .any(|it| matches!(it.stem.as_str(), "to" | "and" | "until" | "~" | "-"))
            || matches!(numbers[0].particle.as_str(), "부터" | "에서");
        return is_span && numbers[0].value <= numbers[1].value;
    }
    is_sequence(wanted) && !is_inverted(said, numbers)
}

/// `num1, num2`, `a, b`, `first, second`, `width, height` of `300x200`.
pub(crate) fn is_sequence(wanted: &[&Wanted<'_>]) -> bool {
    let names: Vec<&str> = wanted.iter().map(|it| it.spoken.as_str()).collect();
    let counted = |names: &[&str]| {
        let digits = |it: &str| {
            let digits = it.trim_start_matches(|c: char| !c.is_ascii_digit());
            digits.parse::<usize>().ok()
        };
        let from = |first: usize| {
            let mut places = names.iter().enumerate();
            places.all(|(at, it)| digits(it) == Some(at + first))
        };
        from(0) || from(1)
    };
    let lettered = |names: &[&str]| {
        let letters: Vec<u8> = names
            .iter()
            .filter(|it| it.len() == 1)
            .map(|it| it.as_bytes()[0])
            .collect();
        letters.len() == names.len()
            && letters
                .windows(2)
                .all(|it| it[0].checked_add(1) == Some(it[1]))
    };
    let ordinals = ["first", "second", "third", "fourth"];
    let ordered = names
        .iter()
        .zip(ordinals)
        .all(|(it, word)| it.split(' ').any(|own| own == word));
    counted(&names) || lettered(&names) || (ordered && names.len() <= ordinals.len())
}

/// `subtract 3 from 10` says the second first.
fn is_inverted(said: &Said<'_>, numbers: &[&Number]) -> bool {
    let between = &said.words[numbers[0].last..numbers[1].at];
    let is_turned = between
        .iter()
        .any(|it| matches!(it.stem.as_str(), "from" | "into"));
    let last = numbers[numbers.len() - 1];
    is_turned
        || last.particle.starts_with("에서")
        || matches!(numbers[0].particle.as_str(), "으로" | "로")
}
