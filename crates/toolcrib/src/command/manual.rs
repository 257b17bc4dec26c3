//! `toolcrib completions` and `toolcrib man`: made from the same definition as the help.

use crate::cli::Cli;
use crate::context::Context;
use crate::out::{Failure, Result};
use clap::CommandFactory;

pub(crate) fn completions(context: &Context, shell: clap_complete::Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "toolcrib", &mut script);
    print(context, &script);
}

pub(crate) fn man(context: &Context) -> Result {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|error| Failure::failed(error.to_string()))?;
    print(context, &page);
    Ok(())
}

fn print(context: &Context, text: &[u8]) {
    context.out.line(String::from_utf8_lossy(text).trim_end());
}
