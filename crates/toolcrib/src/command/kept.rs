//! What is kept by name and brought back by name, as toolsets and agents are: the steps that their commands have in common.

use super::definition::{How, send, with_name};
use super::input::Input;
use super::tools::pages;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::Result;
use serde_json::{Value, json};

/// One sort of them.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    /// As the command is called, and its part of the address.
    pub(super) sort: &'static str,
}

impl Kept {
    fn all(self) -> String {
        format!("/api/v1/{}", self.sort)
    }

    fn one(self, name: &str) -> String {
        format!("{}/{}", self.all(), encode(name))
    }

    pub(super) async fn get(self, context: &Context, name: &str) -> Result<Value> {
        let path = self.one(name);
        Client::with(context, async |client: &Client| client.get(&path).await).await
    }

    pub(super) async fn add(self, context: &Context, definition: &str) -> Result<Value> {
        let input = Input::definition(definition)?;
        send(context, How::Create, &self.all(), &input).await
    }

    pub(super) async fn update(
        self,
        context: &Context,
        name: &str,
        definition: &str,
        is_patch: bool,
    ) -> Result<Value> {
        let how = if is_patch { How::Patch } else { How::Replace };
        let mut input = Input::definition(definition)?;
        if !is_patch {
            input = with_name(input, name);
        }
        send(context, how, &self.one(name), &input).await
    }

    pub(super) async fn remove(self, context: &Context, name: &str) -> Result {
        let path = self.one(name);
        let ask = async |client: &Client| client.request("DELETE", &path, None).await?.ok();
        Client::with(context, ask).await?;
        let out = &context.out;
        if out.json {
            out.value(&json!({"name": name, "removed": true}));
        }
        let sort = self.sort;
        out.done(format!(
            "removed {name}; `toolcrib {sort} restore {name}` brings it back"
        ));
        Ok(())
    }

    pub(super) async fn restore(self, context: &Context, name: &str) -> Result<Value> {
        let path = format!("{}/restore", self.one(name));
        let ask = async |client: &Client| client.request("POST", &path, None).await?.ok();
        Client::with(context, ask).await
    }

    /// All of them, a line for each.
    pub(super) async fn list(
        self,
        context: &Context,
        header: &[&str],
        row: impl Fn(&Value) -> Vec<String>,
    ) -> Result {
        let path = self.all();
        let ask = async |client: &Client| pages(client, &path, &[], usize::MAX).await;
        let items = Client::with(context, ask).await?;
        let out = &context.out;
        if out.json {
            out.value(&json!({"items": items, "next_cursor": null}));
            return Ok(());
        }
        let rows: Vec<Vec<String>> = items.iter().map(row).collect();
        out.table(header, &rows);
        Ok(())
    }
}
