//! `toolcrib agents`: models with their instructions and the tools they may use, for `toolcrib run --agent`.

use super::kept::Kept;
use super::tools::{show, text};
use crate::cli::Agents;
use crate::client::Client;
use crate::context::Context;
use crate::out::{Out, Result};
use serde_json::Value;

const KEPT: Kept = Kept { sort: "agents" };

pub(crate) async fn run(context: &Context, command: Agents) -> Result {
    let out = &context.out;
    match command {
        Agents::List => list(context).await,
        Agents::Show { name } => {
            let mut agent = KEPT.get(context, &name).await?;
            if !out.json {
                agent["tools"] = named(context, &agent["tools"]).await?;
            }
            show(out, &agent);
            Ok(())
        }
        Agents::Create { definition } => {
            told(out, &KEPT.add(context, &definition).await?, "created");
            Ok(())
        }
        Agents::Update {
            name,
            definition,
            patch,
        } => {
            let agent = KEPT.update(context, &name, &definition, patch).await?;
            told(out, &agent, "updated");
            Ok(())
        }
        Agents::Delete { name } => KEPT.remove(context, &name).await,
        Agents::Restore { name } => {
            told(out, &KEPT.restore(context, &name).await?, "restored");
            Ok(())
        }
    }
}

/// Tools by the names that people know them by; of those that are not there, or not to be seen, the id stays.
async fn named(context: &Context, ids: &Value) -> Result<Value> {
    let ask = async |client: &Client| {
        let mut names = Vec::new();
        for id in ids.as_array().into_iter().flatten() {
            let place = format!("/api/v1/tools/{}", id.as_str().unwrap_or_default());
            let said = client.request("GET", &place, None).await?;
            names.push(match said.is_success() {
                true => said.ok()?["name"].clone(),
                false => id.clone(),
            });
        }
        Ok(Value::Array(names))
    };
    Client::with(context, ask).await
}

fn told(out: &Out, agent: &Value, done: &str) {
    if out.json {
        return out.value(agent);
    }
    let (name, model) = (text(agent, "name"), model(agent));
    out.done(format!(
        "{done} {name} (version {}), which asks {model}",
        agent["version"]
    ));
    for missing in agent["tools_missing"].as_array().into_iter().flatten() {
        let missing = missing.as_str().unwrap_or_default();
        out.done(format!("its tool {missing} is not there"));
    }
}

fn model(agent: &Value) -> String {
    let (provider, name) = (text(agent, "model_provider"), text(agent, "model_name"));
    format!("{provider}/{name}")
}

async fn list(context: &Context) -> Result {
    let row = |agent: &Value| {
        let tools = agent["tools"].as_array().map_or(0, Vec::len);
        let cells = [
            text(agent, "name").to_owned(),
            text(agent, "owner").to_owned(),
            model(agent),
            match tools {
                0 => "every tool".to_owned(),
                1 => "1 tool".to_owned(),
                more => format!("{more} tools"),
            },
            match agent["is_active"] == true {
                true => "active".to_owned(),
                false => "off".to_owned(),
            },
            text(agent, "description").to_owned(),
        ];
        cells.to_vec()
    };
    let header = ["name", "owner", "model", "holds", "state", "description"];
    KEPT.list(context, &header, row).await
}
