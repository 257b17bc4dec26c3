//! Whether Python can read the scripts of tools. Only their syntax is looked at; nothing of them runs.

use super::tools::text;
use crate::context::Context;
use serde_json::Value;
use std::process::Command;

/// Tells of each script that is given, as one JSON document, what is wrong with it.
const READ: &str = "\
import ast, json, sys
faults = {}
for name in sys.argv[1:]:
    try:
        with open(name, 'rb') as file:
            ast.parse(file.read(), name)
    except SyntaxError as error:
        faults[name] = f'line {error.lineno}: {error.msg}'
    except (OSError, ValueError) as error:
        faults[name] = str(error)
print(json.dumps(faults))
";

/// The tools whose scripts Python cannot read, with the reason. Scripts that are not there are told of elsewhere; those
/// of a server on another machine are not seen.
pub(super) fn faults(context: &Context, tools: &[Value]) -> Vec<(String, String)> {
    let Some(place) = context
        .place()
        .ok()
        .filter(|_| context.server_url().is_none())
    else {
        return Vec::new();
    };
    let Ok(config) = context.config(&place, Vec::new()) else {
        return Vec::new();
    };
    let script = |tool: &Value| {
        let script = text(&tool["config"], "script");
        let is_python = text(tool, "kind") == "python" && tool["is_active"] != false;
        let path = place.workspace.join(script);
        (is_python && !script.is_empty() && path.is_file()).then_some(path)
    };
    let mut scripts: Vec<_> = tools.iter().filter_map(script).collect();
    scripts.sort();
    scripts.dedup();
    if scripts.is_empty() {
        return Vec::new();
    }
    let ran = Command::new(config.text("python.interpreter"))
        .args(["-I", "-c", READ])
        .args(&scripts)
        .output();
    // Where there is no Python at all, a call says so.
    let Ok(said) = ran.map(|ran| serde_json::from_slice::<Value>(&ran.stdout)) else {
        return Vec::new();
    };
    let said = said.unwrap_or_default();
    let fault = |tool: &Value| {
        let path = script(tool)?;
        let why = said[path.to_str()?].as_str()?;
        let shown = text(&tool["config"], "script");
        let name = text(tool, "name").to_owned();
        Some((name, format!("Python cannot read {shown}: {why}")))
    };
    tools.iter().filter_map(fault).collect()
}
