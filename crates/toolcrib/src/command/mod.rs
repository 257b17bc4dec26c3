//! The commands, one file each.

pub(crate) mod backup;
pub(crate) mod call;
pub(crate) mod cases;
pub(crate) mod doctor;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod log;
pub(crate) mod manual;
pub(crate) mod serve;
pub(crate) mod show_config;
pub(crate) mod tools;

use crate::cli::{Command, Config};
use crate::context::Context;
use crate::out::Result;

/// Runs one command to its end.
pub(crate) async fn run(context: &Context, command: Command) -> Result {
    match command {
        Command::Init { folder } => init::run(context, &folder),
        Command::Serve(serve) => serve::run(context, serve).await,
        Command::Call(call) => call::run(context, call).await,
        Command::Tools(tools) => tools::run(context, tools).await,
        Command::Log(log) => log::run(context, log).await,
        Command::Keys(keys) => keys::run(context, keys).await,
        Command::Config(Config::Show) => show_config::run(context),
        Command::Completions { shell } => {
            manual::completions(context, shell);
            Ok(())
        }
        Command::Man => manual::man(context),
        Command::Backup { folder } => backup::backup(context, &folder).await,
        Command::Restore { folder } => backup::restore(context, &folder).await,
        Command::Doctor => doctor::run(context).await,
    }
}
