//! A short command has nobody behind it who keeps upstream servers connected. It connects the one that its tool is of.

use crate::App;
use crate::error::{Error, Result};
use crate::upstreams::heard;
use catalog::mcp_file::ServerConfig;
use catalog::names::PlainName;
use catalog::tool::KindName;
use mcp::upstream::{Notice, State, Status, Upstream};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// How long a server may take to connect and to tell its tools.
const WITHIN: Duration = Duration::from_secs(60);

impl App {
    /// Connects the server that this tool is of, if it is of one. Does nothing where servers are followed: there each
    /// is connected already.
    pub async fn reach_upstream(&self, tool: &str) -> Result<()> {
        let Some(config) = self.server_of(tool) else {
            return Ok(());
        };
        let unheard = &self.unheard;
        let notices = unheard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(mut notices) = notices else {
            return Ok(());
        };
        self.start_server(config.clone()).await;
        let Some(server) = self.upstreams.get(&config.name) else {
            return Ok(());
        };
        let told = tokio::time::timeout(WITHIN, self.hear_tools(&server, &mut notices));
        match told.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(Error::Unavailable(why)),
            Err(_) => Err(Error::Unavailable(format!(
                "MCP server '{}' was not connected within {} s",
                server.name(),
                WITHIN.as_secs()
            ))),
        }
    }

    /// The server of a tool `server.tool` or `server__tool`, or of one of ours that stands for such a tool.
    fn server_of(&self, tool: &str) -> Option<ServerConfig> {
        let catalogue = self.executor.catalogue.load();
        let known = catalogue.find(tool);
        let own = known.map(|entry| &entry.tool.definition);
        let own = own.filter(|definition| definition.kind == KindName::Mcp);
        let named = own.and_then(|definition| definition.config.get("server_name")?.as_str());
        let file = Arc::clone(&self.servers.borrow());
        let is_meant = |server: &ServerConfig| match named {
            Some(named) => server.name == named,
            None => {
                let rest = tool.strip_prefix(&server.name);
                let is_plain = known.is_none() && PlainName::may_be_of(&server.name, tool);
                is_plain || rest.is_some_and(|rest| rest.starts_with('.'))
            }
        };
        self.configs(&file).into_iter().find(is_meant)
    }

    /// Until its tools are in the catalogue, or why they will not be.
    async fn hear_tools(
        &self,
        server: &Upstream,
        notices: &mut UnboundedReceiver<Notice>,
    ) -> std::result::Result<(), String> {
        while let Some(notice) = notices.recv().await {
            heard(&self.me, notice).await;
            let Status { state, cause, .. } = server.status();
            match state {
                State::Connected | State::Degraded => return Ok(()),
                State::Starting => {}
                // It would be tried again, but whoever waits here wants to know.
                _ => {
                    let why = cause.unwrap_or_else(|| state.as_str().to_owned());
                    return Err(format!("MCP server '{}': {why}", server.name()));
                }
            }
        }
        Ok(())
    }
}
