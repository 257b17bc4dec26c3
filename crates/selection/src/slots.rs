//! What a tool must be given, and how much of it a request gives.

use crate::item::Item;
use crate::own::{listed, own_words, shape};
use crate::slot::{Said, Slot, Whose};
use crate::values::{Given, Sort, Value};
use crate::wants::Want;
use crate::words::is_hangul;

/// So many examples tell how requests fill a tool.
const EXAMPLES_MAX: usize = 24;

/// What an example may give that is more than some word.
const SORTS: [Sort; 12] = [
    Sort::Number,
    Sort::Day,
    Sort::Hour,
    Sort::Mail,
    Sort::Web,
    Sort::Picture,
    Sort::File,
    Sort::Key,
    Sort::Quote,
    Sort::Name,
    Sort::Language,
    Sort::Currency,
];

/// Fewer examples in a language say little about what is usual in it.
const SAME_LEAST: usize = 3;

/// What is worked out once for a tool.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    pub(crate) all: Vec<Slot>,
    /// How keys of its things look, as far as it says.
    pub(crate) shapes: Vec<String>,
    /// The words that it has itself, in order; what it only has as an example is a value.
    own: Vec<u32>,
    /// Of these, those that name what it is about.
    listed: Vec<u32>,
    /// What its examples give, on the whole: they say all that it needs. To be measured by are those in other languages, and
    /// those in Korean, which says as much in fewer words. Nothing, where it has none.
    pub(crate) usual: [Option<Usual>; 2],
}

/// What requests give that say enough.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usual {
    /// Values that are more than some word, words that are none of the tool's own, and words at all.
    pub(crate) sure: f32,
    pub(crate) foreign: f32,
    pub(crate) said: f32,
    /// How many of them set something apart.
    pub(crate) apart: f32,
    /// How many of them give each sort of thing.
    shares: [f32; SORTS.len()],
}

impl Usual {
    /// Where nobody knows what is usual, what is given is.
    pub(crate) fn as_given(filled: &Filled, given: &Given) -> Self {
        Usual {
            sure: number(filled.sure),
            foreign: number(filled.foreign),
            said: number(given.said),
            apart: if given.is_apart { 1.0 } else { 0.0 },
            ..Usual::default()
        }
    }
}

/// How much of what a tool needs is given.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Filled {
    pub(crate) needed: usize,
    /// The sum of how well each is filled, from 0 to 1.
    pub(crate) sum: f32,
    pub(crate) worst: f32,
    /// The same sum, of what is filled with more than some word.
    pub(crate) solid: f32,
    pub(crate) missing: usize,
    /// Values that are left for nothing.
    pub(crate) over: usize,
    /// Values that are more than some word.
    pub(crate) sure: usize,
    /// The one that is filled worst, among the slots.
    worst_at: Option<usize>,
    /// Whether it is known what that one wants.
    pub(crate) is_typed: bool,
    /// Whether that one wants words of one's own, or the name of something.
    pub(crate) is_free: bool,
    pub(crate) is_named: bool,
    /// Words that are none of the tool's own.
    pub(crate) foreign: usize,
}

impl Filled {
    /// The share of what is needed that is not given.
    pub(crate) fn lacking(&self) -> f32 {
        match u8::try_from(self.needed) {
            Ok(needed @ 1..) => 1.0 - self.sum / f32::from(needed),
            _ => 0.0,
        }
    }

    /// The share of what is needed that is given by more than some word.
    pub(crate) fn solid(&self) -> f32 {
        match u8::try_from(self.needed) {
            Ok(needed @ 1..) => self.solid / f32::from(needed),
            _ => 1.0,
        }
    }

    /// What that costs a tool among others.
    pub(crate) fn loss(&self) -> f32 {
        if self.needed == 0 {
            0.5
        } else {
            self.lacking()
        }
    }
}

impl Slots {
    pub(crate) fn new(item: &Item) -> Self {
        let mut shapes: Vec<String> = Vec::new();
        let about = item.parameters.iter().map(|it| it.description.as_str());
        let given = item.parameters.iter().flat_map(|it| &it.examples);
        let texts = about
            .chain(given.map(String::as_str))
            .chain(item.examples.iter().map(String::as_str));
        for text in texts {
            for value in Given::new(text).values {
                if value.sort == Sort::Key {
                    shapes.push(shape(&value.text));
                }
            }
        }
        shapes.sort_unstable();
        shapes.dedup();
        let mut slots = Slots {
            all: item.parameters.iter().map(Slot::new).collect(),
            shapes,
            own: own_words(item),
            listed: listed(item),
            usual: [None; 2],
        };
        slots.usual = same_language(&item.examples).map(|it| slots.usual(&it));
        slots
    }

    fn usual(&self, examples: &[&str]) -> Option<Usual> {
        let part = 1.0 / f32::from(u8::try_from(examples.len()).ok().filter(|it| *it > 0)?);
        let mut usual = Usual::default();
        for example in examples {
            let given = Given::new(example);
            let filled = self.fill(&given);
            usual.sure += part * number(filled.sure);
            usual.foreign += part * number(filled.foreign);
            usual.said += part * number(given.said);
            usual.apart += if given.is_apart { part } else { 0.0 };
            for (share, sort) in usual.shares.iter_mut().zip(SORTS) {
                *share += if self.gives(&given, sort) { part } else { 0.0 };
            }
        }
        Some(usual)
    }

    fn gives(&self, given: &Given, sort: Sort) -> bool {
        let is_value = |it: &Value| it.sort == sort && (sort != Sort::Name || !self.is_own(it));
        given.values.iter().any(is_value)
    }

    /// What examples give, and a request does not: how many of them give that which most do, and how much is missing
    /// together.
    pub(crate) fn lacks(&self, given: &Given) -> (f32, f32) {
        let (mut most, mut sum) = (0.0_f32, 0.0);
        let usual = self.usual[usize::from(given.is_korean)].unwrap_or_default();
        for (share, sort) in usual.shares.into_iter().zip(SORTS) {
            if share > 0.5 && !self.gives(given, sort) {
                most = most.max(share);
                sum += 2.0 * share - 1.0;
            }
        }
        (most, sum)
    }

    /// Whether a word is one of the tool's own: `room` gives a tool that books rooms nothing.
    fn is_own(&self, value: &Value) -> bool {
        self.owned(value) * 2 >= value.keys.len().max(1)
    }

    fn owned(&self, value: &Value) -> usize {
        let known = value
            .keys
            .iter()
            .filter(|it| self.own.binary_search(it).is_ok());
        known.count()
    }

    /// Gives each slot the best value that is left, those first that few values fit.
    pub(crate) fn fill(&self, given: &Given) -> Filled {
        let said = given.values.iter().map(|value| Said {
            value,
            whose: self.whose(value),
        });
        let mut left: Vec<Option<Said<'_>>> = said.map(Some).collect();
        let asked = |left: &[Option<Said<'_>>], is_so: fn(Sort) -> bool| {
            let asked = left.iter().flatten().filter(|it| it.whose == Whose::Asker);
            asked.filter(|it| is_so(it.value.sort)).count()
        };
        let mut filled = Filled {
            sure: asked(&left, |it| it != Sort::Word),
            worst: 1.0,
            foreign: asked(&left, |it| matches!(it, Sort::Word | Sort::Name)),
            ..Filled::default()
        };
        let mut order: Vec<usize> = (0..self.all.len())
            .filter(|at| self.all[*at].is_needed)
            .collect();
        order.sort_by_key(|at| self.all[*at].freedom());
        for at in order {
            let (fit, is_solid) = self.all[at].take(&mut left);
            filled.needed += 1;
            filled.sum += fit;
            filled.solid += if is_solid { fit } else { 0.0 };
            filled.missing += usize::from(fit < 0.5);
            if fit < filled.worst || filled.worst_at.is_none() {
                filled.worst = fit;
                filled.worst_at = Some(at);
                let slot = &self.all[at];
                filled.is_typed = slot.is_typed;
                filled.is_free = matches!(slot.want, Want::Query | Want::Text);
                filled.is_named = matches!(slot.want, Want::Name | Want::Place | Want::Any);
            }
        }
        filled.over = asked(&left, |_| true);
        filled
    }

    fn whose(&self, value: &Value) -> Whose {
        let is_own = match value.sort {
            Sort::Word => self.is_own(value),
            // `checkout-api` is a name, though all services of the tool end so.
            Sort::Name if value.text.contains(['-', '_', '/', '.']) => {
                self.owned(value) == value.keys.len()
            }
            Sort::Name => self.is_own(value),
            _ => false,
        };
        let is_listed = || {
            value
                .keys
                .iter()
                .any(|it| self.listed.binary_search(it).is_ok())
        };
        match is_own {
            false => Whose::Asker,
            true if is_listed() => Whose::Listed,
            true => Whose::Tool,
        }
    }

    /// Whether it wants its numbers one by one, so that it cannot take a formula.
    pub(crate) fn counts(&self) -> bool {
        let wants = |want: Want| self.all.iter().any(|it| it.is_needed && it.want == want);
        wants(Want::Number) && !wants(Want::Query)
    }

    /// How much of what only some tools take this one takes, from -1 to 1; 0 where nothing of the kind is given.
    pub(crate) fn takes(&self, given: &Given) -> f32 {
        let (mut taken, mut all) = (0_u8, 0_u8);
        for value in &given.values {
            let takes = |wants: &[Want]| self.all.iter().any(|it| wants.contains(&it.want));
            let is_taken = match value.sort {
                Sort::Web => {
                    takes(&[Want::Web, Want::File, Want::Picture])
                        || self.all.iter().any(|it| it.is_web)
                }
                Sort::Mail => takes(&[Want::Mail]) || self.all.iter().any(|it| it.is_mail),
                Sort::Picture => takes(&[Want::Picture]),
                Sort::File => takes(&[Want::File]),
                Sort::Language => takes(&[Want::Language]),
                Sort::Currency => takes(&[Want::Currency]),
                Sort::Key => self.shapes.contains(&shape(&value.text)),
                _ => continue,
            };
            all = all.saturating_add(1);
            taken = taken.saturating_add(u8::from(is_taken));
        }
        match all {
            0 => 0.0,
            _ => 2.0 * f32::from(taken) / f32::from(all) - 1.0,
        }
    }
}

/// Of some examples those that are in other languages, and those in Korean; all of them, where too few are.
pub(crate) fn same_language(examples: &[String]) -> [Vec<&str>; 2] {
    let all = || examples.iter().take(EXAMPLES_MAX).map(String::as_str);
    [false, true].map(|is_korean| {
        let same = all().filter(|it| it.chars().any(is_hangul) == is_korean);
        let same: Vec<&str> = same.collect();
        match same.len() >= SAME_LEAST {
            true => same,
            false => all().collect(),
        }
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
pub(crate) fn number(count: usize) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Parameter;

    fn tool(parameters: &[(&str, &str, &str)]) -> Item {
        let parameter = |(name, kind, about): &(&str, &str, &str)| Parameter {
            name: (*name).to_owned(),
            kind: (*kind).to_owned(),
            description: (*about).to_owned(),
            required: true,
            ..Parameter::default()
        };
        Item {
            name: "book_room".to_owned(),
            description: "Books a meeting room. 회의실을 예약합니다.".to_owned(),
            parameters: parameters.iter().map(parameter).collect(),
            ..Item::default()
        }
    }

    fn missing(parameters: &[(&str, &str, &str)], request: &str) -> usize {
        Slots::new(&tool(parameters))
            .fill(&Given::new(request))
            .missing
    }

    #[test]
    fn what_is_not_given_is_missing() {
        let room = [
            ("room", "string", "Name of the room"),
            ("date", "string", "Day"),
            ("start_time", "string", "When it begins"),
        ];
        for (request, expected) in [
            ("Book Hallasan tomorrow at 9:30", 0),
            ("Book Hallasan tomorrow", 1),
            ("Book a meeting room", 3),
            ("백두 회의실 내일 3시에 예약해줘", 0),
            ("회의실 예약해줘", 3),
        ] {
            assert_eq!(missing(&room, request), expected, "{request}");
        }
        let money = [
            ("from_currency", "string", "From"),
            ("to_currency", "string", "To"),
        ];
        assert_eq!(missing(&money, "100 dollars in euros"), 0);
        assert_eq!(missing(&money, "change 700"), 2);
        let way = [
            ("origin", "string", "Start"),
            ("destination", "string", "End"),
        ];
        assert_eq!(missing(&way, "from Pangyo to Suwon"), 0);
        assert_eq!(missing(&way, "how do i get to Suwon station"), 1);
        assert_eq!(missing(&[("width", "integer", "")], "make it 400 wide"), 0);
        assert_eq!(missing(&[("width", "integer", "")], "make it smaller"), 1);
    }

    #[test]
    fn what_follows_from_the_rest_need_not_be_given() {
        let mut item = tool(&[("days", "integer", "How many days")]);
        item.parameters[0].has_default = true;
        assert_eq!(Slots::new(&item).fill(&Given::new("book")).needed, 0);
        let same = [(
            "end_date",
            "string",
            "Last day; the same day for a single one",
        )];
        assert_eq!(missing(&same, "book"), 0);
    }

    #[test]
    fn examples_tell_what_requests_usually_give() {
        let mut item = tool(&[("room", "string", "Name of the room")]);
        assert_eq!(Slots::new(&item).usual, [None; 2]);
        item.examples = vec!["Book Hallasan".to_owned(), "Baekdu 예약해줘".to_owned()];
        let slots = Slots::new(&item);
        let usual = slots.usual[0].unwrap();
        assert_eq!(slots.usual[1], Some(usual));
        item.examples.push("Book Jirisan tomorrow".to_owned());
        item.examples.push("Book Seorak please".to_owned());
        let several = Slots::new(&item);
        let (most, sum) = several.lacks(&Given::new("book the usual thing"));
        assert!(most > 0.9 && sum > 0.9, "{most} {sum}");
        assert!(several.lacks(&Given::new("Book Hallasan")).0 < 0.1);
        assert!(several.usual[0] != several.usual[1]);
        assert!((usual.sure - 1.0).abs() < 1e-6, "{usual:?}");
        assert!(slots.fill(&Given::new("Book Hallasan")).solid() > 0.9);
        assert!(slots.fill(&Given::new("book the usual thing")).solid() < 0.1);
    }

    #[test]
    fn the_words_of_a_tool_are_no_values() {
        let text = [("title", "string", "What it is called")];
        assert_eq!(missing(&text, "book a meeting room"), 1);
        assert_eq!(missing(&text, "book a kickoff"), 0);
    }

    #[test]
    fn a_choice_is_known_by_its_name() {
        let mut item = tool(&[("mode", "string", "How")]);
        item.parameters[0].choices = vec!["car".to_owned(), "half_day".to_owned()];
        let slots = Slots::new(&item);
        let worst = |request: &str| slots.fill(&Given::new(request)).worst;
        assert!(worst("by car") > 0.9 && worst("a half day") > 0.9);
        assert!(worst("by 7") < 0.1);
        // Though the tool speaks of it itself.
        item.description = "Goes by car or half a day.".to_owned();
        let slots = Slots::new(&item);
        assert!(slots.fill(&Given::new("by car")).worst > 0.9);
    }

    #[test]
    fn a_name_of_which_a_part_is_usual_is_still_a_name() {
        let mut item = tool(&[("service", "string", "Which service")]);
        item.examples = ["a-api", "b-api", "c-api"].map(str::to_owned).to_vec();
        let slots = Slots::new(&item);
        assert!(slots.fill(&Given::new("deploy coupon-api")).worst > 0.9);
    }

    #[test]
    fn hours_from_and_to_fill_a_start_and_an_end() {
        let room = [
            ("room", "string", "Name of the room"),
            ("date", "string", "Day"),
            ("start_time", "string", "When it begins"),
            ("end_time", "string", "When it ends"),
        ];
        for request in [
            "Book the Hanra tomorrow from 3 to 4pm",
            "한라 내일 3시부터 4시까지 예약해줘",
            "Hanra on Friday between 2 and 3",
            "book Hanra 10:00-11:30 on Monday",
        ] {
            assert_eq!(missing(&room, request), 0, "{request}");
        }
        assert_eq!(missing(&room, "Book the Hanra tomorrow at 3"), 1);
    }

    #[test]
    fn what_a_tool_lists_may_be_looked_for() {
        let mut item = tool(&[("query", "string", "What to look for")]);
        item.description = "Searches the wiki: policies, onboarding guides.".to_owned();
        let slots = Slots::new(&item);
        let worst = |request: &str| slots.fill(&Given::new(request)).worst;
        assert!(worst("search the wiki for the onboarding guide") > 0.4);
        assert!(worst("search the wiki") < 0.1);
    }

    #[test]
    fn tools_take_what_fits_them() {
        let order = Slots::new(&tool(&[(
            "order_id",
            "string",
            "Order number, e.g. A-10021",
        )]));
        let page = Slots::new(&tool(&[("url", "string", "The address")]));
        let takes = |slots: &Slots, request: &str| slots.takes(&Given::new(request));
        assert!(takes(&order, "where is A-20931") > 0.9 && takes(&page, "where is A-20931") < 0.0);
        assert!(
            takes(&page, "read https://a.example") > 0.9
                && takes(&order, "read https://a.example") < 0.0
        );
        assert!(takes(&order, "hello").abs() < 1e-6);
    }
}
