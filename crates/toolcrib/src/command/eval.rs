//! `toolcrib eval`: how often the right tool is chosen for requests of which that is known, and what is better or worse
//! than when it was last asked.

mod before;

use crate::cli::Eval;
use crate::client::{Client, encode};
use crate::context::Context;
use crate::out::{Failure, Out, Result, printable};
use app::eval::{Chosen, Given, Pool, Report, Row, Share, read_rows};
use before::{Before, Changed};
use selection::Outcome;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// So many mistakes are shown to people.
const CONFUSIONS: usize = 12;

pub(crate) async fn run(context: &Context, asked: Eval) -> Result {
    let rows = read(&asked.file)?;
    let chosen = choose(context, &rows).await?;
    let report = Report::new(rows.iter().zip(&chosen));
    let right: Vec<bool> = rows
        .iter()
        .zip(&chosen)
        .map(|(row, it)| row.is_right(it))
        .collect();
    let queries = rows.iter().map(|row| row.query.as_str());
    let before = Before::of(context, &asked.file);
    let changed = before
        .as_ref()
        .and_then(|it| it.changed(queries.clone().zip(&right)));
    if let Some(before) = &before {
        before.keep(report.accuracy, queries.zip(&right));
    }
    tell(
        &context.out,
        &report,
        changed.as_ref(),
        asked.failures.then_some((&rows, &chosen)),
    );
    match asked.min.filter(|min| report.accuracy * 100.0 < *min) {
        None => Ok(()),
        Some(min) => Err(Failure::failed(format!(
            "{:.1} % are right, and at least {min} % should be",
            report.accuracy * 100.0
        ))),
    }
}

fn read(file: &Path) -> Result<Vec<Row>> {
    let shown = file.display();
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| Failure::failed(format!("{shown}: {error}")))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    read_rows(&text, folder).map_err(|faults| {
        let lines = faults.iter().map(|fault| format!("{shown}: {fault}"));
        Failure::configuration(lines.collect())
    })
}

/// What is chosen for each row: by the workspace's server, or among the tools that the row brings.
async fn choose(context: &Context, rows: &[Row]) -> Result<Vec<Chosen>> {
    let is_given = |row: &Row| matches!(row.pool, Pool::Given(_));
    if rows.iter().all(is_given) {
        return given(rows);
    }
    let ask = async |client: &Client| {
        let mut all = Vec::with_capacity(rows.len());
        let mut aside = None;
        let mut note = None;
        for row in rows {
            all.push(match &row.pool {
                Pool::Given(tools) => chooser(&mut aside)?.choose(row, tools),
                Pool::All => select(client, row, None, &mut note).await?,
                Pool::Named(names) => select(client, row, Some(names), &mut note).await?,
            });
        }
        Ok((all, note, unknown(client, rows).await?))
    };
    let (all, note, unknown) = Client::with(context, ask).await?;
    // Their rows are wrong whatever is chosen.
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        let why = format!("Tools that rows name are not there, or not for you: {names}");
        context.out.warn(printable(&why));
    }
    // What was measured is something else than it seems then.
    if let Some(note) = note {
        context.out.warn(printable(&note));
    }
    Ok(all)
}

/// The tools that are right for some row, and that nobody finds here.
async fn unknown<'a>(client: &Client, rows: &'a [Row]) -> Result<Vec<&'a str>> {
    let is_ours = |row: &&Row| !matches!(row.pool, Pool::Given(_));
    let names = rows.iter().filter(is_ours).flat_map(|row| &row.gold);
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    let mut unknown = Vec::new();
    for name in names {
        let path = format!("/api/v1/tools/{}", encode(name));
        if client.request("GET", &path, None).await?.status == 404 {
            unknown.push(name);
        }
    }
    Ok(unknown)
}

fn given(rows: &[Row]) -> Result<Vec<Chosen>> {
    let mut aside = None;
    let chosen = rows.iter().filter_map(|row| match &row.pool {
        Pool::Given(tools) => Some(chooser(&mut aside).map(|it| it.choose(row, tools))),
        Pool::All | Pool::Named(_) => None,
    });
    chosen.collect()
}

/// Made when the first row needs it.
fn chooser(made: &mut Option<Given>) -> Result<&mut Given> {
    if made.is_none() {
        *made = Some(Given::new().map_err(|error| Failure::failed(error.to_string()))?);
    }
    made.as_mut()
        .ok_or_else(|| Failure::failed("the encoder is gone"))
}

async fn select(
    client: &Client,
    row: &Row,
    among: Option<&[String]>,
    note: &mut Option<String>,
) -> Result<Chosen> {
    let body = json!({"query": row.query, "tools": among, "limit": 1});
    let found = client
        .request("POST", "/api/v1/select", Some(body))
        .await?
        .ok()?;
    if let Some(said) = found["notes"][0].as_str() {
        *note = Some(said.to_owned());
    }
    let tools = found["tools"].as_array().into_iter().flatten();
    Ok(Chosen {
        outcome: match found["outcome"].as_str() {
            Some("call") => Outcome::Call,
            Some("ask") => Outcome::Ask,
            _ => Outcome::None,
        },
        tools: tools
            .filter_map(|it| Some(it.as_str()?.to_owned()))
            .collect(),
        best: found["candidates"][0]["name"].as_str().map(str::to_owned),
    })
}

fn tell(
    out: &Out,
    report: &Report,
    changed: Option<&Changed>,
    failures: Option<(&Vec<Row>, &Vec<Chosen>)>,
) {
    if out.json {
        let mut value = serde_json::to_value(report).unwrap_or_default();
        value["changed"] = changed.map_or(Value::Null, Changed::to_json);
        if let Some((rows, chosen)) = failures {
            value["failures"] = wrong(rows, chosen).collect();
        }
        return out.value(&value);
    }
    let line = |name: &str, share: &Share| {
        let error = (share.accuracy * (1.0 - share.accuracy) / count(share.n)).sqrt();
        let right = format!("{} of {}", share.right, share.n);
        let accuracy = format!("{:.1} % ± {:.1}", share.accuracy * 100.0, error * 100.0);
        vec![name.to_owned(), right, accuracy]
    };
    let sums = report.by_outcome.values();
    let right = sums.map(|it| it.right).sum();
    let all = Share {
        n: report.n,
        right,
        accuracy: report.accuracy,
    };
    let mut rows = vec![line("all", &all)];
    rows.extend(
        report
            .by_outcome
            .iter()
            .map(|(name, share)| line(name, share)),
    );
    rows.extend(
        report
            .by_language
            .iter()
            .map(|(name, share)| line(name, share)),
    );
    let more = [
        ("best candidate", &report.top1),
        ("several tools, exactly", &report.several),
        ("all calls, exactly", &report.exact),
    ];
    rows.extend(
        more.iter()
            .filter(|it| it.1.n > 0)
            .map(|(name, share)| line(name, share)),
    );
    out.table(&["requests", "right", "share"], &rows);
    if report.balanced > 0.0 {
        out.say(format!(
            "outcomes alone, mean over call, none and ask: {:.1} %",
            report.balanced * 100.0
        ));
    }
    for it in report.confusions.iter().take(CONFUSIONS) {
        let example = it.queries.first().map_or("", String::as_str);
        let told = format!(
            "{} times {} where {} is right: {example}",
            it.n, it.chosen, it.expected
        );
        out.say(printable(&told));
    }
    for it in failures
        .into_iter()
        .flat_map(|(rows, chosen)| wrong(rows, chosen))
    {
        out.line(it.to_string());
    }
    if let Some(changed) = changed {
        changed.tell(out);
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody has that many rows")]
fn count(n: usize) -> f64 {
    n.max(1) as f64
}

/// Every row that is not right, with what was chosen.
fn wrong<'a>(rows: &'a [Row], chosen: &'a [Chosen]) -> impl Iterator<Item = Value> + 'a {
    let both = rows.iter().zip(chosen);
    let wrong = both.filter(|(row, chosen)| !row.is_right(chosen));
    wrong.map(|(row, chosen)| {
        json!({
            "query": row.query,
            "outcome": row.outcome.map(|it| it.to_string()),
            "gold": row.gold,
            "chosen": {"outcome": chosen.outcome.to_string(), "tools": chosen.tools, "best": chosen.best},
        })
    })
}
