//! `toolcrib apply DIR`: makes the registry what a folder says, after showing what that changes.

use super::plan::{Plan, Step};
use super::state::State;
use super::told;
use super::wanted::Wanted;
use crate::cli::Apply;
use crate::client::Client;
use crate::context::Context;
use crate::out::{Failure, Result};

pub(crate) async fn apply(context: &Context, args: &Apply) -> Result {
    let out = &context.out;
    // A folder that cannot be right is told of before anybody is asked.
    Wanted::read(&args.folder, &std::collections::HashMap::new())?;
    Client::with(context, async |client| {
        let state = State::read(client).await?;
        let mut wanted = Wanted::read(&args.folder, &state.names)?;
        if let Some(values) = &args.values {
            wanted.read_values(values)?;
        }
        let plan = Plan::make(client, &state, &wanted, args.prune).await?;
        if !plan.problems.is_empty() {
            let mut failure = Failure::failed("");
            failure.errors = plan.problems;
            return Err(failure.hint("nothing was changed"));
        }
        told::plan(out, &plan);
        let mut done = 0;
        let mut failed = None;
        if !args.dry_run {
            for step in &plan.steps {
                match run(client, step).await {
                    Ok(()) => done += 1,
                    Err(failure) => {
                        failed = Some(failure);
                        break;
                    }
                }
            }
        }
        told::end(out, &plan, args, done, failed)
    })
    .await
}

async fn run(client: &Client, step: &Step) -> Result {
    let body = step.body.as_ref().map(|body| body.to_string().into_bytes());
    let sent = client.send_matching(step.method, &step.path, step.version, body);
    sent.await?.ok().map(drop)
}
