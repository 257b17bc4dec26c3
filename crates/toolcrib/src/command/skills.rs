//! `toolcrib skills`: instructions for kinds of work, in the workspace's folder of skills.

use super::findings::Findings;
use super::limits::show;
use super::tools::text;
use crate::cli::Skills;
use crate::client::{Client, encode, problem_line};
use crate::context::Context;
use crate::out::{Out, Result, printable};
use serde_json::Value;

const PATH: &str = "/api/v1/skills";

pub(crate) async fn run(context: &Context, command: Skills) -> Result {
    match command {
        Skills::List => list(context).await,
        Skills::Show { name } => show_one(context, &name).await,
    }
}

async fn list(context: &Context) -> Result {
    let out = &context.out;
    let page = Client::with(context, async |client| client.get(PATH).await).await?;
    let row = |_: &Out, it: &Value| {
        vec![
            text(it, "name").to_owned(),
            text(it, "description").to_owned(),
        ]
    };
    show(out, &page, &["name", "description"], row);
    for problem in page["problems"].as_array().into_iter().flatten() {
        out.warn(printable(&problem_line(problem)));
    }
    Ok(())
}

async fn show_one(context: &Context, name: &str) -> Result {
    let out = &context.out;
    let path = format!("{PATH}/{}", encode(name));
    let skill = Client::with(context, async |client| client.get(&path).await).await?;
    if out.json {
        out.value(&skill);
        return Ok(());
    }
    for line in text(&skill, "instructions").lines() {
        out.line(printable(line));
    }
    let names = |key: &str| {
        let all = skill[key].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    let missing = names("tools_missing");
    if !missing.is_empty() {
        out.warn(printable(&format!(
            "it speaks of tools that you cannot call: {missing}"
        )));
    }
    Ok(())
}

/// Files of skills that cannot be used.
pub(super) fn judge(findings: &mut Findings, files: &Value) {
    let problems = files["skills_problems"].as_array().into_iter().flatten();
    for problem in problems {
        let mut bare = problem.clone();
        bare["remedy"] = Value::Null;
        let message = format!("a skill cannot be used: {}", problem_line(&bare));
        findings.warning("skills.file", message.trim_end(), text(problem, "remedy"));
    }
}
