//! Through which Toolcribs what an upstream lists has come. Of two that are each other's upstream, each would list what the
//! other has from it, and the other that, without end: what has passed through us is left out.

use crate::wire::META_PASSED;
use serde_json::{Value, json};

/// Through how many something may come.
const PASSED_MAX: usize = 8;

/// Notes in each item that it has come through this server, where that is a Toolcrib, and drops what has come through us
/// or too many.
pub(super) fn note(mut items: Vec<Value>, server: Option<&str>, ours: Option<&str>) -> Vec<Value> {
    let Some(server) = server else { return items };
    items.retain_mut(|item| {
        let Some(members) = item.as_object_mut() else {
            return true;
        };
        let meta = members.entry("_meta").or_insert_with(|| json!({}));
        if !meta.is_object() {
            *meta = json!({});
        }
        let before = meta.get(META_PASSED).and_then(Value::as_array);
        let mut passed = before.cloned().unwrap_or_default();
        passed.push(server.into());
        let is_back = ours.is_some_and(|ours| passed.iter().any(|node| node == ours));
        if is_back || passed.len() > PASSED_MAX {
            return false;
        }
        meta[META_PASSED] = passed.into();
        true
    });
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_is_left_out() {
        let came = |name: &str, passed: &[&str]| json!({"name": name, "_meta": {META_PASSED: passed, "a": 1}});
        let all = vec![
            json!({"name": "plain"}),
            came("far", &["e"]),
            came("back", &["c", "e"]),
        ];
        // Who is no Toolcrib says nothing of itself, and its items stay as they are.
        assert_eq!(note(all.clone(), None, Some("c")), all);
        let noted = note(all, Some("d"), Some("c"));
        let expected =
            json!([{"name": "plain", "_meta": {META_PASSED: ["d"]}}, came("far", &["e", "d"])]);
        assert_eq!(json!(noted), expected);
        // Whatever else it may hold: a Toolcrib that lists it next finds a list.
        for odd in [json!(5), json!({META_PASSED: "c"})] {
            let noted = note(
                vec![json!({"name": "odd", "_meta": odd})],
                Some("d"),
                Some("c"),
            );
            assert_eq!(noted[0]["_meta"], json!({META_PASSED: ["d"]}));
        }
    }

    #[test]
    fn what_has_come_too_far_is_left_out() {
        let mut items = vec![json!({"name": "far"})];
        for node in 0..PASSED_MAX {
            items = note(items, Some(&node.to_string()), Some("ours"));
            assert_eq!(items.len(), 1);
        }
        assert!(note(items, Some("more"), None).is_empty());
    }
}
