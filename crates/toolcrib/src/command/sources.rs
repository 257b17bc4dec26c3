//! `toolcrib sources`: the databases that SQL tools use, what is in them, and whether they work.

use super::definition::{How, send};
use super::findings::Findings;
use super::input::Input;
use super::limits::show;
use super::secrets::remove;
use super::tools::{pages, text, whole};
use crate::cli::Sources;
use crate::client::{Client, encode, query};
use crate::context::Context;
use crate::out::{Failure, Out, Result};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const PATH: &str = "/api/v1/sources";

pub(crate) async fn run(context: &Context, command: Sources) -> Result {
    let out = &context.out;
    match command {
        Sources::List => list(context).await,
        Sources::Show { name } => {
            let path = path(&name);
            let source = Client::with(context, async |client| client.get(&path).await).await?;
            super::tools::show(out, &source);
            Ok(())
        }
        Sources::Add { definition } => {
            let input = Input::definition(&definition)?;
            let source = send(context, How::Create, PATH, &input).await?;
            told(out, &source, "added");
            Ok(())
        }
        Sources::Update {
            name,
            definition,
            patch,
        } => {
            let how = if patch { How::Patch } else { How::Replace };
            let input = Input::definition(&definition)?;
            let source = send(context, how, &path(&name), &input).await?;
            told(out, &source, "updated");
            Ok(())
        }
        Sources::Remove { name, force } => {
            remove(context, PATH, &name, force).await?;
            super::vectors::left_of(context, &name).await;
            Ok(())
        }
        Sources::Schema {
            name,
            search,
            table,
            limit,
        } => {
            let asked = [("search", search), ("table", table)];
            schema(context, &name, &asked, limit as usize).await
        }
        Sources::Test { name } => test(context, &name).await,
        Sources::RoleScript {
            name,
            role,
            schemas,
        } => {
            let schemas = (!schemas.is_empty()).then(|| schemas.join(","));
            let query = query(&[("role", role), ("schemas", schemas)]);
            let path = format!("{}/role-script{query}", path(&name));
            let made = Client::with(context, async |client| client.get(&path).await).await?;
            match out.json {
                true => out.value(&made),
                false => out.line(text(&made, "script").trim_end()),
            }
            Ok(())
        }
    }
}

fn path(name: &str) -> String {
    format!("{PATH}/{}", encode(name))
}

fn warnings(value: &Value) -> impl Iterator<Item = &str> {
    let all = value["warnings"].as_array().into_iter().flatten();
    all.filter_map(Value::as_str)
}

fn told(out: &Out, source: &Value, done: &str) {
    if out.json {
        out.value(source);
    } else {
        let (name, state) = (text(source, "name"), text(source, "state"));
        out.done(format!(
            "{done} {name} (version {}), now {state}",
            source["version"]
        ));
        if let Some(cause) = source["cause"].as_str() {
            out.done(cause);
        }
        if state == "untried" {
            out.done(format!("`toolcrib sources test {name}` connects to it"));
        }
    }
    for warning in warnings(source) {
        out.warn(warning);
    }
}

async fn list(context: &Context) -> Result {
    let ask = async |client: &Client| {
        let page = whole(client, PATH).await?;
        let waiting = waiting(context, client, &page);
        Ok((page, waiting))
    };
    let (page, waiting) = Client::with(context, ask).await?;
    let row = |_: &Out, source: &Value| {
        let place = source["url"].as_str().or_else(|| source["path"].as_str());
        let may = match source["allow_write"] == true {
            true => "read, write",
            false => "read",
        };
        [
            text(source, "name"),
            text(source, "origin"),
            text(source, "kind"),
            text(source, "state"),
            may,
            text(source, "authors"),
            place.unwrap_or_default(),
            text(source, "cause"),
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let head = [
        "name", "origin", "kind", "state", "may", "authors", "place", "cause",
    ];
    show(&context.out, &page, &head, row);
    let sources = || page["items"].as_array().into_iter().flatten();
    if sources().any(|source| source["state"] == "untried") {
        let hint = "untried: nobody has connected yet; `toolcrib sources test NAME` does";
        context.out.note(hint);
    }
    for source in sources() {
        for warning in warnings(source) {
            context
                .out
                .warn(format!("{}: {warning}", text(source, "name")));
        }
    }
    for name in waiting {
        context.out.warn(unread(&name));
    }
    Ok(())
}

/// The sources of toolcrib.toml that a server which runs here does not have: it was started before they were written.
fn waiting(context: &Context, client: &Client, page: &Value) -> Vec<String> {
    if !matches!(client, Client::Socket(_)) {
        return Vec::new();
    }
    let config = context
        .place()
        .and_then(|it| context.config(&it, Vec::new()));
    // One that cannot be read is told by `doctor`.
    let Ok(config) = config else {
        return Vec::new();
    };
    let is_known = |name: &str| {
        let mut items = page["items"].as_array().into_iter().flatten();
        items.any(|it| it["name"] == name && it["origin"] == "file")
    };
    let names = config.sources().file.into_iter().map(|it| it.name);
    names.filter(|name| !is_known(name)).collect()
}

fn unread(name: &str) -> String {
    format!(
        "the server that runs here does not know source '{name}' of toolcrib.toml yet: it reads that file when it starts, so restart it"
    )
}

async fn schema(
    context: &Context,
    name: &str,
    asked: &[(&str, Option<String>)],
    limit: usize,
) -> Result {
    let path = format!("{}/schema", path(name));
    let ask = async |client: &Client| pages(client, &path, asked, limit).await;
    let tables = Client::with(context, ask).await?;
    let out = &context.out;
    let named = asked.iter().find(|(name, _)| *name == "table");
    if let (true, Some((_, Some(table)))) = (tables.is_empty(), named) {
        return Err(no_table(name, table, asked));
    }
    if out.json {
        out.value(&json!({"items": tables}));
        return Ok(());
    }
    for table in &tables {
        let schema = table["schema"].as_str();
        let schema = schema.map_or_else(String::new, |schema| format!("{schema}."));
        let comment = about(table);
        out.line(format!(
            "{} {schema}{}{comment}",
            text(table, "kind"),
            text(table, "name")
        ));
        for column in table["columns"].as_array().into_iter().flatten() {
            out.line(format!("  {}", shown(table, column)));
        }
    }
    if tables.is_empty() {
        out.say(none_found(name, asked));
    }
    if tables.len() == limit {
        out.note("there may be more; --search finds some, --limit shows more");
    }
    Ok(())
}

/// Nothing on stdout would look as if nothing had been done.
fn none_found(source: &str, asked: &[(&str, Option<String>)]) -> String {
    let searched = asked.iter().find(|(name, _)| *name == "search");
    match searched {
        Some((_, Some(text))) => format!(
            "source '{source}' shows no table whose name, schema, columns or comments hold '{text}'; without --search all that its role may read are shown"
        ),
        _ => {
            format!("source '{source}' shows no table: it has none, or none that its role may read")
        }
    }
}

fn no_table(source: &str, table: &str, asked: &[(&str, Option<String>)]) -> Failure {
    let searched = asked.iter().find(|(name, _)| *name == "search");
    let holding = match searched {
        Some((_, Some(text))) => format!(" that holds '{text}'"),
        _ => String::new(),
    };
    let why = format!("source '{source}' shows no table '{table}'{holding}");
    Failure::failed(why).hint(format!(
        "`toolcrib sources schema {source}` shows those that its role may read"
    ))
}

/// `owner_id bigint not null, key, → public.users(id)` and its comment.
fn shown(table: &Value, column: &Value) -> String {
    let name = text(column, "name");
    let named = format!("{name} {}", text(column, "type"));
    let mut parts = vec![named.trim_end().to_owned()];
    if column["nullable"] == false {
        parts.push("not null".to_owned());
    }
    let holds = |list: &Value| {
        list.as_array()
            .is_some_and(|all| all.iter().any(|it| it == name))
    };
    if holds(&table["primary_key"]) {
        parts.push("primary key".to_owned());
    }
    for key in table["foreign_keys"].as_array().into_iter().flatten() {
        if holds(&key["columns"]) {
            parts.push(format!("→ {}", text(key, "references")));
        }
    }
    format!("{}{}", parts.join(", "), about(column))
}

fn about(value: &Value) -> String {
    let comment = value["comment"].as_str().and_then(|it| it.lines().next());
    comment.map_or_else(String::new, |comment| format!("  -- {comment}"))
}

async fn test(context: &Context, name: &str) -> Result {
    let ask = async |client: &Client| match tested(client, name).await {
        Ok(tested) => Ok(tested),
        Err(failure) => {
            let page = whole(client, PATH).await.unwrap_or_default();
            Err(
                match waiting(context, client, &page).iter().any(|it| it == name) {
                    true => failure.hint(unread(name)),
                    false => failure,
                },
            )
        }
    };
    let tested = Client::with(context, ask).await?;
    let out = &context.out;
    if out.json {
        out.value(&tested);
    }
    for warning in warnings(&tested) {
        out.warn(warning);
    }
    if let Some(problem) = tested["problem"].as_str() {
        let failure = Failure::failed(format!("source '{name}' does not work: {problem}"));
        return Err(match out.json {
            true => failure.printed(),
            false => failure,
        });
    }
    if !out.json {
        let role = tested["role"].as_str();
        let role = role.map_or_else(String::new, |role| format!(" as {role}"));
        out.line(format!("{name} works{role}: {}", text(&tested, "version")));
        for line in about_writing(&tested) {
            out.line(line);
        }
    }
    Ok(())
}

/// What was tried is a query that reads; who else may write is a matter of the source.
fn about_writing(tested: &Value) -> Vec<String> {
    let refused = text(tested, "read_only");
    let writes = tested["allow_write"] == true;
    let is_bound = tested["is_bound"] == true;
    if !writes && is_bound {
        return vec![format!("writing is refused: {refused}")];
    }
    let reads = match is_bound {
        true => format!("queries that read cannot write: {refused}"),
        false => "queries that read may do more than that: nothing binds this role".to_owned(),
    };
    let tools = match writes {
        true if tested["may_write"] != true => {
            "tools with \"write\": true are let through (allow_write is set), but there is nothing here that they may change"
        }
        true => "tools with \"write\": true can: allow_write is set",
        false => "tools with \"write\": true are refused: allow_write is not set",
    };
    vec![reads, tools.to_owned()]
}

async fn tested(client: &Client, name: &str) -> Result<Value> {
    let path = format!("{}/test", path(name));
    client.request("POST", &path, None).await?.ok()
}

/// How long one source may take, and all together.
const TEST_MAX: Duration = Duration::from_secs(10);
const TESTS_MAX: Duration = Duration::from_secs(30);

/// Every source with what a test of it found, for `doctor`.
pub(super) async fn look(client: &Client) -> Result<Vec<(Value, Value)>> {
    let page = whole(client, PATH).await?;
    let until = Instant::now() + TESTS_MAX;
    let mut all = Vec::new();
    for source in page["items"].as_array().into_iter().flatten() {
        let left = TEST_MAX.min(until.saturating_duration_since(Instant::now()));
        let test = tested(client, text(source, "name"));
        let found = match text(source, "state") {
            "hidden" => Value::Null,
            // One that did not work when it was last tried may by now.
            _ => match tokio::time::timeout(left, test).await {
                Ok(found) => found?,
                Err(_) => json!({"problem": "it did not answer in time"}),
            },
        };
        all.push((source.clone(), found));
    }
    Ok(all)
}

/// Sources that do not work, or work with more rights than they should.
pub(super) fn judge(findings: &mut Findings, sources: &[(Value, Value)]) {
    let mut good = Vec::new();
    for (source, tested) in sources {
        let name = text(source, "name");
        if tested["works"] == true && tested["allow_write"] == true && tested["may_write"] == false
        {
            findings.warning(
                "sources.nothing_to_write",
                format!(
                    "source '{name}' lets tools write, and there is nothing in it that they may change"
                ),
                "grant its role INSERT, UPDATE or DELETE on what they write to (of a file: make it writable), or take allow_write away",
            );
        }
        let problem = match tested.is_null() {
            true => source["cause"].as_str(),
            false => tested["problem"].as_str(),
        };
        match (text(source, "state"), problem) {
            ("hidden", _) => findings.warning(
                "sources.hidden",
                format!(
                    "source '{name}' ({}) is out of use: another has its name",
                    text(source, "origin")
                ),
                "rename or remove one of the two",
            ),
            (_, Some(why)) => findings.warning(
                "sources.down",
                format!("source '{name}' does not work: {why}"),
                format!("mend that; `toolcrib sources test {name}` tries it again"),
            ),
            _ => good.push(name),
        }
        let warned: Vec<&str> = match tested.is_null() {
            true => warnings(source).collect(),
            false => warnings(tested).collect(),
        };
        for warning in warned {
            findings.warning(
                "sources.rights",
                format!("source '{name}': {warning}"),
                format!("`toolcrib sources role-script {name}` prints a role that can only read"),
            );
        }
    }
    let (works, all) = (good.len(), sources.len());
    if works == all && all > 0 {
        findings.good("sources", format!("{works} of {all} work"));
    } else if works > 0 {
        let names = good.join(", ");
        findings.good("sources", format!("{works} of {all} work: {names}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_promised_what_a_role_is_not_bound_to() {
        let said = |writes: bool, is_bound: bool| {
            let refused = "cannot execute UPDATE in a read-only transaction";
            let tested = json!({"read_only": refused, "allow_write": writes, "is_bound": is_bound, "may_write": true});
            about_writing(&tested).join("\n")
        };
        assert!(said(false, true).starts_with("writing is refused: cannot"));
        assert!(said(true, true).starts_with("queries that read cannot write: cannot"));
        for writes in [false, true] {
            let said = said(writes, false);
            assert!(!said.contains("cannot"), "{said}");
            assert!(said.contains("may do more"), "{said}");
        }
        let tested = json!({"allow_write": true, "is_bound": true, "may_write": false});
        assert!(about_writing(&tested)[1].contains("nothing here that they may change"));
    }
}
