//! `toolcrib init`: a starter workspace.

use crate::context::Context;
use crate::out::{Failure, Result};
use crate::workspace::create_starter;
use serde_json::json;
use std::path::Path;

pub(crate) fn run(context: &Context, folder: &Path) -> Result {
    let written = create_starter(folder).map_err(|error| {
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
