//! `toolcrib mcp`: MCP on stdin and stdout, for clients that start their servers themselves.

use super::toolset_there;
use crate::bridge::{self, Link, Lost};
use crate::cli::Mcp;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Result};
use crate::workspace::{Place, create_starter, is_workspace};
use catalog::names::Names;
use std::sync::Arc;
use tokio::sync::Mutex;

pub(crate) async fn run(context: &Context, args: Mcp) -> Result {
    let path = path(args.toolset.as_deref(), args.names);
    let link = match server_url(context)? {
        Some(url) => {
            if let Some(toolset) = &args.toolset {
                let ask = async |path: &str| toolset_there::at(context, url, path).await;
                toolset_there::check(context, toolset, ask).await?;
            }
            let key = context.global.key.as_deref();
            let key = key.or_else(|| context.environment.filled("TOOLCRIB_KEY"));
            if key.is_none() {
                let none = "no key is given: --key or TOOLCRIB_KEY has it, unless the server asks for none";
                context.out.say(none);
            }
            Link::Remote {
                fetcher: fetch::Fetcher::new(fetch::Options::default()),
                url: format!("{}{path}", url.trim_end_matches('/')),
                key: key.map(str::to_owned),
            }
        }
        None => {
            let place = context.place()?;
            settle(context, &place).await?;
            let config = context.config(&place, Vec::new())?;
            let _ = context.start_logging(&config, false);
            let local = bridge::Local {
                context: Arc::new(context.clone()),
                place,
                path,
                own: Mutex::default(),
            };
            // A workspace that cannot be served is told at once, not at the client's first request.
            local.connect().await.map_err(|lost| match lost {
                Lost::Unserved(_, cause) => Failure::new(cause, lost.to_string()),
                _ => Failure::failed(lost.to_string()),
            })?;
            let owner = Client::Socket(local.place.clone());
            let link = Link::Local(Box::new(local));
            if let Some(toolset) = &args.toolset {
                let ask = async |path: &str| toolset_there::by(&owner, path).await;
                if let Err(failure) = toolset_there::check(context, toolset, ask).await {
                    link.close().await;
                    return Err(failure);
                }
            }
            link
        }
    };
    bridge::run(link)
        .await
        .map_err(|error| Failure::failed(format!("stdin cannot be read: {error}")))
}

/// Sees to it that there is a workspace, and says which it is where nobody has named it.
async fn settle(context: &Context, place: &Place) -> Result {
    let shown = place.workspace.display();
    if place.is_default && !place.workspace.exists() {
        let made = create_starter(&place.workspace).await;
        made.map_err(|e| Failure::failed(format!("{shown}: {e}")))?;
        context
            .out
            .say(format!("made a starter workspace in {shown}"));
    } else if !place.is_default && !is_workspace(&place.workspace) {
        let why = match place.workspace.is_dir() {
            true => "it has no tools.json, no mcp.json and no toolcrib.toml",
            false => "there is no such folder",
        };
        let failure = Failure::configuration(vec![format!("{shown} is no workspace: {why}")]);
        return Err(failure
            .hint(format!("`toolcrib init {shown}` makes one there"))
            .hint("--workspace names another"));
    }
    if context.global.workspace.is_none() {
        // Whoever meant the folder that they started it in would look there in vain.
        let why = match place.is_default {
            true => ": this folder is none; --workspace names another",
            false => "",
        };
        context.out.say(format!("the workspace is {shown}{why}"));
    }
    Ok(())
}

/// Where a server has its MCP address, as this client wants it.
pub(super) fn path(toolset: Option<&str>, names: Option<Names>) -> String {
    let mut path = "/mcp".to_owned();
    if let Some(toolset) = toolset {
        path.push_str(&format!("/{}", encode(toolset)));
    }
    if let Some(names) = names {
        path.push_str(&format!("?names={}", names.as_str()));
    }
    path
}

/// The address of the server that is asked, if one is, and if it can be one.
pub(super) fn server_url(context: &Context) -> Result<Option<&str>> {
    let Some(url) = context.server_url() else {
        return Ok(None);
    };
    let wrong = |why: &str| {
        // It may hold a password, so it is not repeated.
        Err(Failure::usage(format!("the server's address: {why}"))
            .hint("write it as https://tools.example.com"))
    };
    let is_there = |uri: &hyper::Uri| uri.host().is_some_and(|host| !host.is_empty());
    let uri = match url.parse::<hyper::Uri>() {
        Ok(uri) if is_there(&uri) => uri,
        _ => return wrong("expected http:// or https:// and a host"),
    };
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return wrong("it must begin with http:// or https://");
    }
    if uri.authority().is_some_and(|it| it.as_str().contains('@')) {
        return wrong("it must hold no user and no password; the key is --key or TOOLCRIB_KEY");
    }
    if uri.query().is_some() || url.contains('#') {
        return wrong("it must end with its path, without ? and #");
    }
    Ok(Some(url))
}
