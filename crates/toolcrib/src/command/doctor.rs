//! `toolcrib doctor`: what is wrong with this installation and how to mend it. Works beside a running server, which it asks
//! through its socket, and without one, on a copy of the data. It changes nothing, and no check can hang.

use super::findings::{Findings, report};
use super::machine::{self, Owner};
use super::network;
use super::tools::{all, pages, text, whole};
use crate::client::{Client, problem_line};
use crate::config::{Config, nearest};
use crate::context::Context;
use crate::out::{Failure, Result};
use crate::workspace::{NO_WORKSPACE_HERE, Place, is_workspace};
use app::sealing_keys::KeySource;
use app::shelf::{FileShelf, MCP_FILE, check_tools, read_file};
use catalog::clock::Clock;
use catalog::mcp_file::read_servers;
use catalog::problem::Problem;
use catalog::tool::KindName;
use serde_json::Value;
use std::time::Duration;

/// How long one question to the server may take; it bounds itself what it asks of others.
const ASK_MAX: Duration = Duration::from_secs(20);
/// Where programs are looked for by those who are told nothing.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// An entry that was made while we ask is not in the future.
const LATE_MS: i64 = 60_000;

pub(crate) async fn run(context: &Context) -> Result {
    let mut findings = Findings::default();
    machine::clock(&mut findings);
    if let Some(url) = context.server_url() {
        findings.good("server", format!("asked at {url}"));
        let asked = Client::with(context, gather).await;
        told(&mut findings, context, asked, &Known::default());
        return report(context, &findings);
    }
    match context.place() {
        Ok(place) => workspace(&mut findings, context, &place).await,
        Err(failure) => failed(&mut findings, "workspace.none", failure),
    }
    report(context, &findings)
}

/// What is known before anybody is asked.
#[derive(Default)]
struct Known {
    config: Option<Config>,
    /// What is wrong with the files, in full.
    told: Vec<String>,
    /// Tools that are stored where they are not seen, and what the names of upstream tools begin with.
    stored: Vec<String>,
    servers: Vec<String>,
}

async fn workspace(findings: &mut Findings, context: &Context, place: &Place) {
    let mut known = Known {
        config: configuration(findings, context, place),
        ..Known::default()
    };
    files(findings, place, &mut known);
    machine::data_folder(findings, place);
    machine::sandbox(findings);
    let owner = machine::owner(findings, place).await;
    let is_served = owner == Owner::Answers;
    if let Some(config) = &known.config {
        network::exposure(findings, config);
        network::secrets(findings, config);
        network::provider(findings, config).await;
        network::collector(findings, config).await;
        if !is_served {
            network::port(findings, config);
            machine::open_files(findings, config);
            let path = context.environment.filled("PATH").unwrap_or(USUAL_PATH);
            super::upstreams::programs(findings, place, path);
        }
        let sealing = KeySource {
            text: config.secret_key.clone(),
            file: context.key_file(place, config),
        };
        let stored = super::database::look(findings, config, &sealing).await;
        known.stored = stored.unwrap_or_default();
    }
    if is_served {
        let asked = Client::with(context, gather).await;
        return told(findings, context, asked, &known);
    }
    let can_open = owner == Owner::Nobody && !findings.has_bad();
    let Some(config) = known.config.as_ref().filter(|_| can_open) else {
        return findings.skipped("server", "not asked, because of the above");
    };
    match super::apart::with(context, place, config, gather).await {
        Ok(answers) => told(findings, context, Ok(answers), &known),
        Err(fault) => failed(findings, fault.id, fault.failure),
    }
}

/// Each error of a failure is a finding, with the first hint as its remedy.
fn failed(findings: &mut Findings, id: &'static str, failure: Failure) {
    let remedy = failure.hints.first().cloned();
    let remedy = remedy.unwrap_or_else(|| "check the database and the data folder".to_owned());
    for error in failure.errors {
        findings.bad(id, error, remedy.clone());
    }
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
                let id = if error.contains("unknown key '") {
                    "configuration.key"
                } else if error.starts_with("environment: unknown variable") {
                    "configuration.variable"
                } else if error.contains(": cannot be read: ") {
                    "configuration.unreadable"
                } else {
                    "configuration.value"
                };
                findings.bad(id, error, remedy);
            }
            None
        }
    }
}

/// Looks at the files of the workspace.
fn files(findings: &mut Findings, place: &Place, known: &mut Known) {
    let shown = place.workspace.display();
    if !is_workspace(&place.workspace) {
        let message = format!("{shown} is no workspace: it has no tools.json and no mcp.json");
        let remedy = match place.is_default {
            true => format!("{NO_WORKSPACE_HERE}; --workspace names another"),
            false => format!("`toolcrib init {shown}` makes one there; --workspace names another"),
        };
        return findings.bad("workspace.none", message, remedy);
    }
    if place.is_default {
        findings.warning(
            "workspace.elsewhere",
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
    let (tools, servers) = (tools.err().unwrap_or_default(), servers);
    let (file, bad) = match servers {
        Ok(file) => (Some(file), Vec::new()),
        Err(bad) => (None, bad),
    };
    let warnings = file.as_ref().map(|file| file.warnings.clone());
    let warnings = warnings.unwrap_or_default();
    let names = file.into_iter().flat_map(|file| file.written.into_keys());
    known.servers = names.collect();
    if tools.is_empty() && bad.is_empty() && warnings.is_empty() {
        let message = format!("{shown}: tools.json and mcp.json are valid");
        findings.good("workspace", message);
    }
    let all = tools.iter().chain(&bad).chain(&warnings);
    known.told = all.map(ToString::to_string).collect();
    for (message, remedy) in tools.into_iter().map(parted) {
        findings.bad("workspace.tools", message, remedy);
    }
    for (message, remedy) in bad.into_iter().map(parted) {
        findings.bad("workspace.mcp", message, remedy);
    }
    for (message, remedy) in warnings.into_iter().map(parted) {
        findings.warning("workspace.mcp_oddity", message, remedy);
    }
}

/// A problem without its remedy, and the remedy.
fn parted(mut problem: Problem) -> (String, String) {
    let remedy = std::mem::take(&mut problem.remedy);
    (problem.to_string().trim_end().to_owned(), remedy)
}

/// What only the one who has the workspace open can tell.
struct Answers {
    ready: Value,
    reached: super::replicas::Reached,
    tools: Vec<Value>,
    toolsets: Vec<Value>,
    policy: Value,
    latest: Value,
    servers: Value,
    sources: Vec<(Value, Value)>,
    vectors: Value,
    keys: Vec<Value>,
    is_served: bool,
}

async fn gather(client: &Client) -> Result<Answers> {
    let check = [("check", Some("true".to_owned()))];
    let ready = in_time("whether it is ready", client.get("/readyz")).await?;
    Ok(Answers {
        reached: super::replicas::look(client, &ready["replicas"]).await,
        ready,
        tools: in_time("for its tools", all(client, &check, usize::MAX)).await?,
        policy: in_time("for its policy", client.get("/api/v1/policy")).await?,
        toolsets: in_time(
            "for its toolsets",
            pages(client, "/api/v1/toolsets", &check, usize::MAX),
        )
        .await?,
        latest: in_time("for its log", client.get("/api/v1/executions?limit=1")).await?,
        servers: in_time("for its MCP servers", whole(client, "/api/v1/servers")).await?,
        sources: super::sources::look(client).await?,
        vectors: in_time("for its vectors", super::vectors::look(client)).await?,
        // Not everybody who may ask the rest may see them.
        keys: in_time(
            "for its keys",
            pages(client, "/api/v1/keys", &[], usize::MAX),
        )
        .await
        .unwrap_or_default(),
        is_served: !matches!(client, Client::Local(_)),
    })
}

/// No question waits for ever.
async fn in_time<T>(what: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(ASK_MAX, work).await {
        Ok(done) => done,
        Err(_) => Err(Failure::failed(format!(
            "the server was asked {what} and did not answer within {} s",
            ASK_MAX.as_secs()
        ))
        .hint("look at its log and at what it waits for; start it again if it hangs")),
    }
}

fn told(findings: &mut Findings, context: &Context, asked: Result<Answers>, known: &Known) {
    let answers = match asked {
        Ok(answers) => answers,
        Err(failure) => return failed(findings, "server.answer", failure),
    };
    let (config, tools) = (known.config.as_ref(), &answers.tools);
    let is_elsewhere = !answers.is_served && config.is_some_and(|it| it.database_url().is_some());
    if !is_elsewhere {
        let engine = text(&answers.ready, "engine");
        findings.good(
            "database",
            format!(
                "{engine} answers, its schema is current; {} tools",
                tools.len()
            ),
        );
    }
    let newest = answers.latest["items"][0]["started_at"].as_str();
    if answers.is_served {
        let shown = newest.unwrap_or("none yet");
        findings.good("log", format!("answers; newest entry: {shown}"));
    }
    if newest.is_some_and(|newest| *newest > *app::time::rfc3339(Clock::System.now() + LATE_MS)) {
        findings.warning(
            "clock.set_back",
            "the newest log entry is in the future",
            "check that the clock was not set back",
        );
    }
    let log = &answers.ready["log"];
    if log["exceeded"] == true {
        findings.warning(
            "log.room",
            format!(
                "today alone takes {} bytes of the execution log and more than it may ({}), so every other day was deleted",
                log["bytes"], log["bytes_max"]
            ),
            "allow more with log.retention_megabytes, or have less logged with log.entry_bytes_max",
        );
    }
    shelves(findings, &answers.ready["files"], &known.told);
    super::skills::judge(findings, &answers.ready["files"]);
    super::replicas::judge(findings, &answers.ready["replicas"], &answers.reached);
    super::upstreams::judge(findings, &answers.servers, answers.is_served);
    super::sources::judge(findings, &answers.sources);
    super::vectors::judge(findings, &answers.vectors);
    super::scripts::interpreter(findings, context, tools);
    troubles(findings, context, tools);
    super::toolsets::troubles(findings, &answers.toolsets);
    super::keys::judge(findings, &answers.keys);
    kinds(findings, tools, config);
    whitelist(findings, tools, known);
    rules(findings, &answers.policy);
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
                "tools.trouble",
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
        findings.bad("workspace.old_files", message.trim_end(), remedy);
    }
    for problem in names("mcp_warnings") {
        if !told.contains(&problem_line(&problem)) {
            let mut bare = problem.clone();
            bare["remedy"] = Value::Null;
            let message = problem_line(&bare);
            findings.warning(
                "workspace.mcp_oddity",
                message.trim_end(),
                text(&problem, "remedy"),
            );
        }
    }
    for name in names("shadowed") {
        let message =
            format!("the database tool {name} is out of use: tools.json has one of that name");
        findings.warning("tools.shadowed", message, "rename or remove one of the two");
    }
    for stored in names("unreadable") {
        findings.bad(
            "tools.unreadable",
            format!("a stored tool cannot be read: {stored}"),
            "restore a backup, or upgrade toolcrib",
        );
    }
}

fn tests(findings: &mut Findings, tools: &[Value]) {
    for tool in tools {
        let failed = tool["tested"]["failed"].as_i64().unwrap_or_default();
        let name = text(tool, "name");
        if tool["tested"]["is_current"] == false {
            findings.warning(
                "tools.untested",
                format!("'{name}' was changed after the tests saved with it last ran"),
                format!("`toolcrib tools test {name}` runs them again"),
            );
        } else if failed > 0 {
            findings.warning(
                "tools.tests_failed",
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
            "tools.kind",
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
        findings.warning("tools.builtin", message, remedy);
    }
}

fn rules(findings: &mut Findings, policy: &Value) {
    let warnings = policy["warnings"].as_array().into_iter().flatten();
    for warning in warnings.filter_map(Value::as_str) {
        let message = format!("the policy's {warning}, so it does nothing");
        let remedy = "correct the name with `toolcrib policy set`";
        findings.warning("policy.unknown_tool", message, remedy);
    }
}

fn whitelist(findings: &mut Findings, tools: &[Value], known: &Known) {
    let Some(config) = &known.config else { return };
    let names = config.names("policy.whitelist");
    // Tools of upstream servers are known once those were connected.
    let is_upstream = |name: &str| {
        let server = name.split_once('.').or_else(|| name.split_once("__"));
        server.is_some_and(|(server, _)| known.servers.iter().any(|it| it == server))
    };
    let is_there = |name: &str| {
        let listed = tools.iter().any(|tool| text(tool, "name") == name);
        listed || known.stored.iter().any(|it| it == name)
    };
    for name in names
        .iter()
        .filter(|name| !is_there(name) && !is_upstream(name))
    {
        let message = format!("the whitelist names '{name}', but there is no such tool");
        findings.warning(
            "policy.unknown_tool",
            message,
            "correct TOOL_WHITELIST or policy.whitelist",
        );
    }
    match (config.yes("policy.enforced"), names.is_empty()) {
        (true, true) => findings.warning(
            "policy.empty",
            "enforced, but the whitelist is empty, which allows all tools",
            "set TOOL_WHITELIST",
        ),
        (false, false) => findings.warning(
            "policy.not_enforced",
            "there is a whitelist, but it is not enforced",
            "set FEATURE_TOOLS_POLICY=true",
        ),
        _ => {}
    }
}
