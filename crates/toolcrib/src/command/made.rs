//! Definitions that are made from what is there already: a function of a Python script, a curl command line.

use super::input::Input;
use crate::cli::Making;
use crate::context::Context;
use crate::out::{Failure, Result};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The definition that a command's flags ask for, as if it had been written by hand.
pub(super) fn definition(context: &Context, given: Option<&str>, making: &Making) -> Result<Input> {
    let mut made = match (given, &making.from_python, &making.from_curl) {
        (Some(given), None, None) => return Input::definition(given),
        (None, Some(file), None) => from_python(context, file, making)?,
        (None, None, Some(line)) => from_curl(line)?,
        _ => {
            return Err(Failure::usage(
                "give one of DEFINITION, --from-python and --from-curl".to_owned(),
            ));
        }
    };
    if let Some(name) = &making.name {
        made["name"] = json!(name);
    }
    if let Some(description) = &making.description {
        made["description"] = json!(description);
    }
    Ok(Input {
        shown: "the definition".to_owned(),
        text: serde_json::to_string_pretty(&made).unwrap_or_default(),
    })
}

fn from_curl(line: &str) -> Result<Value> {
    use kinds::http::curl::Error;
    kinds::http::curl::definition(line).map_err(|error| {
        let failure = Failure::usage(format!("--from-curl: {error}"));
        match error {
            // The shell has taken it apart before we saw it.
            Error::NotCurl | Error::Unclosed(_) | Error::NoUrl => failure
                .hint("quote the whole line: --from-curl 'curl https://api.example.com/v1/items'"),
            _ => failure,
        }
    })
}

/// Reads the function's signature and docstring. The script itself is not run.
fn from_python(context: &Context, file: &Path, making: &Making) -> Result<Value> {
    let place = context.place()?;
    let config = context.config(&place, Vec::new())?;
    let wrong = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", file.display()));
    // Also as the definition names it: from the workspace on.
    let below = place.workspace.join(file);
    let real = file.canonicalize().or_else(|_| below.canonicalize());
    let real = real.map_err(|error| {
        wrong(&error).hint(format!(
            "it is looked for from the current folder, and below {}",
            place.workspace.display()
        ))
    })?;
    let workspace = place
        .workspace
        .canonicalize()
        .map_err(|error| wrong(&error))?;
    let script = real.strip_prefix(&workspace).map_err(|_| {
        wrong(&"it is not in the workspace").hint(format!(
            "scripts of tools live below {}; put it there first",
            workspace.display()
        ))
    })?;
    let interpreter = config.text("python.interpreter");
    let ran = Command::new(interpreter)
        .args(["-I", "-c", kinds::DESCRIBE])
        .arg(&real)
        .arg(making.function.as_deref().unwrap_or_default())
        .output();
    let ran = ran.map_err(|error| {
        wrong(&format_args!("'{interpreter}' cannot be started: {error}"))
            .hint("python.interpreter in toolcrib.toml names the Python to use")
    })?;
    let said: Value = serde_json::from_slice(&ran.stdout)
        .map_err(|_| wrong(&String::from_utf8_lossy(&ran.stderr).trim_end()))?;
    if let Some(error) = said["error"].as_str() {
        return Err(wrong(&error));
    }
    let stem = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut config = json!({"script": script});
    if said["function"] != "execute" {
        config["function"] = said["function"].clone();
    }
    if said["description"] == "" && making.description.is_none() {
        return Err(
            wrong(&"the function has no docstring that says what it does")
                .hint("write one, or give --description: it is how an agent finds the tool"),
        );
    }
    Ok(json!({
        "name": stem,
        "description": said["description"],
        "kind": "python",
        "config": config,
        "input_schema": said["input_schema"],
    }))
}
