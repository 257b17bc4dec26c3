//! How much work checking a value against a schema is. A few lines of references can ask for more steps than
//! there are seconds in a life, and a check runs before any deadline: so it is counted first, and bounded.

use crate::graph::{Graph, Rules, size};
use crate::schema::Unusable;
use serde_json::Value;
use std::sync::Arc;

/// Steps that one place of a value may take, whatever the value: more and the schema is refused.
const STEPS_IN_PLACE_MAX: u32 = 10_000;
/// Subschemas that lead to each other without going deeper into the value.
const DEPTH_IN_PLACE_MAX: u32 = 128;
/// The same, over all places of a schema: what counting itself may take.
const STEPS_COUNTED_MAX: u32 = 5_000_000;
/// Where a schema looks again, all that it looks at is compiled once more for it: as much work as counting so often.
const COMPILED_AGAIN: u32 = 10;

/// Steps that checking one value may take: a fraction of a second, and enough for the largest body of small items.
pub(crate) const STEPS_MAX: u32 = 5_000_000;
/// Steps that finding out all that is wrong with one value may take; each may leave a message behind.
const STEPS_LISTED_MAX: u32 = 100_000;
/// Subschemas inside each other; each is a call on the stack.
pub(crate) const DEPTH_MAX: u32 = 1_000;

/// Up to so many subschemas and values to compare with, none of them referred to and none that looks again at what
/// others have looked at or does more with a text than read it, the work is that of reading the value so many times at most.
const SUBSCHEMAS_PLAIN: u32 = 100;

/// What makes a value too much work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooMuch {
    Steps,
    Depth,
}

/// Counts the steps of a check without making it.
#[derive(Debug)]
pub(crate) struct Effort {
    /// None where no value can ask for too much.
    graph: Option<Arc<Graph>>,
}

impl Effort {
    /// Refuses a schema that asks for too much at a single place of a value.
    pub(crate) fn of(graph: &Arc<Graph>) -> Result<Self, Unusable> {
        let mut counted = 0;
        for (number, rules) in graph.rules.iter().enumerate() {
            let mut walk = Walk::new(graph, STEPS_IN_PLACE_MAX, DEPTH_IN_PLACE_MAX);
            walk.visit(number, None, 0);
            if walk.ended.is_some() {
                return Err(too_much(rules));
            }
            let again = if rules.looks_again { COMPILED_AGAIN } else { 1 };
            counted += walk.steps * again;
            if counted > STEPS_COUNTED_MAX {
                return Err(too_much_in_all());
            }
        }
        let is_plain = is_plain(graph);
        Ok(Effort {
            graph: (!is_plain).then(|| Arc::clone(graph)),
        })
    }

    /// Whether it can be told in good time if the value is valid.
    pub(crate) fn check(&self, value: &Value) -> Result<(), TooMuch> {
        let Some(graph) = &self.graph else {
            return Ok(());
        };
        let mut walk = Walk::new(graph, STEPS_MAX, DEPTH_MAX);
        walk.visit(0, Some(value), 0);
        walk.ended.map_or(Ok(()), Err)
    }

    /// Whether all that is wrong with the value can be listed in good time: then no cheap rule ends the search early.
    pub(crate) fn can_list(&self, value: &Value) -> bool {
        self.graph.as_ref().is_none_or(|graph| {
            let mut walk = Walk::new(graph, STEPS_LISTED_MAX, DEPTH_MAX);
            walk.ends_early = false;
            walk.visit(0, Some(value), 0);
            walk.ended.is_none()
        })
    }
}

fn is_plain(graph: &Graph) -> bool {
    let steps = |rules: &Rules| rules.compared.steps_max().saturating_add(1);
    let steps = graph.rules.iter().map(steps).fold(0, u32::saturating_add);
    let looks_again = graph.rules.iter().any(|rules| rules.looks_again);
    let reads_more = graph.rules.iter().any(|rules| !rules.texts.are_plain());
    steps <= SUBSCHEMAS_PLAIN && !reads_more && !looks_again && !graph.has_references
}

fn too_much(rules: &Rules) -> Unusable {
    Unusable {
        pointer: rules.place.clone(),
        reason: format!(
            "checking a single value here takes more than {STEPS_IN_PLACE_MAX} steps: $ref, allOf, anyOf, oneOf and \
             their like lead to each other so often that the steps multiply, or in a circle that never goes deeper \
             into the value"
        ),
    }
}

fn too_much_in_all() -> Unusable {
    Unusable {
        pointer: String::new(),
        reason: format!(
            "compiling it takes more than {STEPS_COUNTED_MAX} steps: too many of its parts lead to too many others \
             through $ref, allOf, anyOf, oneOf and their like; beside unevaluatedProperties or unevaluatedItems each \
             counts {COMPILED_AGAIN} times"
        ),
    }
}

/// Goes where a validator would go at most: into every branch of every choice.
struct Walk<'g> {
    graph: &'g Graph,
    steps: u32,
    steps_max: u32,
    /// Steps that only read texts: they leave no messages behind, and so have the whole check to be counted in.
    reading: u32,
    depth_max: u32,
    /// A value of the wrong type, or without a required member, is not looked into.
    ends_early: bool,
    ended: Option<TooMuch>,
}

impl<'g> Walk<'g> {
    fn new(graph: &'g Graph, steps_max: u32, depth_max: u32) -> Self {
        Walk {
            graph,
            steps: 0,
            steps_max,
            reading: 0,
            depth_max,
            ends_early: true,
            ended: None,
        }
    }

    /// Whether the walk may go on after so many steps.
    fn take(&mut self, steps: u32) -> bool {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.steps_max || self.steps.saturating_add(self.reading) > STEPS_MAX {
            self.ended.get_or_insert(TooMuch::Steps);
        }
        self.ended.is_none()
    }

    /// Whether the walk may go on after so many steps of reading texts.
    fn read(&mut self, steps: u32) -> bool {
        self.reading = self.reading.saturating_add(steps);
        self.take(0)
    }

    fn step(&mut self, depth: u32) -> bool {
        if depth > self.depth_max {
            self.ended.get_or_insert(TooMuch::Depth);
        }
        self.take(1)
    }

    /// Applies the rules to the value, or without one only counts what any value would cost.
    fn visit(&mut self, rules: usize, value: Option<&Value>, depth: u32) {
        if !self.step(depth) {
            return;
        }
        let rules = &self.graph.rules[rules];
        if self.ends_early && value.is_some_and(|value| !rules.may_fit(value)) {
            return;
        }
        if !self.take(value.map_or(rules.steps, |value| whole(rules, value))) {
            return;
        }
        let texts = &rules.texts;
        if !self.read(value.map_or(0, |v| texts.steps(v) + texts.steps_of_names(v))) {
            return;
        }
        for next in rules.here.iter().chain(&rules.references) {
            self.visit(*next, value, depth + 1);
        }
        if let Some(value) = value {
            self.below(rules, value, depth + 1);
        }
        if rules.looks_again {
            self.look_again(rules, value, depth + 1);
        }
    }

    /// Applies the rules to the parts of the value one step down.
    fn below(&mut self, rules: &Rules, value: &Value, depth: u32) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    for next in &rules.names {
                        self.visit(*next, Some(&Value::from(name.as_str())), depth);
                    }
                    for next in rules.of_member(name) {
                        self.visit(next, Some(member), depth);
                    }
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    for next in rules.of_item(i) {
                        self.visit(next, Some(item), depth);
                    }
                }
            }
            _ => {}
        }
    }

    /// `unevaluatedProperties` and `unevaluatedItems` ask each branch anew whether it fits, and what it looked at.
    fn look_again(&mut self, rules: &Rules, value: Option<&Value>, depth: u32) {
        if !self.step(depth) {
            return;
        }
        if !self.read(value.map_or(0, |value| rules.texts.steps_of_names(value))) {
            return;
        }
        let graph = self.graph;
        for next in &rules.here {
            self.visit(*next, value, depth + 1);
            self.look_again(&graph.rules[*next], value, depth + 1);
        }
        for next in &rules.references {
            self.look_again(&graph.rules[*next], value, depth + 1);
        }
        if let (true, Some(value)) = (rules.looks_again, value) {
            self.below(rules, value, depth + 1);
        }
    }
}

/// The steps of rules that concern the value with all that is in it.
fn whole(rules: &Rules, value: &Value) -> u32 {
    let unique = if rules.asks_for_unique && value.is_array() {
        size(value)
    } else {
        0
    };
    let compared = rules.compared.steps(value);
    rules.steps.saturating_add(compared).saturating_add(unique)
}
