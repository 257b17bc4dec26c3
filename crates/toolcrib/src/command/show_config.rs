//! `toolcrib config show`: every value of this folder's files and environment, and where it came from. It is what
//! the next start takes; a server that runs has read its own before.

use crate::client::connect_owner;
use crate::config::{Config, FILE_NAME};
use crate::context::Context;
use crate::out::Result;
use serde_json::{Map, Value, json};

pub(crate) async fn run(context: &Context) -> Result {
    let place = context.place()?;
    let config = context.config(&place, Vec::new())?;
    let out = &context.out;
    let shown = |secret: bool, value: &toml::Value| {
        let hidden = secret && value.as_str().is_none_or(|text| !text.is_empty());
        if hidden {
            toml::Value::String("(hidden)".to_owned())
        } else {
            value.clone()
        }
    };
    let is_running = connect_owner(&place).await.is_ok();
    if out.json {
        let entries = config.settings().map(|(key, setting)| {
            let value = serde_json::to_value(shown(key.secret, &setting.value)).unwrap_or_default();
            (
                key.name.to_owned(),
                json!({"value": value, "from": setting.origin.to_string()}),
            )
        });
        let settings: Map<String, Value> = entries.collect();
        out.value(&json!({
            "workspace": place.workspace,
            "data": place.data,
            "admin_key": config.admin_key.is_some(),
            "secret_key": config.secret_key.is_some(),
            "in_force": "at the next start",
            "server_running": is_running,
            "settings": settings,
            "sources": sources(&config),
        }));
        return Ok(());
    }
    let mut rows = vec![
        vec![
            "workspace".to_owned(),
            place.workspace.display().to_string(),
            String::new(),
        ],
        vec![
            "data".to_owned(),
            place.data.display().to_string(),
            String::new(),
        ],
    ];
    let hidden = [
        ("TOOLCRIB_ADMIN_KEY", config.admin_key.is_some()),
        ("TOOLCRIB_SECRET_KEY", config.secret_key.is_some()),
    ];
    for (name, _) in hidden.iter().filter(|(_, is_set)| *is_set) {
        let cells = [*name, "(hidden)", "environment"];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    rows.extend(config.settings().map(|(key, setting)| {
        let value = shown(key.secret, &setting.value).to_string();
        vec![key.name.to_owned(), value, setting.origin.to_string()]
    }));
    for (name, source) in sources(&config) {
        let cell = |key: &str| source[key].as_str().unwrap_or_default().to_owned();
        rows.push(vec![format!("sources.{name}"), cell("kind"), cell("from")]);
    }
    out.table(&["key", "value", "from"], &rows);
    out.say(
        "This is what the files and the environment here say; a server takes it when it starts.",
    );
    if is_running {
        out.say(format!(
            "{} runs on this workspace with what it read when it started, which may be something else.",
            place.owner()
        ));
    }
    Ok(())
}

/// What kind of database each source is; `toolcrib sources show` has the rest.
fn sources(config: &Config) -> Map<String, Value> {
    let settings = config.sources();
    let file = settings.file.iter().map(|it| (it, FILE_NAME));
    let variables = settings.environment.iter();
    let variables = variables.map(|it| (&it.definition, "environment POSTGRESQL_DB_…"));
    // What stands in the file wins.
    let all = variables.chain(file);
    let shown = |(source, from): (&catalog::source::SourceDefinition, &str)| {
        let kind = source.kind.as_str();
        (source.name.clone(), json!({"kind": kind, "from": from}))
    };
    all.map(shown).collect()
}
