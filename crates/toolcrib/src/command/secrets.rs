//! `toolcrib secrets`: named secrets and the care of everything that is sealed. No command prints a value.

use super::tools::{text, whole};
use crate::cli::Secrets;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Result};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde_json::{Value, json};
use std::io::{IsTerminal, Read, stdin};

const PATH: &str = "/api/v1/secrets";

pub(crate) async fn run(context: &Context, command: Secrets) -> Result {
    match command {
        Secrets::List => list(context).await,
        Secrets::Set { name, value } => set(context, &name, value.as_deref()).await,
        Secrets::Remove { name, force } => remove(context, PATH, &name, force).await,
        Secrets::Rotate => rotate(context).await,
        Secrets::Verify => verify(context).await,
    }
}

async fn list(context: &Context) -> Result {
    let out = &context.out;
    let page = Client::with(context, async |client| whole(client, PATH).await).await?;
    if out.json {
        out.value(&page);
        return Ok(());
    }
    let row = |secret: &Value| {
        let used = secret["used_by"].as_array().into_iter().flatten();
        let used: Vec<&str> = used.filter_map(Value::as_str).collect();
        let end = secret["value"]["last4"].as_str();
        let cells = [
            text(secret, "name"),
            text(secret, "owner"),
            &end.map_or_else(|| "…".to_owned(), |end| format!("…{end}")),
            text(secret, "key_id"),
            &out.time(text(secret, "updated_at")),
            &used.join(","),
        ];
        cells.map(str::to_owned).to_vec()
    };
    let items = page["items"].as_array().into_iter().flatten();
    let rows: Vec<Vec<String>> = items.map(row).collect();
    out.table(
        &["name", "owner", "value", "key", "updated", "used by"],
        &rows,
    );
    Ok(())
}

async fn set(context: &Context, name: &str, given: Option<&str>) -> Result {
    let body = json!({"value": value(context, name, given)?});
    let path = format!("{PATH}/{}", encode(name));
    let secret = Client::with(context, async |client| {
        client.request("PUT", &path, Some(body)).await?.ok()
    })
    .await?;
    if context.out.json {
        context.out.value(&secret);
    }
    context.out.done(format!(
        "set {name}; tools use it as {{\"$secret\": \"{name}\"}}"
    ));
    Ok(())
}

/// A value is never an argument: the history of the shell and the list of processes would keep it.
fn value(context: &Context, name: &str, given: Option<&str>) -> Result<String> {
    let unreadable = |shown: &str, error: &std::io::Error| {
        Failure::usage(format!("{shown}: cannot be read: {error}"))
    };
    let mut text = match given {
        Some(file) if file.starts_with('@') => {
            let file = &file[1..];
            std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?
        }
        Some("-") | None => {
            let read = match tcgetattr(stdin()).ok().filter(|_| stdin().is_terminal()) {
                Some(terminal) => ask(context, name, &terminal),
                None => read_all(),
            };
            read.map_err(|error| unreadable("stdin", &error))?
        }
        Some(_) => {
            return Err(Failure::usage(
                "--value takes `-` or `@FILE`: a value on the command line would stay in the shell's history",
            )
            .hint("leave --value out and type the value, or pipe it in"));
        }
    };
    // The end of the last line is the editor's or `echo`'s.
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

fn read_all() -> std::io::Result<String> {
    let mut text = String::new();
    stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}

/// One line from the terminal, which does not show it.
fn ask(context: &Context, name: &str, terminal: &Termios) -> std::io::Result<String> {
    let mut silent = terminal.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    context
        .out
        .say(format!("The value of '{name}' (it is not shown):"));
    tcsetattr(stdin(), OptionalActions::Flush, &silent)?;
    let mut line = String::new();
    let read = stdin().read_line(&mut line);
    tcsetattr(stdin(), OptionalActions::Flush, terminal)?;
    read.map(|_| line)
}

/// Removes something that tools may use: a secret, or whatever else lies at the path.
pub(super) async fn remove(context: &Context, path: &str, name: &str, force: bool) -> Result {
    let force = if force { "?force=true" } else { "" };
    let path = format!("{path}/{}{force}", encode(name));
    let ask = async |client: &Client| client.request("DELETE", &path, None).await?.ok();
    Client::with(context, ask).await?;
    if context.out.json {
        context.out.value(&json!({"name": name, "removed": true}));
    }
    context.out.done(format!("removed {name}"));
    Ok(())
}

async fn rotate(context: &Context) -> Result {
    let path = format!("{PATH}/rotate");
    let ask = async |client: &Client| client.request("POST", &path, None).await?.ok();
    let done = Client::with(context, ask).await?;
    let key = text(&done, "key_id");
    if context.out.json {
        context.out.value(&done);
    } else {
        context.out.line(format!(
            "{} secrets were put under the key '{key}'",
            done["rotated"]
        ));
    }
    if done["left"] != 0 {
        let why = format!(
            "{} secrets do not open and stayed as they are",
            done["left"]
        );
        return Err(Failure::failed(why)
            .hint("`toolcrib secrets verify` names them")
            .printed());
    }
    Ok(())
}

async fn verify(context: &Context) -> Result {
    let path = format!("{PATH}/verify");
    let check = Client::with(context, async |client| client.get(&path).await).await?;
    if context.out.json {
        context.out.value(&check);
    } else if check["valid"] == true {
        context
            .out
            .line(format!("all {} secrets open", check["secrets"]));
    }
    if check["valid"] == true {
        return Ok(());
    }
    let problems = check["problems"].as_array().into_iter().flatten();
    let line = |problem: &Value| {
        let id = text(problem, "id");
        let what = match (problem["name"].as_str(), problem["tool"].as_str()) {
            (Some(name), _) => format!("the secret '{name}' ({id})"),
            (None, Some(tool)) => format!("a value of the tool '{tool}' ({id})"),
            (None, None) => id.to_owned(),
        };
        format!("{what}: {}", text(problem, "problem"))
    };
    let mut failure = Failure::failed("").printed();
    failure.errors = problems.map(line).collect();
    Err(failure.hint("set such a secret anew, or restore a backup from before it was changed"))
}
