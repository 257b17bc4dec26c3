//! How much work checking a value against a schema is. A few lines of references can ask for more steps than
//! there are seconds in a life, and a check runs before any deadline: so it is counted first, and bounded.

mod graph;

use crate::schema::Unusable;
use graph::{Graph, Rules};
use serde_json::Value;

/// Steps that one place of a value may take, whatever the value: more and the schema is refused.
const STEPS_IN_PLACE_MAX: u32 = 10_000;
/// Subschemas that lead to each other without going deeper into the value.
const DEPTH_IN_PLACE_MAX: u32 = 128;
/// The same, over all places of a schema: what counting itself may take.
const STEPS_COUNTED_MAX: u32 = 5_000_000;

/// Steps that checking one value may take: a fraction of a second, and enough for the largest body of small items.
pub(crate) const STEPS_MAX: u32 = 5_000_000;
/// Steps that finding out all that is wrong with one value may take; each may leave a message behind.
const STEPS_LISTED_MAX: u32 = 100_000;
/// Subschemas inside each other; each is a call on the stack.
const DEPTH_MAX: u32 = 1_000;

/// Up to so many subschemas, none of them referred to and none that looks again at what others have looked at, the
/// work is that of reading the value so many times at most.
const SUBSCHEMAS_PLAIN: usize = 100;

/// Counts the steps of a check without making it.
#[derive(Debug)]
pub(crate) struct Effort {
    /// None where no value can ask for too much.
    graph: Option<Graph>,
}

impl Effort {
    /// Refuses a schema that asks for too much at a single place of a value.
    pub(crate) fn of(schema: &Value) -> Result<Self, Unusable> {
        let graph = Graph::new(schema).map_err(|reason| Unusable {
            pointer: String::new(),
            reason,
        })?;
        let mut counted = 0;
        for (number, rules) in graph.rules.iter().enumerate() {
            let mut walk = Walk::new(&graph, STEPS_IN_PLACE_MAX, DEPTH_IN_PLACE_MAX);
            walk.visit(number, None, 0);
            counted += walk.steps;
            if walk.exhausted || counted > STEPS_COUNTED_MAX {
                return Err(too_much(rules));
            }
        }
        let once = graph.rules.iter().all(|rules| !rules.looks_again);
        let plain = once && !graph.has_references && graph.rules.len() <= SUBSCHEMAS_PLAIN;
        Ok(Effort {
            graph: (!plain).then_some(graph),
        })
    }

    /// Whether it can be told in good time if the value is valid.
    pub(crate) fn can_check(&self, value: &Value) -> bool {
        self.graph.as_ref().is_none_or(|graph| {
            let mut walk = Walk::new(graph, STEPS_MAX, DEPTH_MAX);
            walk.visit(0, Some(value), 0);
            !walk.exhausted
        })
    }

    /// Whether all that is wrong with the value can be listed in good time: then no cheap rule ends the search early.
    pub(crate) fn can_list(&self, value: &Value) -> bool {
        self.graph.as_ref().is_none_or(|graph| {
            let mut walk = Walk::new(graph, STEPS_LISTED_MAX, DEPTH_MAX);
            walk.ends_early = false;
            walk.visit(0, Some(value), 0);
            !walk.exhausted
        })
    }
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

/// Goes where a validator would go at most: into every branch of every choice.
struct Walk<'g> {
    graph: &'g Graph,
    steps: u32,
    steps_max: u32,
    depth_max: u32,
    /// A value of the wrong type, or without a required member, is not looked into.
    ends_early: bool,
    exhausted: bool,
}

impl<'g> Walk<'g> {
    fn new(graph: &'g Graph, steps_max: u32, depth_max: u32) -> Self {
        Walk {
            graph,
            steps: 0,
            steps_max,
            depth_max,
            ends_early: true,
            exhausted: false,
        }
    }

    fn step(&mut self, depth: u32) -> bool {
        self.steps += 1;
        self.exhausted |= self.steps > self.steps_max || depth > self.depth_max;
        !self.exhausted
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
        for next in rules.here.iter().chain(&rules.references) {
            self.visit(*next, value, depth + 1);
        }
        if let Some(value) = value {
            rules.below(value, |next, part| self.visit(next, Some(part), depth + 1));
        }
        if rules.looks_again {
            self.look_again(rules, value, depth + 1);
        }
    }

    /// `unevaluatedProperties` and `unevaluatedItems` ask each branch anew whether it fits, and what it looked at.
    fn look_again(&mut self, rules: &Rules, value: Option<&Value>, depth: u32) {
        if !self.step(depth) {
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
            rules.below(value, |next, part| self.visit(next, Some(part), depth + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::Schema;
    use serde_json::{Value, json};
    use std::time::{Duration, Instant};

    /// `$defs` that each apply the next one through `link`.
    fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
        let name = |i: usize| format!("n{i}");
        let defs = (0..length).map(|i| {
            let next = json!({"$ref": format!("#/$defs/{}", name(i + 1))});
            (name(i), link(next))
        });
        let last = (name(length), json!({"type": ["object", "null"]}));
        let defs: serde_json::Map<String, Value> = defs.chain([last]).collect();
        json!({"$ref": "#/$defs/n0", "$defs": defs})
    }

    fn nested(depth: usize, innermost: Value) -> Value {
        (0..depth).fold(innermost, |inner, _| json!({"a": inner}))
    }

    fn refusal(schema: &Value) -> String {
        Schema::compile(schema)
            .expect_err("too much work")
            .to_string()
    }

    fn quick<T>(work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let took = start.elapsed();
        assert!(took < Duration::from_secs(5), "took {took:?}");
        result
    }

    #[test]
    fn steps_that_multiply_in_place_are_refused() {
        let doubling = chain(30, |next| json!({"allOf": [next, next]}));
        let why = quick(|| refusal(&doubling));
        assert!(why.contains("10000 steps"), "{why}");
        for keyword in ["anyOf", "oneOf"] {
            refusal(&chain(30, |next| json!({keyword: [next, next]})));
        }
        refusal(&chain(
            30,
            |next| json!({"if": next, "then": next, "not": {"not": next}}),
        ));
        refusal(&chain(
            30,
            |next| json!({"dependentSchemas": {"a": next, "b": next}}),
        ));
        let deeper = json!({"properties": {"a": {"items": doubling["$defs"]["n0"]}}, "$defs": doubling["$defs"]});
        assert!(refusal(&deeper).starts_with("at $.$defs.n0 of the schema: "));
    }

    #[test]
    fn no_way_of_referring_hides_the_steps() {
        let names = |next: &Value| next["$ref"].as_str().unwrap().replace("#/$defs/", "");
        let way = |name: &str, to: fn(&str) -> String, mark: fn(&str) -> Value| {
            let mut schema = chain(30, |next| {
                let next = json!({"$ref": to(&names(&next))});
                json!({"allOf": [next, next]})
            });
            for (name, def) in schema["$defs"].as_object_mut().unwrap() {
                let mark = mark(name);
                let mark = mark.as_object().unwrap().clone();
                def.as_object_mut().unwrap().extend(mark);
            }
            assert!(refusal(&schema).contains("10000 steps"), "{name}");
        };
        way("pointer", |n| format!("#/%24defs/{n}"), |_| json!({}));
        way("anchor", |n| format!("#{n}"), |n| json!({"$anchor": n}));
        way(
            "id",
            |n| format!("urn:{n}"),
            |n| json!({"$id": format!("urn:{n}")}),
        );
        let dynamic = chain(30, |next| {
            let next = json!({"$dynamicRef": next["$ref"]});
            json!({"allOf": [next, next]})
        });
        refusal(&dynamic);
        let mut elsewhere = chain(30, |next| {
            let next = json!({"$ref": format!("#/stuff/{}", names(&next))});
            json!({"allOf": [next, next]})
        });
        elsewhere["stuff"] = elsewhere["$defs"].take();
        elsewhere["$ref"] = json!("#/stuff/n0");
        elsewhere.as_object_mut().unwrap().remove("$defs");
        refusal(&elsewhere);
    }

    #[test]
    fn what_is_looked_at_twice_counts_twice() {
        let nested = (0..30).fold(
            json!({"type": "object"}),
            |inner, _| json!({"allOf": [inner], "unevaluatedProperties": false}),
        );
        quick(|| refusal(&nested));
    }

    #[test]
    fn what_is_looked_at_twice_at_each_depth_ends_the_check() {
        let levels =
            |level: fn(Value) -> Value| (0..40).fold(json!({"type": "null"}), |i, _| level(i));
        let arrays = (0..40).fold(Value::Null, |inner, _| json!([inner]));
        let ways = [
            (
                levels(|inner| json!({"contains": inner, "unevaluatedItems": false})),
                &arrays,
            ),
            (
                levels(|inner| json!({"anyOf": [{"items": inner}], "unevaluatedItems": false})),
                &arrays,
            ),
            (
                levels(
                    |inner| json!({"anyOf": [{"properties": {"a": inner}}], "unevaluatedProperties": false}),
                ),
                &nested(40, Value::Null),
            ),
        ];
        for (schema, value) in ways {
            let schema = Schema::compile(&schema).unwrap();
            let found = quick(|| schema.check(value).unwrap_err());
            assert!(found[0].expected.contains("5000000 steps"), "{}", found[0]);
        }
    }

    #[test]
    fn a_circle_that_never_goes_deeper_is_refused() {
        refusal(&json!({"$ref": "#/$defs/a", "$defs": {
            "a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}));
    }

    #[test]
    fn steps_that_multiply_with_depth_end_the_check() {
        let twice = |next: Value| {
            let down = json!({"properties": {"a": next}});
            json!({"allOf": [down, down]})
        };
        let ever_deeper =
            json!({"$ref": "#/$defs/n", "$defs": {"n": twice(json!({"$ref": "#/$defs/n"}))}});
        for schema in [chain(40, twice), ever_deeper] {
            let schema = Schema::compile(&schema).unwrap();
            assert!(schema.check(&nested(4, json!({}))).is_ok());
            let found = quick(|| schema.check(&nested(40, json!({}))).unwrap_err());
            assert!(found[0].expected.contains("5000000 steps"), "{}", found[0]);
        }
    }

    #[test]
    fn what_is_wrong_is_listed_only_as_far_as_that_is_quick() {
        // The validator remembers what it met when it checks, but not when it lists.
        let schema = json!({"anyOf": [{"$ref": "#/$defs/n"}], "$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}},
            "required": ["b"], "allOf": [{"properties": {"a": {"$ref": "#/$defs/n"}}}]}}});
        let schema = Schema::compile(&schema).unwrap();
        let found = quick(|| schema.check(&nested(60, json!({}))).unwrap_err());
        assert_eq!(found[0].expected, "a value that fits the schema");
    }

    #[test]
    fn ordinary_recursive_schemas_check_deep_values() {
        let tree = json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}});
        let any = json!({"$ref": "#/$defs/any", "$defs": {"any": {"anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": {"$ref": "#/$defs/any"}},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/any"}}]}}});
        let list = json!({"properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}});
        let branch = (0..50).fold(json!({}), |inner, _| json!({"children": [inner, {}]}));
        let wide = json!({"children": vec![json!({"children": [{}, {}]}); 10_000]});
        for (schema, value) in [
            (&tree, &branch),
            (&tree, &wide),
            (&any, &branch),
            (&any, &wide),
        ] {
            assert_eq!(Schema::compile(schema).unwrap().check(value), Ok(()));
        }
        let numbers = json!({"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}});
        let numbers = Schema::compile(&numbers).unwrap();
        assert_eq!(numbers.check(&json!(vec![1; 2_000_000])), Ok(()));
        let list = Schema::compile(&list).unwrap();
        assert_eq!(list.check(&nested(100, Value::Null)), Ok(()));
        let found = list.check(&nested(10, json!(5))).err();
        assert_eq!(found, None, "a number has no properties");
        let tree = Schema::compile(&tree).unwrap();
        let found = tree
            .check(&json!({"children": [{"children": [3]}]}))
            .unwrap_err();
        assert_eq!(
            found[0].to_string(),
            "at $.children[0].children[0]: expected type object, got 3"
        );
    }

    #[test]
    fn large_schemas_compile() {
        // Like what is made from an API's description: each type refers to many others, some by choice.
        let count = 400;
        let to = |i: usize| json!({"$ref": format!("#/$defs/t{}", i % count)});
        let types = (0..count).map(|i| {
            let properties: serde_json::Map<String, Value> =
                (0..8).map(|p| (format!("p{p}"), to(i * 7 + p))).collect();
            let choice = json!({"oneOf": [to(i + 1), {"type": "null"}], "description": "the next"});
            let all = json!([{"type": "object", "required": ["kind"], "properties": properties}]);
            let own =
                json!({"allOf": all, "properties": {"next": choice, "list": {"items": to(i + 3)}}});
            (format!("t{i}"), own)
        });
        let types: serde_json::Map<String, Value> = types.collect();
        let schema = json!({"anyOf": (0..count).map(to).collect::<Vec<_>>(), "$defs": types});
        let schema = quick(|| Schema::compile(&schema).unwrap());
        let value = json!({"kind": 1, "next": {"kind": 2, "list": [{"kind": 3}]}});
        assert_eq!(schema.check(&value), Ok(()));
    }

    #[test]
    fn the_schema_of_schemas_compiles() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$id": "http://json-schema.org/draft-07/schema#",
            "definitions": {
                "schemaArray": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
                "stringArray": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}},
            "type": ["object", "boolean"],
            "properties": {
                "$ref": {"type": "string"},
                "additionalItems": {"$ref": "#"},
                "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/schemaArray"}]},
                "definitions": {"type": "object", "additionalProperties": {"$ref": "#"}},
                "properties": {"type": "object", "additionalProperties": {"$ref": "#"}},
                "dependencies": {"additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/stringArray"}]}},
                "if": {"$ref": "#"},
                "allOf": {"$ref": "#/definitions/schemaArray"},
                "not": {"$ref": "#"}}});
        let compiled = Schema::compile(&schema).unwrap();
        assert_eq!(compiled.check(&schema), Ok(()));
        assert!(
            compiled
                .check(&json!({"properties": {"a": {"not": 5}}}))
                .is_err()
        );
    }
}
