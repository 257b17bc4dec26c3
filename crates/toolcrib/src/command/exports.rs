//! `toolcrib export log` and `export audit`: every entry that fits, oldest first, a line of JSON each.

use crate::cli::{ExportAudit, ExportLog};
use crate::client::{Client, query, several};
use crate::context::Context;
use crate::out::{Failure, Result};

pub(crate) async fn log(context: &Context, asked: ExportLog) -> Result {
    let parameters = query(&[
        ("tool", asked.tool),
        ("status", asked.status),
        ("caller", asked.caller),
        ("transport", several(&asked.transport)),
        ("since", asked.since),
        ("until", asked.until),
    ]);
    write_out(context, &format!("/api/v1/executions/export{parameters}")).await
}

pub(crate) async fn audit(context: &Context, asked: ExportAudit) -> Result {
    let parameters = query(&[
        ("actor", asked.actor),
        ("action", asked.action),
        ("target", asked.target),
        ("since", asked.since),
        ("until", asked.until),
    ]);
    write_out(context, &format!("/api/v1/audit/export{parameters}")).await
}

async fn write_out(context: &Context, path: &str) -> Result {
    let out = &context.out;
    Client::with(context, async |client| {
        let mut has_begun = false;
        let done = client.each_line(path, |line| {
            has_begun = true;
            out.line(line);
            !out.is_gone()
        });
        let done = done.await;
        // Behind entries an error would be taken for one.
        match has_begun {
            true => done.map_err(Failure::printed),
            false => done,
        }
    })
    .await
}
