//! `toolcrib doctor`: what is wrong with this installation and how to mend it. Works beside a running
//! server, which it asks through its socket.

use super::findings::{Findings, report};
use super::tools::{all, pages, text};
use crate::client::{Client, connect_owner, problem_line};
use crate::config::{Config, nearest};
use crate::context::Context;
use crate::out::{Failure, Result};
use crate::workspace::{NO_WORKSPACE_HERE, Place, is_workspace};
use app::owner::OwnerLock;
use app::shelf::{FileShelf, MCP_FILE, check_tools, read_file};
use catalog::clock::Clock;
use catalog::mcp_file::read_servers;
use catalog::problem::Problem;
use catalog::tool::KindName;
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const FREE_BYTES_LEAST: u64 = 100 << 20;
const FREE_BYTES_WISHED: u64 = 1 << 30;
/// The first of January 2025 and 2100: outside, the clock is surely wrong.
const CLOCK_SANE: std::ops::Range<i64> = 1_735_689_600_000..4_102_444_800_000;

pub(crate) async fn run(context: &Context) -> Result {
    let mut findings = Findings::default();
    let mut config = None;
    let mut told = Vec::new();
    let can_ask = match context.server_url() {
        Some(url) => {
            findings.good("server", format!("asked at {url}"));
            true
        }
        None => {
            let place = context.place()?;
            config = configuration(&mut findings, context, &place);
            told = files(&mut findings, &place);
            data_folder(&mut findings, &place);
            provider(&mut findings, config.as_ref()).await;
            sandbox(&mut findings);
            owner(&mut findings, &place).await || !findings.has_bad()
        }
    };
    clock(&mut findings);
    if can_ask {
        ask(&mut findings, context, config.as_ref(), &told).await;
    } else {
        findings.warning(
            "server",
            "not asked, because of the above",
            "mend the above and run `toolcrib doctor` again",
        );
    }
    report(context, &findings)
}

fn configuration(findings: &mut Findings, context: &Context, place: &Place) -> Option<Config> {
    match context.config(place, Vec::new()) {
        Ok(loaded) => {
            findings.good("configuration", "valid");
            Some(loaded)
        }
        Err(failure) => {
            let remedy = failure.hints.first();
            let remedy = remedy.map_or("correct it there", String::as_str);
            for error in &failure.errors {
                findings.bad("configuration", error, remedy);
            }
            None
        }
    }
}

/// Else the first who logs in finds out.
async fn provider(findings: &mut Findings, config: Option<&Config>) {
    let settings = config.and_then(|config| config.oidc().ok().flatten());
    let Some(settings) = settings else {
        return;
    };
    let issuer = settings.issuer.clone();
    match app::oidc::probe(settings).await {
        Ok(()) => findings.good("login", format!("the identity provider {issuer} answers")),
        Err(why) => findings.warning(
            "login",
            format!("nobody can log in through {issuer}: {why}"),
            "check oidc.issuer, and whether this machine reaches it",
        ),
    }
}

/// Looks at the files; gives what is wrong with them, in full.
fn files(findings: &mut Findings, place: &Place) -> Vec<String> {
    let shown = place.workspace.display();
    if !is_workspace(&place.workspace) {
        let message = format!("{shown} is no workspace: it has no tools.json and no mcp.json");
        let remedy = match place.is_default {
            true => format!("{NO_WORKSPACE_HERE}; --workspace names another"),
            false => format!("`toolcrib init {shown}` makes one there; --workspace names another"),
        };
        findings.bad("workspace", message, remedy);
        return Vec::new();
    }
    if place.is_default {
        findings.warning(
            "workspace",
            format!("this folder is no workspace, so {shown} is looked at"),
            "`toolcrib init` makes this folder one; --workspace names another",
        );
    }
    let tools = FileShelf::new(&place.workspace)
        .read_text()
        .and_then(|text| check_tools(&text, |_| false));
    let path = place.workspace.join(MCP_FILE);
    // Which variables are set is for whoever runs the servers to say, and is asked below.
    let servers = read_file(&path, MCP_FILE, "{\"mcpServers\": {}}")
        .and_then(|text| read_servers(MCP_FILE, &text, &|_| None));
    let bad = tools
        .err()
        .into_iter()
        .chain(servers.as_ref().err().cloned());
    let bad: Vec<Problem> = bad.flatten().collect();
    let warnings = servers.map(|servers| servers.warnings).unwrap_or_default();
    if bad.is_empty() && warnings.is_empty() {
        findings.good(
            "workspace",
            format!("{shown}: tools.json and mcp.json are valid"),
        );
    }
    let told = bad.iter().chain(&warnings);
    let told = told.map(ToString::to_string).collect();
    for (message, remedy) in bad.into_iter().map(apart) {
        findings.bad("workspace", message, remedy);
    }
    for (message, remedy) in warnings.into_iter().map(apart) {
        findings.warning("workspace", message, remedy);
    }
    told
}

/// A problem without its remedy, and the remedy.
fn apart(mut problem: Problem) -> (String, String) {
    let remedy = std::mem::take(&mut problem.remedy);
    (problem.to_string().trim_end().to_owned(), remedy)
}

fn data_folder(findings: &mut Findings, place: &Place) {
    let shown = place.data.display();
    let Ok(found) = std::fs::metadata(&place.data) else {
        findings.good(
            "data",
            format!("{shown} is not there yet; it is made when needed"),
        );
        return disk(findings, &place.workspace);
    };
    if !found.is_dir() {
        return findings.bad(
            "data",
            format!("{shown} is not a folder"),
            "remove it, or name another with --data",
        );
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        findings.warning(
            "data",
            format!("{shown} belongs to another user"),
            "run toolcrib as the user that owns it",
        );
    }
    if found.mode() & 0o077 == 0 {
        findings.good("data", format!("{shown} is closed to other users"));
    } else {
        findings.warning(
            "data",
            format!("{shown} is open to other users"),
            format!("chmod 700 {shown}"),
        );
    }
    disk(findings, &place.data);
}

fn disk(findings: &mut Findings, folder: &Path) {
    let Ok(state) = rustix::fs::statvfs(folder) else {
        return;
    };
    let free = state.f_bavail.saturating_mul(state.f_frsize);
    let message = format!("{} MB free for {}", free >> 20, folder.display());
    let remedy = "make room, or move the data with --data; a full disk makes every call fail";
    match free {
        0..FREE_BYTES_LEAST => findings.bad("disk", message, remedy),
        FREE_BYTES_LEAST..FREE_BYTES_WISHED => findings.warning("disk", message, remedy),
        _ => findings.good("disk", message),
    }
}

/// Looks who has the workspace; whether that one answers.
async fn owner(findings: &mut Findings, place: &Place) -> bool {
    if !place.data.exists() {
        return false;
    }
    match OwnerLock::acquire(&place.workspace, &place.data) {
        Ok(Some(_free)) => findings.good("owner", "no server runs on this workspace"),
        Err(error) => findings.bad(
            "owner",
            format!("the lock cannot be used: {error}"),
            "check the permissions of the data folder",
        ),
        Ok(None) => {
            let owner = place.owner();
            match connect_owner(place).await {
                Ok(_) => {
                    let message = format!("{owner} owns the workspace and its socket answers");
                    findings.good("owner", message);
                    return true;
                }
                Err(error) => findings.warning(
                    "owner",
                    format!("{owner} owns the workspace but its socket does not answer: {error}"),
                    "it may be a short command, or a server that starts or stops; wait, else end that process",
                ),
            }
        }
    }
    false
}

fn clock(findings: &mut Findings) {
    let now = Clock::System.now();
    if CLOCK_SANE.contains(&now) {
        findings.good("clock", app::time::rfc3339(now));
    } else {
        let remedy = "set the system's clock; ids, expiry and the log depend on it";
        findings.bad(
            "clock",
            format!("it shows {}", app::time::rfc3339(now)),
            remedy,
        );
    }
}

/// What only the one who has the workspace open can tell.
async fn ask(findings: &mut Findings, context: &Context, config: Option<&Config>, told: &[String]) {
    let asked = Client::with(context, async |client| {
        let ready = client.get("/readyz").await?;
        let check = [("check", Some("true".to_owned()))];
        let tools = all(client, &check, usize::MAX).await?;
        let toolsets = pages(client, "/api/v1/toolsets", &check, usize::MAX).await?;
        let latest = client.get("/api/v1/executions?limit=1").await?;
        let servers = client.get("/api/v1/servers").await?;
        let sources = super::sources::look(client).await?;
        let vectors = super::vectors::look(client).await?;
        let is_served = !matches!(client, Client::Local(_));
        if let Client::Local(server) = client {
            let log = &server.app.executor.log;
            log.flush()
                .await
                .map_err(|error| Failure::failed(format!("the log cannot be written: {error}")))?;
        }
        Ok((
            ready,
            tools,
            toolsets,
            latest,
            (servers, sources, vectors, is_served),
        ))
    })
    .await;
    let (ready, tools, toolsets, latest, (servers, sources, vectors, is_served)) = match asked {
        Ok(answers) => answers,
        Err(failure) => {
            let remedy = failure
                .hints
                .first()
                .cloned()
                .unwrap_or_else(|| "check the database and the data folder".to_owned());
            for error in failure.errors {
                findings.bad("server", error, remedy.clone());
            }
            return;
        }
    };
    findings.good(
        "database",
        format!(
            "{} answers, its schema is current; {} tools",
            text(&ready, "engine"),
            tools.len()
        ),
    );
    let newest = latest["items"][0]["started_at"]
        .as_str()
        .unwrap_or("none yet");
    findings.good("log", format!("answers; newest entry: {newest}"));
    let now = app::time::rfc3339(Clock::System.now());
    if newest.starts_with('2') && *newest > *now {
        findings.warning(
            "clock",
            "the newest log entry is in the future",
            "check that the clock was not set back",
        );
    }
    shelves(findings, &ready["files"], told);
    super::replicas::judge(findings, &ready["replicas"]);
    super::upstreams::judge(findings, &servers, is_served);
    super::sources::judge(findings, &sources);
    super::vectors::judge(findings, &vectors);
    troubles(findings, context, &tools);
    super::toolsets::troubles(findings, &toolsets);
    kinds(findings, &tools, config);
    whitelist(findings, &tools, config);
}

/// Tools that are stored and may not work.
fn troubles(findings: &mut Findings, context: &Context, tools: &[Value]) {
    let unreadable = super::scripts::faults(context, tools);
    for tool in tools {
        let name = text(tool, "name");
        let script = unreadable.iter().find(|(whose, _)| whose == name);
        let script = script.map(|(_, why)| why.as_str());
        if let Some(why) = tool["trouble"].as_str().or(script) {
            findings.warning(
                "tools",
                format!("'{name}' may not work as it is: {why}"),
                remedy(tool),
            );
        }
    }
}

fn remedy(tool: &Value) -> String {
    let name = text(tool, "name");
    if tool["shelf"] != "server" {
        return format!("mend it, or switch the tool off (`toolcrib tools disable {name}`)");
    }
    let server = text(&tool["config"], "server_name");
    format!(
        "`toolcrib servers show {server}` says how its server is; a rule of the policy, or \"deny\" of a toolset, keeps the tool from being called"
    )
}

/// What the server says of the files, but for what we have told of them ourselves.
fn shelves(findings: &mut Findings, files: &Value, told: &[String]) {
    let names = |member: &str| files[member].as_array().cloned().unwrap_or_default();
    for problem in names("tools_problems").iter().chain(&names("mcp_problems")) {
        if told.contains(&problem_line(problem)) {
            continue;
        }
        let remedy = text(problem, "remedy");
        let mut bare = problem.clone();
        bare["remedy"] = Value::Null;
        let message = format!(
            "the server runs on with the old files: {}",
            problem_line(&bare)
        );
        findings.bad("workspace", message.trim_end(), remedy);
    }
    for problem in names("mcp_warnings") {
        if !told.contains(&problem_line(&problem)) {
            let mut bare = problem.clone();
            bare["remedy"] = Value::Null;
            let message = problem_line(&bare);
            findings.warning("workspace", message.trim_end(), text(&problem, "remedy"));
        }
    }
    for name in names("shadowed") {
        let message =
            format!("the database tool {name} is out of use: tools.json has one of that name");
        findings.warning("tools", message, "rename or remove one of the two");
    }
    for stored in names("unreadable") {
        findings.bad(
            "tools",
            format!("a stored tool cannot be read: {stored}"),
            "restore a backup, or upgrade toolcrib",
        );
    }
}

/// What this machine can wall programs in with.
fn sandbox(findings: &mut Findings) {
    match process::sandbox::missing().as_slice() {
        [] => findings.good("sandbox", "programs can be walled in (Landlock, seccomp)"),
        missing => findings.warning(
            "sandbox",
            format!("this kernel has no {}", missing.join(" and no ")),
            "tools with sandbox \"require\" refuse to run here, and \"auto\" runs without walls: use a newer kernel",
        ),
    }
}

fn tests(findings: &mut Findings, tools: &[Value]) {
    for tool in tools {
        let failed = tool["tested"]["failed"].as_i64().unwrap_or_default();
        let name = text(tool, "name");
        if tool["tested"]["is_current"] == false {
            findings.warning(
                "tools",
                format!("'{name}' was changed after the tests saved with it last ran"),
                format!("`toolcrib tools test {name}` runs them again"),
            );
        } else if failed > 0 {
            findings.warning(
                "tools",
                format!("{failed} of the tests saved with '{name}' failed when they last ran"),
                format!("`toolcrib tools test {name}` runs them again"),
            );
        }
    }
}

fn kinds(findings: &mut Findings, tools: &[Value], config: Option<&Config>) {
    let fixtures = config.is_some_and(|config| config.yes("builtins.fixtures"));
    let conformance = config.is_some_and(|config| config.yes("mcp.conformance"));
    let options = kinds::Options {
        fixtures,
        conformance,
        ..kinds::Options::default()
    };
    let runnable = kinds::all(&options, None);
    let builtins = &runnable.builtins;
    let names = builtins
        .iter()
        .map(|tool| tool.definition.name.as_str())
        .collect();
    let runs = |kind: &str| {
        KindName::from_name(kind).is_some_and(|kind| runnable.kinds.get(kind).is_some())
    };
    for tool in tools.iter().filter(|tool| !runs(text(tool, "kind"))) {
        let message = format!(
            "'{}' is of kind {}, which this version cannot run",
            text(tool, "name"),
            text(tool, "kind")
        );
        findings.warning(
            "tools",
            message,
            "its calls answer not_configured; upgrade toolcrib, or disable it",
        );
    }
    builtin_names(findings, tools, names);
    tests(findings, tools);
}

/// A mistyped name of a builtin is found here and not when somebody calls the tool.
fn builtin_names<'a>(findings: &mut Findings, tools: &'a [Value], mut known: Vec<&'a str>) {
    // A server on another machine may have builtins that this program has not.
    let listed = tools.iter().filter(|tool| text(tool, "shelf") == "builtin");
    known.extend(listed.map(|tool| text(tool, "name")));
    known.sort_unstable();
    known.dedup();
    let builtin = |tool: &&Value| text(tool, "kind") == "builtin";
    for tool in tools.iter().filter(builtin) {
        let named = text(&tool["config"], "name");
        if known.contains(&named) {
            continue;
        }
        let message = format!(
            "'{}' names the builtin '{named}', which does not exist, so its calls answer not_configured",
            text(tool, "name")
        );
        let remedy = match nearest(named, known.iter().copied()) {
            Some(near) => format!("did you mean '{near}'? correct config.name"),
            None => format!("set config.name to one of {}", known.join(", ")),
        };
        findings.warning("tools", message, remedy);
    }
}

fn whitelist(findings: &mut Findings, tools: &[Value], config: Option<&Config>) {
    let Some(config) = config else { return };
    let names = config.names("policy.whitelist");
    for name in names
        .iter()
        .filter(|name| !tools.iter().any(|tool| text(tool, "name") == *name))
    {
        let message = format!("the whitelist names '{name}', but there is no such tool");
        findings.warning(
            "policy",
            message,
            "correct TOOL_WHITELIST or policy.whitelist",
        );
    }
    match (config.yes("policy.enforced"), names.is_empty()) {
        (true, true) => findings.warning(
            "policy",
            "enforced, but the whitelist is empty, which allows all tools",
            "set TOOL_WHITELIST",
        ),
        (false, false) => findings.warning(
            "policy",
            "there is a whitelist, but it is not enforced",
            "set FEATURE_TOOLS_POLICY=true",
        ),
        _ => {}
    }
}
