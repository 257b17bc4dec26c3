//! Whatever comes, there is a turn or an error and never a panic: each value of a good answer is put in the place of each
//! other kind of value, and streams lose and repeat their events.

use crate::bodies::{APIS, events, whole};
use crate::{request, streaming};
use providers::wire::Written;
use providers::{Api, Request, Said};
use serde_json::{Value, json};

/// The places of all values inside.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(object) => object.iter().for_each(|(name, inner)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            places(inner, &format!("{at}/{name}"), all);
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(index, inner)| {
            places(inner, &format!("{at}/{index}"), all);
        }),
        _ => {}
    }
}

fn others() -> [Value; 7] {
    [
        json!(null),
        json!(true),
        json!(-1),
        json!("text"),
        json!([]),
        json!(["text", {}]),
        json!({"type": "text"}),
    ]
}

fn mangled(value: &Value) -> impl Iterator<Item = Value> {
    let mut all = Vec::new();
    places(value, "", &mut all);
    all.into_iter().flat_map(move |place| {
        others().into_iter().map({
            let value = value.clone();
            move |other| {
                let mut value = value.clone();
                *value.pointer_mut(&place).unwrap() = other;
                value
            }
        })
    })
}

/// What was read can be said again, to anybody.
fn say_again(turn: providers::Turn) {
    let mut next = request();
    next.said.push(Said::Model(turn));
    for api in APIS {
        assert!(Written::new(api, &next).body.is_object());
    }
}

#[test]
fn answers_may_be_anything() {
    for api in APIS {
        let written = Written::new(api, &request());
        let mut turns = 0;
        for body in mangled(&whole(api)) {
            if let Ok(turn) = written.read(body.to_string().as_bytes()) {
                turns += 1;
                say_again(turn);
            }
        }
        assert!(turns > 0, "{api:?}");
    }
}

fn feed(written: &Written, lines: &[String]) {
    let mut incoming = written.incoming(1 << 20);
    for line in lines {
        if incoming.take(line.as_bytes(), &mut |_| {}).is_err() {
            return;
        }
    }
    if let Ok(turn) = incoming.finish(&mut |_| {}) {
        say_again(turn);
    }
}

#[test]
fn streams_may_be_anything() {
    for api in APIS {
        let written = Written::new(api, &streaming());
        let events = events(api);
        let events: Vec<String> = events.split_inclusive("\n\n").map(str::to_owned).collect();
        for at in 0..events.len() {
            let mut fewer = events.clone();
            fewer.remove(at);
            feed(&written, &fewer);
            let mut twice = events.clone();
            twice.insert(at, events[at].clone());
            feed(&written, &twice);
            let data = events[at].split_once("data: ").unwrap().1.trim();
            let Ok(value) = serde_json::from_str::<Value>(data) else {
                continue;
            };
            for other in mangled(&value) {
                let mut changed = events.clone();
                changed[at] = format!("data: {other}\n\n");
                feed(&written, &changed);
            }
        }
    }
}

#[test]
fn schemas_may_be_anything() {
    let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"x": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}}, "required": ["x"]}}, "oneOf": [{"properties": {}}]});
    for schema in mangled(&schema) {
        let mut asked = Request {
            output_schema: Some(schema.clone()),
            ..request()
        };
        asked.tools[0].input_schema = schema;
        for api in APIS {
            let body = Written::new(api, &asked).body;
            let place = match api {
                Api::Messages => "/tools/0/input_schema/type",
                Api::Chat | Api::Zhipu => "/tools/0/function/parameters/type",
                Api::Responses => "/tools/0/parameters/type",
            };
            assert_eq!(body.pointer(place), Some(&json!("object")), "{body}");
        }
    }
}
