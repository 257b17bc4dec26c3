//! The pages of a list: where each begins and ends, and for tools their text, which is made once and shared.

use crate::context::{Params, invalid};
use crate::result::Done;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use mcp::wire::RpcError;
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;

/// Many clients never ask for a second page, so the first is long.
const PAGE: usize = 1_000;

#[derive(Debug)]
pub(super) struct Tools {
    /// Page by page, each as it stands behind the opening bracket of `tools`, and closed.
    text: Bytes,
    /// Each tool's name, and where it ends in the text.
    ends: Vec<(Arc<str>, usize)>,
}

/// Behind the tools of a page: the end of the list, of the result and of the message.
const CLOSED: &str = "]}}";

impl Tools {
    pub(super) fn of(all: impl IntoIterator<Item = Value>) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for tool in all {
            if !ends.is_empty() {
                text.push_str(between(ends.len()));
            }
            text.push_str(&tool.to_string());
            let name = tool["name"].as_str().unwrap_or_default();
            ends.push((name.into(), text.len()));
        }
        text.push_str(CLOSED);
        text.shrink_to_fit();
        let text = text.into();
        Tools { text, ends }
    }

    pub(super) fn page(&self, after: Option<&str>) -> Done {
        let (Range { start, end }, next) = page(&self.ends, |(name, _)| name, after);
        let end_of = |count: usize| match count {
            0 => 0,
            _ => self.ends[count - 1].1,
        };
        let from = match start {
            // There are none, or none behind the last.
            0 => 0,
            all if all == self.ends.len() => end_of(all),
            _ => end_of(start) + between(start).len(),
        };
        let tools = self.text.slice(from..end_of(end) + CLOSED.len());
        let next = next.map(|next| format!(r#""nextCursor":"{next}""#));
        Done {
            last: Some((r#""tools":["#, tools)),
            ..Done::of(next.unwrap_or_default())
        }
    }
}

/// What stands behind so many tools, where more follow.
fn between(count: usize) -> &'static str {
    match count % PAGE {
        0 => CLOSED,
        _ => ",",
    }
}

/// The page after the item of this name, and where to go on. From the start again where that item is gone from a list
/// with an order of its own.
pub(crate) fn page<T>(
    all: &[T],
    name: impl Fn(&T) -> &str,
    after: Option<&str>,
) -> (Range<usize>, Option<String>) {
    let first = after.map_or(0, |after| {
        let place = all.iter().position(|it| name(it) == after);
        match place {
            Some(place) => place + 1,
            None if all.is_sorted_by(|a, b| name(a) <= name(b)) => {
                all.partition_point(|it| name(it) <= after)
            }
            None => 0,
        }
    });
    // Pages begin where they begin for everybody, so one after an item in the middle is shorter.
    let last = (first - first % PAGE + PAGE).min(all.len());
    let is_more = last < all.len();
    let next = is_more.then(|| URL_SAFE_NO_PAD.encode(name(&all[last - 1])));
    (first..last, next)
}

/// Where to go on, as we have said before.
pub(crate) fn cursor(params: &Params) -> Result<Option<String>, RpcError> {
    let Some(cursor) = params.get("cursor").filter(|it| !it.is_null()) else {
        return Ok(None);
    };
    let bytes = cursor
        .as_str()
        .and_then(|it| URL_SAFE_NO_PAD.decode(it).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map(Some)
        .ok_or_else(|| invalid("params.cursor is none that this server has given"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp::wire::Era;
    use serde_json::json;

    #[test]
    fn pages_hold_everything_once() {
        let all: Vec<String> = (0..2 * PAGE + 1).rev().map(|n| format!("{n:05}")).collect();
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let (range, next) = page(&all, |it| it, after.as_deref());
            seen.extend_from_slice(&all[range]);
            let Some(next) = next else { break };
            let mut params = Params::default();
            params.set("cursor", next.into());
            after = cursor(&params).unwrap();
        }
        assert_eq!(seen, all);
        let (gone, _) = page(&all, |it| it, Some("x"));
        assert_eq!(gone, 0..PAGE);
        let (rest, _) = page(&all, |it| it, Some(&all[PAGE + 9]));
        assert_eq!(rest, PAGE + 10..2 * PAGE);
    }

    #[test]
    fn the_text_of_a_page_holds_its_tools() {
        for count in [0, 1, 2, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE] {
            let names: Vec<String> = (0..count).map(|n| format!("{n:05}")).collect();
            let tools = Tools::of(names.iter().map(|name| json!({"name": name})));
            let befores = [0, 1, PAGE - 1, PAGE, PAGE + 1, count];
            for before in befores.into_iter().filter(|before| *before <= count) {
                let after = before.checked_sub(1).map(|last| &*names[last]);
                let text = tools.page(after).text(Era::Modern).into_string();
                let read: Value = serde_json::from_str(&text).unwrap();
                let read = read["tools"].as_array().unwrap();
                let read: Vec<&str> = read.iter().filter_map(|it| it["name"].as_str()).collect();
                let last = (before - before % PAGE + PAGE).min(count);
                assert_eq!(read, names[before..last], "{count} tools after {before}");
            }
        }
    }
}
