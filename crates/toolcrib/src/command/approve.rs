//! `toolcrib servers approve`: by the hashes that somebody has seen, or after showing them on a terminal.

use super::servers::{changes, path};
use super::tools::text;
use crate::client::Client;
use crate::context::Context;
use crate::out::{Failure, Result};
use serde_json::{Value, json};
use std::io::{IsTerminal, stdin};

pub(crate) async fn approve(context: &Context, name: &str, tools: &[String]) -> Result {
    let named = named(name, tools)?;
    let out = &context.out;
    if named.is_empty() && (out.json || !out.terminal || !stdin().is_terminal()) {
        let why = "the definitions to approve must be named, as TOOL=HASH: nobody can be asked here, because stdin or stdout is no terminal";
        return Err(Failure::usage(why).hint(format!(
            "`toolcrib servers changes {name}` prints each as TOOL=HASH; read it, then `toolcrib servers approve {name} TOOL=HASH …`"
        )));
    }
    let (changes_path, approve_path) = (
        format!("{}/changes", path(name)),
        format!("{}/approve", path(name)),
    );
    let done = Client::with(context, async |client| {
        let asked = match named.is_empty() {
            true => {
                let page = client.get(&changes_path).await?;
                changes(out, &page);
                confirmed(context, &page)?
            }
            false => named,
        };
        if asked.is_empty() {
            return Ok(None);
        }
        let body = json!({"tools": asked});
        let sent = client.request("POST", &approve_path, Some(body)).await?;
        Ok(Some((asked, sent.ok()?)))
    })
    .await?;
    let Some((approved, left)) = done else {
        out.done("nothing was approved");
        return Ok(());
    };
    if out.json {
        out.value(&json!({"approved": approved, "left": left["items"]}));
        return Ok(());
    }
    out.done(match approved.len() {
        1 => format!("approved 1 definition of {name}"),
        more => format!("approved {more} definitions of {name}"),
    });
    Ok(())
}

/// What stands on the command line. The name of a tool may have any letter in it, its hash has no `=`.
fn named(name: &str, tools: &[String]) -> Result<Vec<Value>> {
    let read = |given: &String| {
        let pair = given.rsplit_once('=');
        let pair = pair.filter(|(tool, hash)| !tool.is_empty() && !hash.is_empty());
        let (tool, hash) = pair.ok_or_else(|| {
            Failure::usage(format!("'{given}' is no TOOL=HASH")).hint(format!(
                "`toolcrib servers changes {name}` prints what to write here"
            ))
        })?;
        Ok(json!({"name": tool, "hash": hash}))
    };
    tools.iter().map(read).collect()
}

/// What somebody agrees to who has it before their eyes: those very definitions, by their hashes.
fn confirmed(context: &Context, page: &Value) -> Result<Vec<Value>> {
    let shown = page["items"].as_array().cloned().unwrap_or_default();
    if shown.is_empty() {
        return Ok(Vec::new());
    }
    context
        .out
        .say("approve what is shown above? Write yes or no:");
    let mut line = String::new();
    let read = stdin().read_line(&mut line);
    read.map_err(|error| Failure::failed(format!("stdin cannot be read: {error}")))?;
    if !["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str()) {
        return Ok(Vec::new());
    }
    let asked = shown
        .iter()
        .map(|it| json!({"name": text(it, "tool"), "hash": it["hash"]}));
    Ok(asked.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_named_by_its_hash() {
        let given = ["echo=ab12".to_owned(), "a=b=cd".to_owned()];
        let read = named("s", &given).unwrap();
        assert_eq!(read[0], json!({"name": "echo", "hash": "ab12"}));
        assert_eq!(read[1], json!({"name": "a=b", "hash": "cd"}));
        for bad in ["echo", "=ab", "echo="] {
            assert!(named("s", &[bad.to_owned()]).is_err(), "{bad}");
        }
    }
}
