//! `toolcrib users`: make, list, change and remove users.

use super::tools::{text, whole};
use crate::cli::Users;
use crate::client::{Client, encode, query};
use crate::context::Context;
use crate::out::{Failure, Out, Result};
use serde_json::{Value, json};
use std::io::{BufRead, IsTerminal};

const PATH: &str = "/api/v1/users";

pub(crate) async fn run(context: &Context, command: Users) -> Result {
    let out = &context.out;
    match command {
        Users::List => list(context).await,
        Users::Show { name } => {
            let user = ask(context, "GET", &of(&name, ""), None).await?;
            super::tools::show(out, &user);
            Ok(())
        }
        Users::Create {
            name,
            role,
            password_stdin,
            oidc_subject,
        } => {
            let mut body = json!({"name": name, "role": role});
            if let Some(subject) = oidc_subject {
                body["oidc_subject"] = json!(subject);
            }
            create(context, body, password_stdin).await
        }
        Users::Update {
            name,
            role,
            password_stdin,
            oidc_subject,
        } => {
            let body = changes(role, oidc_subject, password_stdin)?;
            let user = ask(context, "PATCH", &of(&name, ""), Some(body)).await?;
            done(out, &user, &format!("changed {name}"));
            Ok(())
        }
        Users::Remove { name } => {
            ask(context, "DELETE", &of(&name, ""), None).await?;
            let removed = json!({"name": name, "removed": true});
            done(out, &removed, &format!("removed {name}"));
            out.note(format!(
                "what is theirs is kept, out of use; `toolcrib users reassign {name} --to NAME` gives it to somebody"
            ));
            Ok(())
        }
        Users::Restore { name } => {
            let user = ask(context, "POST", &of(&name, "/restore"), None).await?;
            done(out, &user, &format!("{name} is back"));
            Ok(())
        }
        Users::Reassign { name, to, tools } => {
            let body = json!({"to": to, "tools": tools});
            let moved = ask(context, "POST", &of(&name, "/reassign"), Some(body)).await?;
            let said = format!(
                "{to} has {} tools, {} agents, {} toolsets, {} servers and {} secrets of {name} now",
                moved["tools"],
                moved["agents"],
                moved["toolsets"],
                moved["servers"],
                moved["secrets"]
            );
            done(out, &moved, &said);
            Ok(())
        }
        Users::Erase {
            name,
            to,
            dry_run,
            yes,
        } => erase(context, &name, to, dry_run, yes).await,
        Users::LoginLink { name } => {
            let link = ask(context, "POST", &of(&name, "/login-link"), None).await?;
            if out.json {
                out.value(&link);
            } else {
                show_link(context, &link);
            }
            Ok(())
        }
    }
}

fn of(name: &str, rest: &str) -> String {
    format!("{PATH}/{}{rest}", encode(name))
}

/// Nothing brings back what is erased: whoever sits at a terminal sees first what it would be.
async fn erase(
    context: &Context,
    name: &str,
    to: Option<String>,
    dry_run: bool,
    yes: bool,
) -> Result {
    let out = &context.out;
    let erased = async |dry_run: bool| {
        let dry_run = dry_run.then(|| "true".to_owned());
        let asked = query(&[("to", to.clone()), ("dry_run", dry_run)]);
        ask(context, "POST", &of(name, &format!("/erase{asked}")), None).await
    };
    if dry_run || !(yes || out.json) && std::io::stdin().is_terminal() {
        erase_told(out, name, &erased(true).await?);
        if dry_run {
            return Ok(());
        }
        out.say(format!("write {name} to erase them for good:"));
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        read.map_err(|error| Failure::failed(format!("stdin cannot be read: {error}")))?;
        if line.trim() != name {
            return Err(Failure::failed("nothing was erased"));
        }
    }
    erase_told(out, name, &erased(false).await?);
    Ok(())
}

fn erase_told(out: &Out, name: &str, erased: &Value) {
    if out.json {
        return out.value(erased);
    }
    let rows = erased["rows"].as_object().into_iter().flatten();
    let mut rows: Vec<Vec<String>> = rows
        .map(|(table, count)| vec![table.clone(), count.to_string()])
        .collect();
    rows.push(vec![
        "executions".to_owned(),
        erased["executions"].to_string(),
    ]);
    out.table(&["what", "rows"], &rows);
    let pseudonym = text(erased, "pseudonym");
    if erased["dry_run"] == true {
        return out.done(format!("nothing was changed; {name} would be {pseudonym}"));
    }
    out.done(format!("{name} is {pseudonym} from now on"));
    if let Some(left) = erased["servers_left"].as_u64().filter(|left| *left > 0) {
        out.note(format!(
            "{left} other servers still have to erase what they keep; they do it within seconds. `toolcrib users erase {pseudonym}` tells whether they have"
        ));
    }
    out.note("backups that were made before still hold everything");
}

fn changes(
    role: Option<String>,
    oidc_subject: Option<String>,
    password_stdin: bool,
) -> Result<Value> {
    let mut body = json!({});
    if let Some(role) = role {
        body["role"] = json!(role);
    }
    if let Some(subject) = oidc_subject {
        body["oidc_subject"] = json!(Some(subject).filter(|subject| !subject.is_empty()));
    }
    if let Some(password) = password(password_stdin)? {
        body["password"] = json!(password);
    }
    Ok(body)
}

async fn create(context: &Context, mut body: Value, password_stdin: bool) -> Result {
    let out = &context.out;
    let password = password(password_stdin)?;
    if let Some(password) = &password {
        body["password"] = json!(password);
    }
    let user = ask(context, "POST", PATH, Some(body)).await?;
    let (name, role) = (text(&user, "name"), text(&user, "role"));
    done(out, &user, &format!("made {role} {name}"));
    if password.is_none() && !out.json {
        out.note(format!(
            "`toolcrib keys create NAME --user {name}` makes a key for them, `toolcrib users login-link {name}` lets them in once"
        ));
    }
    Ok(())
}

/// As the server is reached from here, as it says itself, or as nobody knows.
fn show_link(context: &Context, link: &Value) {
    let (out, path) = (&context.out, text(link, "path"));
    let asked = context.server_url();
    let asked = asked.map(|server| format!("{}{path}", server.trim_end_matches('/')));
    let told = link["url"].as_str().map(str::to_owned);
    let known = asked.or(told);
    let unknown = known.is_none();
    out.line(known.as_deref().unwrap_or(path));
    if unknown {
        out.note("Put your server's address in front of it; no server runs on this workspace now.");
    }
    out.note("It works once, within 15 minutes.");
}

async fn ask(context: &Context, method: &str, path: &str, body: Option<Value>) -> Result<Value> {
    Client::with(context, async |client| {
        client.request(method, path, body).await?.ok()
    })
    .await
}

fn done(out: &Out, value: &Value, said: &str) {
    if out.json {
        out.value(value);
    } else {
        out.done(said);
    }
}

async fn list(context: &Context) -> Result {
    let out = &context.out;
    let page = Client::with(context, async |client| whole(client, PATH).await).await?;
    if out.json {
        out.value(&page);
        return Ok(());
    }
    let items = page["items"].as_array().into_iter().flatten();
    let row = |user: &Value| {
        let yes = |key: &str| if user[key] == true { "yes" } else { "no" };
        let cells = [
            text(user, "name"),
            text(user, "role"),
            yes("has_password"),
            &out.time(text(user, "created_at")),
            &out.time(text(user, "deleted_at")),
        ];
        cells.map(str::to_owned).to_vec()
    };
    let rows: Vec<Vec<String>> = items.map(row).collect();
    out.table(&["name", "role", "password", "created", "removed"], &rows);
    Ok(())
}

/// The first line of stdin, which no list of processes shows.
fn password(from_stdin: bool) -> Result<Option<String>> {
    if !from_stdin {
        return Ok(None);
    }
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::usage(format!("stdin: cannot be read: {error}")))?;
    let password = line.trim_end_matches(['\n', '\r']);
    if password.is_empty() {
        return Err(Failure::usage(
            "--password-stdin: there is no password on stdin",
        ));
    }
    Ok(Some(password.to_owned()))
}
