//! `toolcrib vectors`: collections of documents that are found by what they mean.

use super::findings::Findings;
use super::limits::show;
use super::tools::text;
use crate::cli::{Destination, Vectors};
use crate::client::{Answer, Client, encode, query};
use crate::context::Context;
use crate::out::{Document, Failure, Out, Result, printable};
use app::vectors::{Line, read_lines};
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufReader;
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
        Vectors::Remove {
            collection,
            source: Some(source),
        } => forget(context, &collection, &source).await,
        Vectors::Remove { collection, .. } => {
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

async fn forget(context: &Context, collection: &str, source: &str) -> Result {
    let query = query(&[("source", Some(source.to_owned()))]);
    let path = format!("{PATH}/collections/{}/documents{query}", encode(collection));
    let ask = async |client: &Client| client.request("DELETE", &path, None).await?.ok();
    let done = Client::with(context, ask).await?;
    if context.out.json {
        context.out.value(&done);
    }
    let documents = match done["removed"].as_u64().unwrap_or_default() {
        0 => "there were no documents".to_owned(),
        1 => "removed 1 document".to_owned(),
        count => format!("removed {count} documents"),
    };
    context
        .out
        .done(format!("{documents} of source '{source}' in {collection}"));
    Ok(())
}

/// Where documents may be left that were made of a source which is gone now.
pub(super) async fn left_of(context: &Context, source: &str) {
    let listed = Client::with(context, async |client| client.get(PATH).await).await;
    let Ok(page) = listed else { return };
    if page["items"].as_array().is_some_and(|it| !it.is_empty()) {
        let usual = text(&page, "collection");
        context.out.note(format!(
            "what `vectors from-schema {source}` may have made stays in its collection; `toolcrib vectors remove {usual} --source {source}` removes it"
        ));
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
    for it in page["items"].as_array().into_iter().flatten() {
        if let Some(cause) = it["cause"].as_str() {
            let warning = format!("'{}' could not be counted: {cause}", text(it, "name"));
            context.out.warn(printable(&warning));
        }
    }
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

/// All of the file is looked at before anything of it is sent, since it is sent in parts. It is read once: what comes
/// through a pipe cannot be read again.
async fn import(context: &Context, file: &Path, into: &Destination) -> Result {
    let shown = file.display();
    let failed = |why: &dyn std::fmt::Display| Failure::failed(format!("{shown}: {why}"));
    let input = File::open(file).map(BufReader::new);
    let input = input.map_err(|it| failed(&it))?;
    let lines = read_lines(input, &app::vectors::Limits::default()).map_err(|it| failed(&it))?;
    if lines.is_empty() {
        return Err(failed(&"it holds no records")
            .hint("one object a line: {\"id\": \"users.email\", \"document\": \"users.email VARCHAR(255)\"}"));
    }
    let path = format!("{PATH}/import");
    let ask = async |client: &Client| {
        let mut all = json!({"collection": null, "records": 0, "embedded": 0});
        let mut left = lines.as_slice();
        while !left.is_empty() {
            let body = batch(&mut left, into).map_err(|it| failed(&it))?;
            let sent = client.send("POST", &path, Some(body.into_bytes())).await;
            let done = sent.and_then(Answer::ok);
            let done = done.map_err(|failure| kept(failure, &all, lines.len()))?;
            all["collection"] = done["collection"].clone();
            for name in ["records", "embedded"] {
                let sum = all[name].as_u64().unwrap_or(0) + done[name].as_u64().unwrap_or(0);
                all[name] = sum.into();
            }
        }
        match all["records"] == lines.len() {
            true => Ok(all),
            false => Err(kept(failed(&"not all of it was stored"), &all, lines.len())),
        }
    };
    imported(&context.out, &Client::with(context, ask).await?);
    Ok(())
}

/// The body of the next request, with as many lines as fit and at least one.
fn batch(left: &mut &[Line], into: &Destination) -> serde_json::Result<String> {
    let head = json!({"collection": into.collection, "space": into.space}).to_string();
    let mut body = head.trim_end_matches('}').to_owned() + ",\"records\":[";
    let empty = body.len();
    while let Some((line, rest)) = left.split_first() {
        let line = serde_json::to_string(line)?;
        if body.len() > empty {
            if body.len() + line.len() > BATCH_BYTES_MAX {
                break;
            }
            body.push(',');
        }
        body.push_str(&line);
        *left = rest;
    }
    Ok(body + "]}")
}

/// A failure after which some of the documents are stored all the same.
fn kept(mut failure: Failure, done: &Value, count: usize) -> Failure {
    let stored = done["records"].as_u64().unwrap_or(0);
    if stored == 0 {
        return failure;
    }
    if let Document::Answer(answer) = &mut failure.document
        && let Some(details) = answer.pointer_mut("/error/details")
    {
        match details.as_object_mut() {
            Some(details) => _ = details.insert("stored".to_owned(), stored.into()),
            None => *details = json!({"stored": stored}),
        }
    }
    let name = text(done, "collection");
    failure.hint(format!(
        "{stored} of {count} documents are stored in {name} already; import the file again when this is mended, which changes those and adds the others"
    ))
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
    let count = |member: &str| done[member].as_u64().unwrap_or(0);
    let (records, made) = (count("records"), count("embedded"));
    let stored = match records {
        1 => "1 document".to_owned(),
        _ => format!("{records} documents"),
    };
    let whose = match made {
        0 => "with the vectors that came along".to_owned(),
        _ if made == records => "with vectors that the embeddings endpoint made".to_owned(),
        _ => format!(
            "{made} with vectors that the embeddings endpoint made, the others with those that came along"
        ),
    };
    out.done(format!("stored {stored} in {name}, {whose}{removed}"));
}

/// What a test of the endpoint and of the collection found, for `doctor`. Null of a server that knows no such test.
pub(super) async fn look(client: &Client) -> Result<Value> {
    let path = format!("{PATH}/test");
    let answer = client.request("POST", &path, None).await?;
    match answer.status {
        404 | 405 => Ok(Value::Null),
        _ => answer.ok(),
    }
}

/// An endpoint that does not work, or a collection that cannot be searched. Who has set up neither is told nothing.
pub(super) fn judge(findings: &mut Findings, tested: &Value) {
    let (endpoint, collection) = (&tested["embeddings"], &tested["collection"]);
    let (state, cause) = (text(endpoint, "state"), text(endpoint, "cause"));
    match state {
        "ready" => findings.good(
            "embeddings",
            format!(
                "the endpoint answers with vectors of {} dimensions",
                endpoint["dimension"]
            ),
        ),
        "unusable" => findings.warning(
            "embeddings.down",
            format!("texts cannot become vectors: {cause}"),
            "check TEXT_EMBEDDING_MODEL_URL, TEXT_EMBEDDING_MODEL_NAME and TOOLCRIB_VECTORS_EMBEDDINGS_KEY where the server runs, and whether the endpoint runs; until then get_sim_search and get_text_embedding fail, and tools are chosen by their words alone",
        ),
        _ => {}
    }
    let (name, cause) = (text(collection, "name"), text(collection, "cause"));
    let documents = collection["documents"].as_u64().unwrap_or(0);
    match (text(collection, "state"), state) {
        ("ready", "unset") => findings.warning(
            "vectors.no_endpoint",
            format!("the collection '{name}' cannot be searched: no embeddings endpoint is configured"),
            "set TEXT_EMBEDDING_MODEL_URL and TEXT_EMBEDDING_MODEL_NAME to the model that its vectors come from",
        ),
        ("ready", _) => findings.good(
            "vectors",
            format!("the collection '{name}' holds {documents} documents"),
        ),
        ("missing", "ready" | "unusable") => findings.warning(
            "vectors.no_collection",
            format!("there is no collection '{name}', so get_sim_search finds nothing"),
            "`toolcrib vectors import FILE` or `toolcrib vectors from-schema SOURCE` fills it, and CHROMADB_COLLECTION_NAME names another; where the endpoint only chooses tools, leave it",
        ),
        ("unfit", _) => findings.warning(
            "vectors.unfit",
            format!("the collection '{name}' cannot be searched: {cause}"),
            "name the model that its vectors come from (TEXT_EMBEDDING_MODEL_NAME), or remove the collection and import it again",
        ),
        ("unusable", _) => findings.warning(
            "vectors.down",
            format!("the collection '{name}' cannot be searched: {cause}"),
            match text(tested, "store") {
                "chromadb" => "check CHROMADB_HOST, CHROMADB_PORT and TOOLCRIB_VECTORS_CHROMADB_TOKEN where the server runs, and whether ChromaDB runs",
                _ => "put its file back from a backup, or remove the collection and import it again",
            },
        ),
        _ => {}
    }
}
