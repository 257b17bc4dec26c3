//! Whether Python can read the scripts of tools. Only their syntax is looked at; nothing of them runs.

use super::findings::Findings;
use super::tools::text;
use crate::context::Context;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

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

const PATIENCE: Duration = Duration::from_secs(10);

/// What a program prints, unless it cannot be started or takes too long, which ends it.
fn output(mut command: Command) -> Option<Vec<u8>> {
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let child = command.stdout(Stdio::piped()).spawn().ok()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw)?;
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match ended.recv_timeout(PATIENCE) {
        Ok(output) => Some(output.ok()?.stdout),
        Err(_) => {
            let _ = kill_process(pid, Signal::KILL);
            None
        }
    }
}

/// Tools in Python, where there is no Python that runs.
pub(super) fn interpreter(findings: &mut Findings, context: &Context, tools: &[Value]) {
    let is_python = |tool: &&Value| text(tool, "kind") == "python" && tool["is_active"] != false;
    let names: Vec<&str> = tools
        .iter()
        .filter(is_python)
        .map(|it| text(it, "name"))
        .collect();
    let place = context.place().ok();
    let Some(place) = place.filter(|_| context.server_url().is_none() && !names.is_empty()) else {
        return;
    };
    let Ok(config) = context.config(&place, Vec::new()) else {
        return;
    };
    let program = config.text("python.interpreter");
    let mut command = Command::new(program);
    command.args(["-I", "-c", "print('runs')"]);
    if output(command).is_some_and(|said| said.starts_with(b"runs")) {
        return findings.good("python", format!("{program} runs"));
    }
    findings.warning(
        "python.missing",
        format!(
            "'{program}' does not run here, and {} tools are in Python, such as '{}'",
            names.len(),
            names[0]
        ),
        "install Python 3, or name one with python.interpreter",
    );
}

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
    let mut command = Command::new(config.text("python.interpreter"));
    command.args(["-I", "-c", READ]).args(&scripts);
    // Where there is no Python at all, that is told by itself.
    let said = output(command).unwrap_or_default();
    let said: Value = serde_json::from_slice(&said).unwrap_or_default();
    let fault = |tool: &Value| {
        let path = script(tool)?;
        let why = said[path.to_str()?].as_str()?;
        let shown = text(&tool["config"], "script");
        let name = text(tool, "name").to_owned();
        Some((name, format!("Python cannot read {shown}: {why}")))
    };
    tools.iter().filter_map(fault).collect()
}
