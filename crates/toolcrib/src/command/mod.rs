//! The commands, one file each.

pub(crate) mod agents;
mod answering;
mod apart;
mod approve;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod call;
pub(crate) mod cases;
mod chosen;
mod confirmed;
pub(crate) mod connect;
mod custom_export;
mod custom_kept;
mod custom_rows;
mod custom_tools;
mod database;
pub(crate) mod definition;
pub(crate) mod doctor;
mod effect;
pub(crate) mod eval;
mod exports;
pub(crate) mod findings;
mod following;
mod foreign;
mod heard;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod input;
mod kept;
pub(crate) mod keys;
mod leaving;
pub(crate) mod limits;
pub(crate) mod log;
mod machine;
mod made;
pub(crate) mod manual;
pub(crate) mod mcp;
mod mcp_servers;
mod network;
mod openapi;
pub(crate) mod policy;
mod prompt;
mod registry;
mod replicas;
pub(crate) mod run;
pub(crate) mod runs;
mod scripts;
mod search;
pub(crate) mod secrets;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod show_config;
pub(crate) mod sign_in;
mod skills;
pub(crate) mod sources;
mod taken_over;
mod teller;
pub(crate) mod tools;
mod toolset_there;
pub(crate) mod toolsets;
mod upstreams;
pub(crate) mod users;
pub(crate) mod vectors;

use crate::cli::{Command, Config, Export, Import};
use crate::context::Context;
use crate::out::{Failure, Result};

/// Runs one command to its end.
pub(crate) async fn run(context: &Context, command: Command) -> Result {
    if context.global.url.is_some()
        && let Some(name) = works_here(&command)
    {
        return Err(Failure::usage(format!(
            "`{name}` works on this machine; it cannot ask the server of --url"
        ))
        .hint("leave --url out, and name the workspace with --workspace"));
    }
    if let Command::Import(Import::McpServers { .. }) = &command
        && context.server_url().is_some()
    {
        let not_asked =
            "TOOLCRIB_URL is not asked: mcp.json of a workspace on this machine is written";
        context.out.warn(not_asked);
    }
    match command {
        Command::Init { folder } => init::run(context, folder.as_deref()).await,
        Command::Serve(serve) => serve::run(context, serve).await,
        Command::Mcp(args) => mcp::run(context, args).await,
        Command::Connect(args) => connect::run(context, &args).await,
        Command::Import(import) => import::run(context, import).await,
        Command::Export(Export::HCustomTool(args)) => custom_export::export(context, &args).await,
        Command::Export(Export::OpenApi { toolset }) => {
            openapi::export(context, toolset.as_deref()).await
        }
        Command::Export(Export::McpServers { only }) => mcp_servers::export(context, &only).await,
        Command::Export(Export::Registry { folder }) => registry::export(context, &folder).await,
        Command::Export(Export::Log(asked)) => exports::log(context, asked).await,
        Command::Export(Export::Audit(asked)) => exports::audit(context, asked).await,
        Command::Apply(args) => registry::apply(context, &args).await,
        Command::Call(call) => call::run(context, call).await,
        Command::Run(asked) => run::run(context, asked).await,
        Command::Runs(runs) => runs::run(context, runs).await,
        Command::Agents(agents) => agents::run(context, agents).await,
        Command::Tools(tools) => tools::run(context, tools).await,
        Command::Toolsets(toolsets) => toolsets::run(context, toolsets).await,
        Command::Log(log) => log::run(context, log).await,
        Command::Keys(keys) => keys::run(context, keys).await,
        Command::Users(users) => users::run(context, users).await,
        Command::Policy(policy) => policy::run(context, policy).await,
        Command::Audit(audit) => audit::run(context, audit).await,
        Command::Limits(limits) => limits::run(context, limits).await,
        Command::Usage => limits::usage(context).await,
        Command::Secrets(secrets) => secrets::run(context, secrets).await,
        Command::Servers(servers) => servers::run(context, servers).await,
        Command::Sources(sources) => sources::run(context, sources).await,
        Command::Vectors(vectors) => vectors::run(context, vectors).await,
        Command::Skills(skills) => skills::run(context, skills).await,
        Command::Eval(asked) => eval::run(context, asked).await,
        Command::Config(Config::Show) => show_config::run(context).await,
        Command::Completions { shell } => {
            manual::completions(context, shell);
            Ok(())
        }
        Command::Man {
            out: Some(folder), ..
        } => manual::man_pages(context, &folder),
        Command::Man { command, out: None } => manual::man(context, &command),
        Command::Backup { folder } => backup::backup(context, &folder).await,
        Command::Restore { folder } => backup::restore(context, &folder).await,
        Command::Doctor => doctor::run(context).await,
    }
}

/// The commands that ask no server, by name.
fn works_here(command: &Command) -> Option<&'static str> {
    match command {
        Command::Init { .. } => Some("init"),
        Command::Serve(_) => Some("serve"),
        Command::Restore { .. } => Some("restore"),
        Command::Import(Import::McpServers { .. }) => Some("import mcp-servers"),
        Command::Config(Config::Show) => Some("config show"),
        Command::Completions { .. } => Some("completions"),
        Command::Man { .. } => Some("man"),
        Command::Call(_)
        | Command::Run(_)
        | Command::Runs(_)
        | Command::Agents(_)
        | Command::Mcp(_)
        | Command::Connect(_)
        | Command::Import(Import::HCustomTool(_) | Import::OpenApi(_))
        | Command::Export(_)
        | Command::Apply(_)
        | Command::Tools(_)
        | Command::Servers(_)
        | Command::Sources(_)
        | Command::Toolsets(_)
        | Command::Log(_)
        | Command::Keys(_)
        | Command::Users(_)
        | Command::Policy(_)
        | Command::Audit(_)
        | Command::Limits(_)
        | Command::Usage
        | Command::Secrets(_)
        | Command::Vectors(_)
        | Command::Skills(_)
        | Command::Eval(_)
        | Command::Backup { .. }
        | Command::Doctor => None,
    }
}
