//! `toolcrib mcp`: MCP on stdin and stdout, for clients that start their servers themselves.

use crate::bridge::{self, Link};
use crate::cli::Mcp;
use crate::context::Context;
use crate::out::{Failure, Result};
use crate::workspace::create_starter;
use std::sync::Arc;
use tokio::sync::Mutex;

pub(crate) async fn run(context: &Context, args: Mcp) -> Result {
    let path = match &args.toolset {
        Some(name) => format!("/mcp/{name}"),
        None => "/mcp".to_owned(),
    };
    let link = match context.server_url() {
        Some(url) => {
            let key = context.global.key.as_deref();
            let key = key.or_else(|| context.environment.filled("TOOLCRIB_KEY"));
            Link::Remote {
                fetcher: fetch::Fetcher::new(fetch::Options::default()),
                url: format!("{}{path}", url.trim_end_matches('/')),
                key: key.map(str::to_owned),
            }
        }
        None => {
            let place = context.place()?;
            if place.is_default && !place.workspace.exists() {
                create_starter(&place.workspace)
                    .map_err(|e| Failure::failed(format!("{}: {e}", place.workspace.display())))?;
            }
            let config = context.config(&place, Vec::new())?;
            context.start_logging(&config, false);
            let local = bridge::Local {
                context: Arc::new(context.clone()),
                place,
                path,
                own: Mutex::default(),
            };
            // A workspace that cannot be served is told at once, not at the client's first request.
            local
                .connect()
                .await
                .map_err(|lost| Failure::failed(lost.to_string()))?;
            Link::Local(Box::new(local))
        }
    };
    bridge::run(link)
        .await
        .map_err(|error| Failure::failed(format!("stdin cannot be read: {error}")))
}
