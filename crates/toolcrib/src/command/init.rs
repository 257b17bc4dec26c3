//! `toolcrib init`: a starter workspace.

use crate::context::Context;
use crate::out::{Failure, Result};
use crate::workspace::create_starter;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) async fn run(context: &Context, named: Option<&Path>) -> Result {
    let folder = &folder(context, named)?;
    let written = create_starter(folder).await.map_err(|error| {
        let failure = Failure::failed(format!("no workspace was made: {error}"));
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => failure
                .hint("nothing was changed; name another folder, or remove those files first"),
            _ => failure,
        }
    })?;
    let out = &context.out;
    if out.json {
        out.value(&json!({"workspace": folder, "files": written}));
        return Ok(());
    }
    out.line(format!(
        "made a workspace in {}: {}",
        folder.display(),
        written.join(", ")
    ));
    let at = if folder == Path::new(".") {
        String::new()
    } else {
        format!(" --workspace {}", folder.display())
    };
    out.note(format!(
        "try: toolcrib call convert_units '{{\"expression\": \"5 km to miles\"}}'{at}"
    ));
    out.note(format!("then: toolcrib serve{at}"));
    Ok(())
}

/// What the command names, else the workspace that is named, else the current folder.
fn folder(context: &Context, named: Option<&Path>) -> Result<PathBuf> {
    let flag = context.global.workspace.as_deref();
    if let (Some(named), Some(flag)) = (named, flag)
        && std::path::absolute(named).ok() != std::path::absolute(flag).ok()
    {
        return Err(Failure::usage(format!(
            "--workspace says {}, but the command says {}",
            flag.display(),
            named.display()
        ))
        .hint("leave one of the two out"));
    }
    let said = || context.environment.filled("TOOLCRIB_WORKSPACE");
    let folder = named.or(flag).or_else(|| said().map(Path::new));
    Ok(folder.unwrap_or(Path::new(".")).to_owned())
}
