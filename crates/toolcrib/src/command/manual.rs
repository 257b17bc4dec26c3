//! `toolcrib completions` and `toolcrib man`: made from the same definition as the help.

use crate::cli::Cli;
use crate::context::Context;
use crate::out::{Failure, Result};
use clap::{Command, CommandFactory};
use serde_json::json;
use std::path::Path;

pub(crate) fn completions(context: &Context, shell: clap_complete::Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "toolcrib", &mut script);
    let script = String::from_utf8_lossy(&script);
    let out = &context.out;
    if out.json {
        out.value(&json!({"shell": shell.to_string(), "script": script}));
    } else {
        out.line(script.trim_end());
    }
}

/// The page of the program, or of the command that these words name.
pub(crate) fn man(context: &Context, words: &[String]) -> Result {
    let program = whole();
    let mut command = &program;
    for word in words {
        let within = command;
        command = within.find_subcommand(word).ok_or_else(|| {
            let known: Vec<&str> = within.get_subcommands().map(Command::get_name).collect();
            Failure::usage(format!("`{}` has no command '{word}'", path_of(within))).hint(
                match known.as_slice() {
                    [] => "it has no commands of its own".to_owned(),
                    known => format!("it has {}", known.join(", ")),
                },
            )
        })?;
    }
    let page = page(command)?;
    let out = &context.out;
    if out.json {
        out.value(&json!({"name": page.name, "text": page.text}));
    } else {
        out.line(page.text.trim_end());
    }
    Ok(())
}

/// Writes the pages of all commands, one file each.
pub(crate) fn man_pages(context: &Context, folder: &Path) -> Result {
    let failed = |error: std::io::Error| {
        Failure::failed(format!("{}: cannot be written: {error}", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut files = Vec::new();
    for page in pages(&whole())? {
        let file = format!("{}.1", page.name);
        std::fs::write(folder.join(&file), page.text).map_err(failed)?;
        files.push(file);
    }
    let out = &context.out;
    if out.json {
        out.value(&json!({"folder": folder, "files": files}));
    } else {
        out.done(format!("{} pages are in {}", files.len(), folder.display()));
    }
    Ok(())
}

struct Page {
    name: String,
    text: String,
}

/// Without the `help` commands, whose pages would say nothing.
fn whole() -> Command {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    program
}

fn pages(command: &Command) -> Result<Vec<Page>> {
    let mut all = vec![page(command)?];
    for inner in command.get_subcommands() {
        all.extend(pages(inner)?);
    }
    Ok(all)
}

fn page(command: &Command) -> Result<Page> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let name = name.to_owned();
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command.clone()).render(&mut text);
    rendered.map_err(|error| Failure::failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(Page { name, text })
}

/// `toolcrib tools add`.
fn path_of(command: &Command) -> String {
    let whole = command.get_bin_name().unwrap_or(command.get_name());
    whole.to_owned()
}
