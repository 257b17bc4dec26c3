//! `toolcrib import h-custom-tool`: tools of another builder's database. Each is taken over by itself: what is wrong with one
//! keeps no other out. A dry run asks the server the same questions and changes nothing.

use super::custom_kept::{Merged, is_same, merged, patch};
use super::custom_rows::{Meant, created_at, definition};
use super::taken_over::TakenOver;
use super::tools::path;
use crate::cli::CustomImport;
use crate::client::{Client, encode, query};
use crate::context::Context;
use crate::out::{Cause, Failure, Out, Result};
use catalog::definition::{Origin, checked_definition_from_text};
use catalog::tool::Shelf;
use serde_json::{Value, json};
use store::custom_tools::{self, CustomTool, CustomTools};

/// What a file must hold.
const EXPECTED: &str = "expected a SQLite file with the tables h_custom_tool (id, name, description_agent, description_user, tool_type, definition, is_active, reg_dt, created_by) and h_custom_tool_param (id, tool_id, param_name, param_type, is_required, description)";

/// What a row that says nothing of it answers.
const RESULT: &str = "row";

/// A tool that is to be taken over.
struct Taken {
    row: CustomTool,
    meant: Meant,
}

/// Who imports.
struct Importer {
    name: String,
    /// May say whose a new tool is and when it was made.
    is_admin: bool,
}

impl Importer {
    async fn of(client: &Client) -> Result<Self> {
        let me = client.get("/api/v1/me").await?;
        let scopes = me["scopes"].as_array();
        Ok(Importer {
            name: me["user"].as_str().unwrap_or_default().to_owned(),
            is_admin: scopes.is_some_and(|scopes| scopes.iter().any(|it| it == "admin")),
        })
    }
}

/// What became of the tools of a file.
#[derive(Default)]
struct Told {
    taken: TakenOver,
    warnings: Vec<String>,
    /// How those are defined that are added or replaced.
    tools: Vec<Value>,
    /// Whether it was said that tools count as made now.
    has_lost_times: bool,
}

impl Told {
    fn warn(&mut self, out: &Out, warning: String) {
        out.warn(&warning);
        self.warnings.push(warning);
    }

    /// What to know of a tool that is taken over; `off` is why it could not be switched on.
    fn remark(&mut self, out: &Out, taken: &Taken, off: Option<&str>, tool: &Value) {
        let name = &taken.row.name;
        for note in &taken.meant.notes {
            self.warn(out, format!("'{name}': {note}"));
        }
        if let Some(why) = off {
            self.warn(
                out,
                format!("'{name}' is off, and could not be switched on as it is: {why}"),
            );
        }
        if let Some(why) = tool["trouble"].as_str() {
            self.warn(out, format!("'{name}' may not work as it is: {why}"));
        }
    }

    fn is_empty(&self) -> bool {
        let taken = &self.taken;
        let lists = [&taken.added, &taken.replaced, &taken.same, &taken.failed];
        lists.iter().all(|list| list.is_empty())
    }
}

pub(crate) async fn import(context: &Context, args: &CustomImport) -> Result {
    let shown = args.file.display().to_string();
    let read = custom_tools::read(&args.file).await;
    let CustomTools { tools, orphans } = read.map_err(|why| Failure::failed(why).hint(EXPECTED))?;
    let names: Vec<String> = tools.iter().map(|row| row.name.clone()).collect();
    check_only(&args.only, &names, &shown)?;
    let wanted = tools
        .into_iter()
        .filter(|row| args.only.is_empty() || args.only.contains(&row.name));
    let mut told = Told::default();
    let taken = understood(wanted, args, &mut told);
    let out = &context.out;
    for (name, id) in &orphans {
        told.warn(out, format!(
            "the parameter '{name}' is left out: its tool_id is {id}, and no row of h_custom_tool has that id"
        ));
    }
    let done = Client::with(context, async |client| {
        if taken.is_empty() {
            return Ok(());
        }
        let importer = Importer::of(client).await?;
        for taken in &taken {
            take_over(out, client, taken, args, &importer, &mut told).await?;
        }
        Ok(())
    })
    .await;
    match done {
        Err(failure) if told.is_empty() => Err(failure),
        // What was done until nobody answered any more is told all the same.
        Err(failure) => {
            told.taken.failed.extend(failure.errors);
            tell(out, &told, args.dry_run).map_err(|told| Failure {
                cause: failure.cause,
                hints: [told.hints.as_slice(), &failure.hints].concat(),
                ..told
            })
        }
        Ok(()) if told.is_empty() => {
            out.say(format!("{shown} has no tools"));
            tell(out, &told, args.dry_run)
        }
        Ok(()) => tell(out, &told, args.dry_run),
    }
}

pub(super) fn check_only(only: &[String], names: &[String], shown: &str) -> Result {
    match only.iter().find(|name| !names.contains(name)) {
        None => Ok(()),
        Some(missing) => Err(Failure::usage(format!(
            "--only names '{missing}', but {shown} has {}",
            names.join(", ")
        ))),
    }
}

/// The rows that mean something here; what is wrong with the others is told.
fn understood(
    rows: impl Iterator<Item = CustomTool>,
    args: &CustomImport,
    told: &mut Told,
) -> Vec<Taken> {
    let mut taken: Vec<Taken> = Vec::new();
    for row in rows {
        let name = &row.name;
        if taken.iter().any(|taken| taken.row.name == *name) {
            let why = "there is another row of that name before it; rename one of them";
            told.taken.failed.push(format!("{name}: {why}"));
            continue;
        }
        let result = args.result.as_deref().unwrap_or(RESULT);
        let meant = match definition(&row, &args.source, result) {
            Ok(meant) => meant,
            Err(why) => {
                told.taken.failed.push(format!("{name}: {why}"));
                continue;
            }
        };
        let origin = Origin::Body(Shelf::Database);
        let text = meant.definition.to_string();
        let checked = checked_definition_from_text(name, &text, origin, kinds::sql::faults);
        match checked {
            Ok(_) => taken.push(Taken { row, meant }),
            Err(problems) => told.taken.failed.extend(problems.iter().map(|it| {
                format!(
                    "{name}: at {}: expected {}, found {}. {}",
                    it.path, it.expected, it.found, it.remedy
                )
            })),
        }
    }
    taken
}

/// Adds one tool, replaces it, or says why not. Fails only where the others would fail too.
async fn take_over(
    out: &Out,
    client: &Client,
    taken: &Taken,
    args: &CustomImport,
    importer: &Importer,
    told: &mut Told,
) -> Result {
    let name = &taken.row.name;
    let answer = client.request("GET", &path(name), None).await?;
    let stored = match answer.status {
        404 => None,
        // A tool of an MCP server is found without the server's name as well, and is another one.
        _ => Some(answer.ok()?).filter(|tool| tool["name"] == *name),
    };
    let (definition, off, done) = match &stored {
        None => {
            let off = switched_on(client, &taken.meant.definition, None).await?;
            let done = create(out, client, taken, args.dry_run, importer, told).await;
            (taken.meant.definition.clone(), off, done)
        }
        Some(stored) => {
            let merged = merged(stored, &taken.meant.definition, args.result.is_some());
            if is_same(stored, &merged.definition) {
                told.taken.same.push(name.clone());
                return Ok(());
            }
            if !args.force {
                told.taken.failed.push(format!(
                    "{name}: there is another tool '{name}' already; rename one of the two, or replace it with --force"
                ));
                return Ok(());
            }
            let off = switched_on(client, &merged.definition, Some(stored)).await?;
            let done = replace(client, stored, &merged, args.dry_run).await;
            if done.is_ok() && !merged.dropped.is_empty() {
                let dropped = merged.dropped.join(", ");
                told.warn(out, format!(
                    "'{name}' loses {dropped}: the file cannot say it, and what was there may not fit what it says"
                ));
            }
            if done.is_ok() && merged.keeps_tests {
                told.warn(out, format!(
                    "'{name}' keeps its tests; `toolcrib tools test {name}` says whether they still pass"
                ));
            }
            (merged.definition, off, done)
        }
    };
    match done {
        Err(failure) if failure.cause == Cause::Unreachable => return Err(failure),
        Err(failure) => {
            let why = failure.errors.join("; ");
            told.taken.failed.push(format!("{name}: {why}"));
        }
        Ok(tool) => {
            told.remark(out, taken, off.as_deref(), &tool);
            told.tools.push(definition);
            let list = match stored {
                Some(_) => &mut told.taken.replaced,
                None => &mut told.taken.added,
            };
            list.push(name.clone());
        }
    }
    Ok(())
}

/// Why a tool that is off would be refused if it were on; what is off is not looked at when it is stored.
async fn switched_on(
    client: &Client,
    definition: &Value,
    stored: Option<&Value>,
) -> Result<Option<String>> {
    if definition["is_active"] != false {
        return Ok(None);
    }
    let mut active = definition.clone();
    active["is_active"] = true.into();
    let tried = match stored {
        Some(stored) => {
            let merged = Merged {
                definition: active,
                dropped: Vec::new(),
                keeps_tests: false,
            };
            replace(client, stored, &merged, true).await
        }
        None => {
            let to = "/api/v1/tools?dry_run=true";
            client.request("POST", to, Some(active)).await?.ok()
        }
    };
    match tried {
        Ok(_) => Ok(None),
        Err(failure) if failure.cause == Cause::Unreachable => Err(failure),
        Err(failure) => Ok(Some(failure.errors.join("; "))),
    }
}

/// Only what the row speaks of is changed, unless the tool becomes one of another kind.
async fn replace(client: &Client, stored: &Value, merged: &Merged, dry_run: bool) -> Result<Value> {
    let (method, body) = match stored["kind"] == merged.definition["kind"] {
        true => ("PATCH", patch(stored, &merged.definition)),
        false => ("PUT", merged.definition.clone()),
    };
    let name = stored["name"].as_str().unwrap_or_default();
    let to = format!("{}{}", path(name), query(&[("dry_run", asked(dry_run))]));
    client.request(method, &to, Some(body)).await?.ok()
}

fn asked(dry_run: bool) -> Option<String> {
    dry_run.then(|| "true".to_owned())
}

/// Stores a new tool as its maker's, where they are a user here who may have it; else as that of whoever imports it. Who is
/// no admin can only have it as their own, made now.
async fn create(
    out: &Out,
    client: &Client,
    taken: &Taken,
    dry_run: bool,
    importer: &Importer,
    told: &mut Told,
) -> Result<Value> {
    let row = &taken.row;
    let name = &row.name;
    let made = created_at(row);
    let send = async |owner: Option<&str>| {
        let asked = [
            ("owner", owner.map(str::to_owned)),
            ("created_at", made.clone().filter(|_| importer.is_admin)),
            ("dry_run", asked(dry_run)),
        ];
        let to = format!("/api/v1/tools{}", query(&asked));
        let body = Some(taken.meant.definition.clone());
        client.request("POST", &to, body).await?.ok()
    };
    let maker = row.created_by.as_deref().filter(|name| !name.is_empty());
    let maker = maker.filter(|name| *name != importer.name);
    let (tool, why) = match maker {
        None => (send(None).await?, None),
        Some(_) if !importer.is_admin => {
            let why = "only an admin may say whose a new tool is";
            (send(None).await?, Some(why.to_owned()))
        }
        Some(maker) => match user(client, maker).await? {
            Some(why) => (send(None).await?, Some(why)),
            None => match send(Some(maker)).await {
                Ok(tool) => (tool, None),
                Err(failure) => (send(None).await?, Some(failure.errors.join("; "))),
            },
        },
    };
    match (&made, row.reg_dt.as_deref()) {
        (None, Some(written)) => told.warn(out, format!(
            "'{name}' was made at '{written}', which is no time that can be read; it counts as made now"
        )),
        (Some(_), _) if !importer.is_admin && !told.has_lost_times => {
            told.has_lost_times = true;
            let why = "new tools count as made now: only an admin may say when a tool was made";
            told.warn(out, why.to_owned());
        }
        _ => {}
    }
    if let (Some(why), Some(maker)) = (why, maker) {
        told.warn(out, format!("'{name}' is yours, not {maker}'s: {why}"));
    }
    Ok(tool)
}

/// Why somebody cannot be found here; nothing where they are.
async fn user(client: &Client, name: &str) -> Result<Option<String>> {
    let path = format!("/api/v1/users/{}", encode(name));
    let answer = client.request("GET", &path, None).await?;
    Ok(match answer.status {
        200 => None,
        404 => Some(format!("there is no user '{name}'")),
        _ => Some(answer.failure().errors.join("; ")),
    })
}

fn tell(out: &Out, told: &Told, dry_run: bool) -> Result {
    if out.json {
        let mut value = json!({"added": told.taken.added, "replaced": told.taken.replaced,
            "unchanged": told.taken.same, "failed": told.taken.failed, "warnings": told.warnings,
            "dry_run": dry_run});
        if dry_run {
            value["tools"] = told.tools.clone().into();
        }
        out.value(&value);
    }
    told.taken.tell(out, dry_run)
}
