//! Reading a toolset from what an author wrote, with everything that is wrong with it.

use super::{CALL_TOOL, FIND_TOOLS, Pick, ToolsetDefinition};
use crate::auth::Reference;
use crate::definition::DESCRIPTION_BYTES_MAX;
use crate::glob;
use crate::json::{Member, Node, NodeKind, Reader, path_of_key, present, read_body, to_map};
use crate::names::Names;
use crate::problem::Problem;
use crate::schema::Violation;
use crate::tool::is_valid_name;
use serde_json::{Map, Value};
use std::collections::HashMap;
use uuid::Uuid;

const INSTRUCTIONS_BYTES_MAX: usize = 64 * 1024;
const SERVER_NAME_BYTES_MAX: usize = 200;
const TOOLS_MAX: usize = 1_000;
const PATTERNS_MAX: usize = 1_000;

/// What an author may write, in the order in which it is written out.
pub const TOOLSET_FIELDS: [&str; 10] = [
    "name",
    "description",
    "tools",
    "allow",
    "deny",
    "instructions",
    "server_name",
    "find_tools",
    "names",
    "is_public",
];

/// What is shown of a toolset besides, and may be sent back with it.
const SHOWN: [&str; 4] = ["missing", "troubles", "fitting", "fits_nothing"];

const PICK_FIELDS: [&str; 4] = ["tool", "name", "description", "arguments"];

const NAME: &str = "1 to 64 characters out of A-Z a-z 0-9 _ . -";

/// Reads one toolset, with everything that is wrong with it.
pub fn toolset_from_text(text: &str) -> Result<ToolsetDefinition, Vec<Problem>> {
    checked_toolset_from_text(text, |_| Vec::new())
}

/// The same where somebody knows the tools: `check` says what is wrong with the arguments that are set for one.
pub fn checked_toolset_from_text(
    text: &str,
    check: impl Fn(&Pick) -> Vec<Violation>,
) -> Result<ToolsetDefinition, Vec<Problem>> {
    read_body(text, &TOOLSET_FIELDS, &SHOWN, |r, at, members| {
        toolset(r, at, members, &check)
    })
}

type Check<'a> = &'a dyn Fn(&Pick) -> Vec<Violation>;

fn toolset(
    r: &mut Reader<'_>,
    at: usize,
    members: &[Member],
    check: Check<'_>,
) -> Option<ToolsetDefinition> {
    let given = |key: &str| present(members, key);
    let name = match given("name") {
        Some(m) => named(r, m, "$"),
        None => {
            r.report(at, "$.name", "\"name\"", "nothing", "Add \"name\": \"…\".");
            None
        }
    };
    let find_tools = given("find_tools").is_some_and(|m| r.boolean(m, "$").unwrap_or(false));
    let tools = given("tools").map_or_else(Vec::new, |m| picks(r, m, find_tools, check));
    let allow = given("allow").map(|m| patterns(r, m));
    let deny = given("deny").map_or_else(Vec::new, |m| patterns(r, m));
    let description = given("description").and_then(|m| long(r, m, "$", DESCRIPTION_BYTES_MAX));
    let told = given("instructions").and_then(|m| long(r, m, "$", INSTRUCTIONS_BYTES_MAX));
    let server_name = given("server_name").and_then(|m| server_name(r, m));
    let names = given("names").and_then(|m| naming(r, m));
    let is_public = given("is_public").is_some_and(|m| r.boolean(m, "$").unwrap_or(false));
    Some(ToolsetDefinition {
        name: name?,
        description,
        tools,
        allow,
        deny,
        instructions: told,
        server_name,
        find_tools,
        names,
        is_public,
    })
}

fn named(r: &mut Reader<'_>, m: &Member, path: &str) -> Option<String> {
    let name = r.text(m, path)?;
    if is_valid_name(name) {
        return Some(name.to_owned());
    }
    r.wrong(m, path, NAME, "Write a name such as \"docs-search\".");
    None
}

fn server_name(r: &mut Reader<'_>, m: &Member) -> Option<String> {
    let name = long(r, m, "$", SERVER_NAME_BYTES_MAX)?;
    if !name.trim().is_empty() && !name.contains(char::is_control) {
        return Some(name);
    }
    let remedy = "Write what clients shall show, or leave it out.";
    r.wrong(m, "$", "a name on one line", remedy);
    None
}

fn naming(r: &mut Reader<'_>, m: &Member) -> Option<Names> {
    let found = r.text(m, "$").map(Names::from_name)?;
    if found.is_none() {
        let expected = format!("one of {}", Names::NAMES.join(", "));
        let remedy = "Write \"plain\" for clients that take no dots in names, else leave it out.";
        r.wrong(m, "$", &expected, remedy);
    }
    found
}

fn long(r: &mut Reader<'_>, m: &Member, path: &str, bytes_max: usize) -> Option<String> {
    let text = r.string(m, path)?;
    if text.len() > bytes_max || text.contains('\0') {
        let expected = format!("text of at most {bytes_max} bytes without U+0000");
        r.wrong(m, path, &expected, "Shorten it.");
        return None;
    }
    Some(text.to_owned())
}

fn patterns(r: &mut Reader<'_>, m: &Member) -> Vec<String> {
    let items = r.array(m, "$", "patterns").unwrap_or_default();
    if items.len() > PATTERNS_MAX {
        let expected = format!("at most {PATTERNS_MAX} patterns");
        r.wrong(m, "$", &expected, "Let one pattern stand for several.");
    }
    let mut patterns = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        match item.as_str().filter(|pattern| glob::is_valid(pattern)) {
            Some(pattern) => patterns.push(pattern.to_owned()),
            None => r.report(
                item.span.start,
                format!("$.{}[{i}]", m.key),
                "a pattern of letters, digits, _ . - * and ?",
                item.describe(),
                "Write a name of a tool, or a pattern such as \"calc*\".",
            ),
        }
    }
    patterns
}

fn picks(r: &mut Reader<'_>, m: &Member, find_tools: bool, check: Check<'_>) -> Vec<Pick> {
    let items = r.array(m, "$", "tools").unwrap_or_default();
    if items.len() > TOOLS_MAX {
        let expected = format!("at most {TOOLS_MAX} tools");
        r.wrong(m, "$", &expected, "Take in several with \"allow\".");
        return Vec::new();
    }
    let mut picks = Vec::with_capacity(items.len());
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (i, item) in items.iter().enumerate() {
        let path = format!("$.tools[{i}]");
        let Some(pick) = pick(r, item, &path) else {
            continue;
        };
        misfits(r, item, &path, check(&pick));
        let name = pick.name.as_ref().unwrap_or(&pick.tool);
        if let Some(first) = seen.insert(name.clone(), i) {
            let expected = "each name once";
            let found = format!("\"{name}\" again (first in tools[{first}])");
            let remedy = "Give one of the two another \"name\".";
            r.report(item.span.start, path.clone(), expected, found, remedy);
        }
        if find_tools && [FIND_TOOLS, CALL_TOOL].contains(&name.as_str()) {
            let expected = format!("a name other than {FIND_TOOLS} and {CALL_TOOL}");
            let remedy =
                "Give it another \"name\": with \"find_tools\" these two find and call the others.";
            r.report(item.span.start, path, expected, item.describe(), remedy);
        }
        picks.push(pick);
    }
    picks
}

fn pick(r: &mut Reader<'_>, item: &Node, path: &str) -> Option<Pick> {
    let members = match &item.kind {
        NodeKind::String(tool) => {
            return is_tool(r, item, path, tool).then(|| Pick {
                tool: tool.clone(),
                ..Pick::default()
            });
        }
        NodeKind::Object(members) => members,
        _ => {
            let expected = "the name or id of a tool, or an object with \"tool\"";
            let remedy = "Write \"calculator\", or {\"tool\": \"calculator\", \"name\": \"sum\"}.";
            r.report(item.span.start, path, expected, item.describe(), remedy);
            return None;
        }
    };
    r.unknown_keys(members, path, &PICK_FIELDS);
    let tool = match present(members, "tool") {
        Some(m) => {
            let text = r.text(m, path);
            let at = path_of_key(path, "tool");
            text.filter(|text| is_tool(r, &m.value, &at, text))
        }
        None => {
            let at = path_of_key(path, "tool");
            let remedy = "Add \"tool\": the name or id of a tool.";
            r.report(item.span.start, at, "\"tool\"", "nothing", remedy);
            None
        }
    };
    let name = present(members, "name").and_then(|m| named(r, m, path));
    let description =
        present(members, "description").and_then(|m| long(r, m, path, DESCRIPTION_BYTES_MAX));
    let arguments = present(members, "arguments").map_or_else(Map::new, |m| pinned(r, m, path));
    Some(Pick {
        tool: tool?.to_owned(),
        name,
        description,
        arguments,
    })
}

fn is_tool(r: &mut Reader<'_>, node: &Node, path: &str, text: &str) -> bool {
    let fine = is_valid_name(text) || Uuid::parse_str(text).is_ok();
    if !fine {
        let expected = format!("the name of a tool ({NAME}) or its id");
        let remedy = "Write the tool as it is called in the list of tools.";
        r.report(node.span.start, path, expected, node.describe(), remedy);
    }
    fine
}

fn pinned(r: &mut Reader<'_>, m: &Member, path: &str) -> Map<String, Value> {
    let members = r.object(m, path).unwrap_or_default();
    let at = path_of_key(path, &m.key);
    for argument in members {
        if Reference::of(&argument.value.to_value()).is_some() {
            let remedy = "Let the tool's own definition refer to the secret: what stands here is shown to whoever sees the toolset.";
            r.wrong(argument, &at, "a plain value", remedy);
        }
    }
    to_map(members)
}

/// At the argument where it stands, else at all of them.
fn misfits(r: &mut Reader<'_>, item: &Node, path: &str, found: Vec<Violation>) {
    let members = match &item.kind {
        NodeKind::Object(members) => present(members, "arguments"),
        _ => None,
    };
    let Some(arguments) = members else { return };
    let at = path_of_key(path, &arguments.key);
    for Violation {
        path,
        expected,
        got,
    } in found
    {
        let inner = path.strip_prefix('$').unwrap_or(&path);
        let own = match &arguments.value.kind {
            NodeKind::Object(all) => all.iter().find(|it| path_of_key("$", &it.key) == path),
            _ => None,
        };
        let start = own.unwrap_or(arguments).value.span.start;
        let remedy = "Set what the tool's input_schema takes: `toolcrib tools show` has it.";
        r.report(start, format!("{at}{inner}"), expected, got, remedy);
    }
}
