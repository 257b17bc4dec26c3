//! Whether there is a toolset of a name: asked before a client is told of it, and before one is served through it.

use crate::bridge::{Link, Lost, Need};
use crate::client::{Client, encode};
use crate::config::nearest;
use crate::context::Context;
use crate::out::{Failure, Result};
use catalog::tool::is_valid_name;
use serde_json::Value;
use std::time::Duration;

/// How long a server may take to say whether it has a toolset.
const ASKED_WITHIN: Duration = Duration::from_secs(5);

const PATH: &str = "/api/v1/toolsets";

/// A status and a body, or why there is none.
type Asked = std::result::Result<(u16, Value), String>;

/// Refuses a name that nothing has. One that cannot be asked for is warned of: the server may only be down for now.
pub(super) async fn check(
    context: &Context,
    toolset: &str,
    ask: impl AsyncFn(&str) -> Asked,
) -> Result {
    if !is_valid_name(toolset) {
        return Err(none(toolset, None));
    }
    let asked = ask(&format!("{PATH}/{}", encode(toolset))).await;
    let why = match asked {
        Ok((200, _)) => return Ok(()),
        Ok((404, _)) => {
            let listed = ask(&format!("{PATH}?limit=500")).await;
            let page = listed.map(|(_, page)| page).unwrap_or_default();
            let items = page["items"].as_array().into_iter().flatten();
            let names = items.filter_map(|it| it["name"].as_str());
            return Err(none(toolset, nearest(toolset, names)));
        }
        Ok((status, _)) => format!("the server answers with status {status}"),
        Err(why) => why,
    };
    context.out.warn(format!(
        "whether there is a toolset '{toolset}' could not be checked: {why}"
    ));
    Ok(())
}

fn none(toolset: &str, near: Option<&str>) -> Failure {
    let meant = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
    Failure::usage(format!("--toolset: there is no toolset '{toolset}'{meant}"))
        .hint("`toolcrib toolsets list` names those that are there")
}

/// Asks whoever has the workspace.
pub(super) async fn by(client: &Client, path: &str) -> Asked {
    let answer = client.request("GET", path, None).await;
    answer
        .map(|answer| (answer.status, answer.value()))
        .map_err(|failure| failure.errors.join("; "))
}

/// Asks the server at an address.
pub(super) async fn at(context: &Context, url: &str, path: &str) -> Asked {
    let key = context.global.key.as_deref();
    let key = key.or_else(|| context.environment.filled("TOOLCRIB_KEY"));
    let link = Link::Remote {
        fetcher: fetch::Fetcher::new(fetch::Options::default()),
        url: format!("{}{path}", url.trim_end_matches('/')),
        key: key.map(str::to_owned),
    };
    let asked = async {
        let headers = Vec::new();
        let mut reply = link.send("GET", &headers, None, Need::Own).await?;
        let body = reply.whole().await?;
        Ok::<_, Lost>((reply.status, body))
    };
    match tokio::time::timeout(ASKED_WITHIN, asked).await {
        Ok(Ok((status, body))) => Ok((status, serde_json::from_str(&body).unwrap_or_default())),
        Ok(Err(lost)) => Err(lost.to_string()),
        Err(_) => Err("the server does not answer".to_owned()),
    }
}
