//! `toolcrib servers`: the upstream MCP servers, how they are doing and what they offer.

use super::limits::show;
use super::tools::text;
use crate::cli::Servers;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Out, Result};
use serde_json::Value;

const PATH: &str = "/api/v1/servers";

pub(crate) async fn run(context: &Context, command: Servers) -> Result {
    match command {
        Servers::List => list(context).await,
        Servers::Show { name } => {
            let path = format!("{PATH}/{}", encode(&name));
            let server = Client::with(context, async |client| client.get(&path).await).await?;
            context.out.value(&server);
            Ok(())
        }
        Servers::Tools { name } => offers(context, &name, "tools").await,
        Servers::Resources { name } => offers(context, &name, "resources").await,
        Servers::Prompts { name } => offers(context, &name, "prompts").await,
        Servers::SignIn { name } => super::sign_in::sign_in(context, &name).await,
        Servers::SignOut { name } => super::sign_in::sign_out(context, &name).await,
        Servers::Reconnect { name } => {
            let path = format!("{PATH}/{}/reconnect", encode(&name));
            let ask = async |client: &Client| client.request("POST", &path, None).await?.ok();
            let server = Client::with(context, ask).await?;
            if context.out.json {
                context.out.value(&server);
            }
            context.out.note(format!("reconnecting to {name}"));
            Ok(())
        }
    }
}

async fn list(context: &Context) -> Result {
    let page = Client::with(context, async |client| client.get(PATH).await).await?;
    let row = |_: &Out, server: &Value| {
        vec![
            text(server, "name").to_owned(),
            text(server, "transport").to_owned(),
            text(server, "state").to_owned(),
            text(server, "era").to_owned(),
            server["tools"].to_string(),
            text(server, "cause").to_owned(),
        ]
    };
    let head = ["name", "transport", "state", "era", "tools", "cause"];
    show(&context.out, &page, &head, row);
    Ok(())
}

async fn offers(context: &Context, name: &str, what: &str) -> Result {
    let path = format!("{PATH}/{}/{what}", encode(name));
    let page = Client::with(context, async |client| client.get(&path).await).await?;
    let row = |_: &Out, item: &Value| {
        let called = ["uri", "uriTemplate", "name"];
        let called = called.iter().find_map(|key| item[*key].as_str());
        let about = text(item, "description").lines().next().unwrap_or_default();
        vec![called.unwrap_or_default().to_owned(), about.to_owned()]
    };
    show(&context.out, &page, &["name", "description"], row);
    Ok(())
}
