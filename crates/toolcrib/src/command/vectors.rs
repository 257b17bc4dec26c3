//! `toolcrib vectors`: collections of documents that are found by what they mean.

use super::limits::show;
use super::tools::text;
use crate::cli::{Destination, Vectors};
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Out, Result};
use app::vectors::read_lines;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;

const PATH: &str = "/api/v1/vectors";
/// A server takes 4 MiB in one request unless it is told otherwise.
const BATCH_BYTES_MAX: usize = 3 << 20;

pub(crate) async fn run(context: &Context, command: Vectors) -> Result {
    match command {
        Vectors::List => list(context).await,
        Vectors::Import { file, into } => import(context, &file, &into).await,
        Vectors::FromSchema { source, into } => {
            let body =
                json!({"source": source, "collection": into.collection, "space": into.space});
            let path = format!("{PATH}/from-schema");
            let ask = async |client: &Client| client.request("POST", &path, Some(body)).await?.ok();
            imported(&context.out, &Client::with(context, ask).await?);
            Ok(())
        }
        Vectors::Search {
            text,
            n,
            collection,
        } => search(context, &text, n, collection.as_deref()).await,
        Vectors::Remove { collection } => {
            let path = format!("{PATH}/collections/{}", encode(&collection));
            let ask = async |client: &Client| client.request("DELETE", &path, None).await?.ok();
            Client::with(context, ask).await?;
            if context.out.json {
                let removed = json!({"collection": collection, "removed": true});
                context.out.value(&removed);
            }
            context.out.done(format!("removed {collection}"));
            Ok(())
        }
    }
}

async fn list(context: &Context) -> Result {
    let page = Client::with(context, async |client| client.get(PATH).await).await?;
    let row = |_: &Out, it: &Value| {
        let number = |name: &str| {
            let number = it[name].as_u64();
            number.map_or_else(String::new, |number| number.to_string())
        };
        let cells = [
            text(it, "name").to_owned(),
            text(it, "space").to_owned(),
            number("dimension"),
            number("documents"),
        ];
        cells.to_vec()
    };
    let head = ["name", "space", "dimensions", "documents"];
    show(&context.out, &page, &head, row);
    Ok(())
}

async fn search(context: &Context, wanted: &str, n: u16, collection: Option<&str>) -> Result {
    let body = json!({"text": wanted, "n": n, "collection": collection});
    let path = format!("{PATH}/search");
    let ask = async |client: &Client| client.request("POST", &path, Some(body)).await?.ok();
    let page = Client::with(context, ask).await?;
    let row = |_: &Out, it: &Value| {
        let distance = it["distance"].as_f64().unwrap_or_default();
        let cells = [
            format!("{distance:.4}"),
            text(it, "id").to_owned(),
            text(it, "document").to_owned(),
        ];
        cells.to_vec()
    };
    show(&context.out, &page, &["distance", "id", "document"], row);
    Ok(())
}

/// All of the file is looked at before anything of it is sent, since it is sent in parts.
async fn import(context: &Context, file: &Path, into: &Destination) -> Result {
    let shown = file.display();
    let failed = |why: &dyn std::fmt::Display| Failure::failed(format!("{shown}: {why}"));
    let open = || {
        File::open(file)
            .map(BufReader::new)
            .map_err(|it| failed(&it))
    };
    let count = read_lines(open()?, &app::vectors::Limits::default())
        .map_err(|it| failed(&it))?
        .len();
    if count == 0 {
        return Err(failed(&"it holds no records")
            .hint("one object a line: {\"id\": \"users.email\", \"document\": \"users.email VARCHAR(255)\"}"));
    }
    let path = format!("{PATH}/import");
    let mut lines = open()?.lines();
    let ask = async |client: &Client| {
        let mut all = json!({"collection": null, "records": 0, "embedded": 0});
        while let Some(body) = batch(&mut lines, into).map_err(|it| failed(&it))? {
            let answer = client.send("POST", &path, Some(body.into_bytes())).await?;
            let done = answer.ok()?;
            all["collection"] = done["collection"].clone();
            for name in ["records", "embedded"] {
                let sum = all[name].as_u64().unwrap_or(0) + done[name].as_u64().unwrap_or(0);
                all[name] = sum.into();
            }
        }
        Ok(all)
    };
    imported(&context.out, &Client::with(context, ask).await?);
    Ok(())
}

/// The body of the next request, with as many lines as fit and at least one; none at the end of the file.
fn batch(
    lines: &mut Lines<BufReader<File>>,
    into: &Destination,
) -> std::io::Result<Option<String>> {
    let head = json!({"collection": into.collection, "space": into.space}).to_string();
    let mut body = head.trim_end_matches('}').to_owned() + ",\"records\":[";
    let empty = body.len();
    while body.len() < BATCH_BYTES_MAX {
        let Some(line) = lines.next() else { break };
        let line = line?;
        // A mark of the encoding may stand before the first line.
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            continue;
        }
        if body.len() > empty {
            body.push(',');
        }
        body.push_str(line);
    }
    Ok((body.len() > empty).then(|| body + "]}"))
}

fn imported(out: &Out, done: &Value) {
    if out.json {
        return out.value(done);
    }
    let name = text(done, "collection");
    let removed = match done["removed"].as_u64() {
        None | Some(0) => String::new(),
        Some(count) => format!("; removed {count}, whose columns are gone"),
    };
    out.done(format!(
        "stored {} documents in {name}, {} of them turned into vectors{removed}",
        done["records"], done["embedded"]
    ));
}
