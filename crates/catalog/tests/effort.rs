//! What a schema may ask of a check, and of whoever compiles it: no author can keep the server busy.

use catalog::schema::Schema;
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
    let levels = |level: fn(Value) -> Value| (0..40).fold(json!({"type": "null"}), |i, _| level(i));
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
fn a_reference_leads_where_its_base_says() {
    let base = json!({"$id": "https://example.com/order", "allOf": [{"$ref": "https://example.com/base"}],
        "$defs": {"base": {"$id": "https://example.com/base", "type": "object"}}});
    let relative = json!({"$id": "https://example.com/shop/order", "$ref": "../base",
        "$defs": {"base": {"$id": "../base", "type": "object"}}});
    let anchor = json!({"$id": "urn:order", "$anchor": "a", "allOf": [{"$ref": "urn:base#a"}],
        "$defs": {"base": {"$id": "urn:base", "$defs": {"a": {"$anchor": "a", "type": "object"}}}}});
    let pointer = json!({"$id": "urn:order", "$ref": "urn:base#/$defs/a", "$defs": {
        "a": {"$ref": "urn:order"},
        "base": {"$id": "urn:base", "$defs": {"a": {"type": "object"}}}}});
    for schema in [base, relative, anchor, pointer] {
        let compiled = Schema::compile(&schema).unwrap();
        assert_eq!(compiled.check(&json!({})), Ok(()), "{schema}");
        assert!(compiled.check(&json!(5)).is_err(), "{schema}");
    }
}

#[test]
fn the_known_dialects_can_be_referred_to() {
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
    ] {
        let schema = json!({"$schema": dialect, "$id": "https://example.com/a", "properties": {"schema": {"$ref": dialect}}});
        let schema = Schema::compile(&schema).unwrap();
        let deep = (0..30).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
        assert_eq!(schema.check(&json!({"schema": deep})), Ok(()));
        assert!(schema.check(&json!({"schema": {"type": 5}})).is_err());
    }
    let many = vec![json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}); 300];
    let many = Schema::compile(&json!({"allOf": many})).unwrap();
    let value = json!({"enum": vec![json!({"a": 1}); 100_000]});
    quick(|| many.check(&value).unwrap_err());
}

#[test]
fn large_schemas_of_names_compile_in_good_time() {
    let members = |count: usize, member: &dyn Fn(usize) -> Value| {
        let members = (0..count).map(|i| (format!("m{i}"), member(i)));
        members.collect::<serde_json::Map<String, Value>>()
    };
    let anchors = json!({"$defs": members(30_000, &|i| json!({"$anchor": format!("a{i}")})),
        "properties": members(30_000, &|i| json!({"$ref": format!("#a{i}")}))});
    let ids = json!({"$defs": members(99, &|i| json!({"$id": format!("urn:a{i}")})),
        "properties": members(20_000, &|i| json!({"$ref": format!("urn:a{}", i % 99)}))});
    for schema in [anchors, ids] {
        quick(|| Schema::compile(&schema).unwrap());
    }
}

#[test]
fn ids_that_multiply_what_is_compiled_are_refused() {
    // The validator compiles a part anew for each way of ids that leads to it.
    let part = |layer: usize, side: usize| {
        let next = |side| json!({"$ref": format!("urn:{}-{side}", layer + 1)});
        let id = format!("urn:{layer}-{side}");
        let last = layer == 30;
        let properties = if last {
            json!({})
        } else {
            json!({"a": next(0), "b": next(1)})
        };
        (
            format!("{layer}-{side}"),
            json!({"$id": id, "properties": properties}),
        )
    };
    let parts = (0..31).flat_map(|layer| [part(layer, 0), part(layer, 1)]);
    let parts: serde_json::Map<String, Value> = parts.collect();
    let why = quick(|| refusal(&json!({"$ref": "urn:0-0", "$defs": parts})));
    assert!(why.contains("$id"), "{why}");
    let mutual = |count: usize| {
        let to = |i: usize| (format!("p{i}"), json!({"$ref": format!("urn:{i}")}));
        let parts = (0..count).map(|i| {
            let properties: serde_json::Map<String, Value> = (0..count).map(to).collect();
            (
                i.to_string(),
                json!({"$id": format!("urn:{i}"), "properties": properties}),
            )
        });
        json!({"$ref": "urn:0", "$defs": parts.collect::<serde_json::Map<String, Value>>()})
    };
    quick(|| refusal(&mutual(20)));
    let few = Schema::compile(&mutual(5)).unwrap();
    assert_eq!(few.check(&json!({"p1": {"p2": {}}})), Ok(()));
}

#[test]
fn values_compared_one_after_the_other_count() {
    let objects: Vec<Value> = (0..20_000).map(|i| json!({"a": i})).collect();
    let schema = Schema::compile(&json!({"items": {"enum": objects}})).unwrap();
    assert_eq!(schema.check(&json!([{"a": 0}, {"a": 19_999}])), Ok(()));
    let found = quick(|| {
        schema
            .check(&json!(vec![json!({"a": 19_999}); 20_000]))
            .unwrap_err()
    });
    assert!(found[0].expected.contains("5000000 steps"), "{}", found[0]);
    let names: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
    let schema =
        Schema::compile(&json!({"propertyNames": {"enum": names}, "items": {"enum": names}}))
            .unwrap();
    assert_eq!(schema.check(&json!(names)), Ok(()), "strings are looked up");
    let whole = json!(vec![1; 10_000]);
    let schema = json!({"allOf": vec![json!({"$ref": "#/$defs/c"}); 1_000], "$defs": {"c": {"const": whole}}});
    let found = quick(|| Schema::compile(&schema).unwrap().check(&whole).unwrap_err());
    assert!(found[0].expected.contains("5000000 steps"), "{}", found[0]);
}

#[test]
fn items_that_must_differ_count_with_all_that_is_in_them() {
    let schema = json!({"uniqueItems": true, "items": {"$ref": "#"}});
    let wide = (0..120).fold(json!(vec![1; 100_000]), |inner, _| json!([inner, 0]));
    let found = quick(|| Schema::compile(&schema).unwrap().check(&wide).unwrap_err());
    assert!(found[0].expected.contains("5000000 steps"), "{}", found[0]);
}

#[test]
fn what_ended_the_check_is_told() {
    let schema = Schema::compile(&json!({"properties": {"a": {"$ref": "#"}}})).unwrap();
    let found = schema.check(&nested(2_000, json!({}))).unwrap_err();
    assert!(found[0].expected.contains("1000 "), "{}", found[0]);
    assert!(!found[0].expected.contains("steps"), "{}", found[0]);
}

#[test]
fn what_is_compiled_again_for_many_places_is_refused() {
    let part = |i: usize| json!({"properties": {format!("p{i}"): {"type": "string"}}});
    let parts: Vec<Value> = (0..2_000).map(part).collect();
    let place = |i: usize| {
        (
            i.to_string(),
            json!({"$ref": "#/$defs/parts", "unevaluatedProperties": false}),
        )
    };
    let places = |count| {
        (0..count)
            .map(place)
            .collect::<serde_json::Map<String, Value>>()
    };
    let schema = |count| json!({"properties": places(count), "$defs": {"parts": {"allOf": parts}}});
    let why = quick(|| refusal(&schema(400)));
    assert!(why.contains("compiling it takes"), "{why}");
    quick(|| Schema::compile(&schema(10)).unwrap());
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

fn ends(schema: &Value, value: &Value) {
    let compiled = Schema::compile(schema).expect("a schema of its size is allowed");
    let found = quick(|| compiled.check(value).expect_err("too much work"));
    let expected = &found[0].expected;
    assert!(expected.contains("5000000 steps"), "{schema}: {expected}");
}

#[test]
fn patterns_count_with_their_size_and_the_text() {
    let text = "ab".repeat(100_000);
    for pattern in [
        r"[\s\S]{1,3000}x$",
        r"a[\s\S]{300}x",
        "(a|b)*a(a|b){300}c",
        "^(a|b)*a(a|b){300}c",
        "(?:a?b?a?b?){100}c",
        "^[ab]{0,500}[ab]{0,500}[ab]*c$",
    ] {
        ends(&json!({"pattern": pattern}), &json!(text));
        let names = json!({text.as_str(): 1});
        ends(&json!({"patternProperties": {pattern: {}}}), &names);
        ends(
            &json!({"patternProperties": {pattern: {}}, "additionalProperties": false}),
            &names,
        );
        ends(&json!({"propertyNames": {"pattern": pattern}}), &names);
    }
    let words = json!(vec!["ab".repeat(100); 1_000]);
    ends(&json!({"items": {"pattern": r"a[\s\S]{300}x"}}), &words);
}

#[test]
fn ordinary_patterns_check_long_texts() {
    let mega = |text: &str| text.repeat(1_000_000 / text.len());
    for (pattern, text) in [
        (r"^\p{L}+$", mega("aя漢")),
        ("^[A-Za-z0-9+/]*={0,2}$", mega("Zm9v")),
        (r"^[^@\s]+@[^@\s]+\.[^@\s]+$", mega("ab") + "@example.com"),
        ("^https?://[^ ]+$", "https://".to_owned() + &mega("a")),
        (r"^[\s\S]{1,5000}$", "aя".repeat(2_500)),
        ("^(.{1,10000})$", "a".repeat(10_000)),
        ("^a", mega("a")),
    ] {
        let schema = Schema::compile(&json!({"pattern": pattern})).unwrap();
        assert_eq!(schema.check(&json!(text)), Ok(()), "{pattern}");
    }
    // What begins at the beginning and has an end looks no further than that.
    for pattern in [
        "^[a-z0-9-]{1,64}$",
        "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        r"^\d{4}-\d{2}-\d{2}$",
    ] {
        let schema = Schema::compile(&json!({"pattern": pattern})).unwrap();
        let found = schema.check(&json!(mega("a"))).unwrap_err();
        assert!(found[0].expected.starts_with("pattern "), "{}", found[0]);
    }
}

#[test]
fn monstrous_patterns_are_refused_where_they_stand() {
    let why = refusal(&json!({"properties": {"a": {"pattern": "((a{1,100}){1,100}){1,100}"}}}));
    assert!(why.starts_with("at $.properties.a.pattern "), "{why}");
    assert!(why.contains("too large"), "{why}");
    let why = refusal(&json!({"patternProperties": {r"\p{L}{2000}": {}}}));
    assert!(why.starts_with("at $.patternProperties."), "{why}");
    // The validator writes such a pattern anew for each of them.
    quick(|| refusal(&json!({"pattern": r"\s".repeat(20_000)})));
    let many = (0..1_000).map(|i| json!({"pattern": format!("a{{1,4000}}{i}")}));
    let why = quick(|| refusal(&json!({"anyOf": many.collect::<Vec<_>>()})));
    assert!(why.contains("patterns"), "{why}");
    let same = vec![json!({"pattern": "^a{1,4000}$"}); 1_000];
    quick(|| Schema::compile(&json!({"prefixItems": same})).unwrap());
    for pattern in ["(?<=a)b", r"^\p{L}{1,500}$"] {
        let why = refusal(&json!({"items": {"pattern": pattern}}));
        let told = why.starts_with("at $.items.pattern of ") && why.ends_with("when compiled");
        assert!(told, "{why}");
    }
}

#[test]
fn other_rules_for_texts_count_by_length() {
    let draft_07 = "http://json-schema.org/draft-07/schema#";
    let names: String = (0..100_000).map(|i| format!("(?<a{i}>)")).collect();
    ends(
        &json!({"$schema": draft_07, "format": "regex"}),
        &json!(names),
    );
    ends(
        &json!({"$schema": draft_07, "properties": {"a": {"$ref": draft_07}}}),
        &json!({"a": {"pattern": names}}),
    );
    let mega = json!("a".repeat(1_000_000));
    for rule in [
        json!({"minLength": 1}),
        json!({"contentMediaType": "application/json"}),
        json!({"format": "uri-reference"}),
        json!({"const": mega}),
        json!({"enum": [mega]}),
    ] {
        Schema::compile(&rule).unwrap().check(&mega).err();
        let again = vec![json!({"$ref": "#/$defs/r"}); 4_995];
        ends(
            &json!({"$schema": draft_07, "allOf": again, "$defs": {"r": rule}}),
            &mega,
        );
    }
}
