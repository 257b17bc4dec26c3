//! Tools that are part of the program. Each is one file; this is the list of them.

mod calculator;
mod decimal;
mod fend;
mod fixture;
mod lines;
mod serialize_for_cell;
mod worker;

use catalog::tool::{
    Annotations, Definition, KindName, OutputFormat, SYSTEM_USER, Shelf, Tool, id_from_name,
};
use executor::kind::RunFuture;
use executor::{Code, Failure, Kind, Run};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::PathBuf;

pub use lines::answer_lines;
pub use worker::{CALCULATOR, WORKER_COMMAND};

/// Which builtins there are, and how they run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Tools that exist only to test this program: `fixture_wait` and its like.
    pub fixtures: bool,
    pub evaluation: Evaluation,
}

/// Where expressions are evaluated.
#[derive(Debug, Clone, Default)]
pub enum Evaluation {
    /// In this process, where nothing can stop an endless one. Only for tests and examples of crates that have no
    /// program to start; it is the default because they are the ones who do not say.
    #[default]
    Here,
    /// In worker processes: this program is started with `WORKER_COMMAND`.
    Aside(PathBuf),
}

/// One builtin tool.
trait Builtin: Send + Sync {
    fn about(&self) -> About;
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a>;
}

/// What a builtin says of itself.
struct About {
    name: &'static str,
    description: &'static str,
    description_user: &'static str,
    input_schema: Value,
    output_schema: Option<Value>,
    annotations: Annotations,
    parallel_capable: bool,
    examples: &'static [&'static str],
}

fn list(options: &Options) -> Vec<Box<dyn Builtin>> {
    let mut all: Vec<Box<dyn Builtin>> = vec![
        Box::new(calculator::Calculator::new(&options.evaluation)),
        Box::new(serialize_for_cell::SerializeForCell),
    ];
    if options.fixtures {
        all.push(Box::new(fixture::Wait::default()));
    }
    all
}

/// A tool that only computes: the same arguments always give the same answer.
fn pure() -> Annotations {
    Annotations {
        read_only: Some(true),
        destructive: Some(false),
        idempotent: Some(true),
        open_world: Some(false),
        title: None,
    }
}

/// The `builtin` kind: runs the builtin that a tool's config names.
pub struct Builtins(HashMap<&'static str, Box<dyn Builtin>>);

impl Builtins {
    pub fn new(options: &Options) -> Self {
        Builtins(
            list(options)
                .into_iter()
                .map(|b| (b.about().name, b))
                .collect(),
        )
    }
}

impl Kind for Builtins {
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        let config = &run.entry.tool.definition.config;
        let name = config
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        match self.0.get(name) {
            Some(builtin) => builtin.run(run),
            None => Box::pin(std::future::ready(Err(Failure::new(
                Code::NotConfigured,
                format!("There is no builtin '{name}' in this version"),
            )))),
        }
    }
}

/// The names a `builtin` tool's config may give.
pub fn names(options: &Options) -> Vec<&'static str> {
    list(options).iter().map(|b| b.about().name).collect()
}

/// The tools that are in every catalogue, owned by the system.
pub fn tools(options: &Options) -> Vec<Tool> {
    list(options).iter().map(|b| tool(b.about())).collect()
}

fn tool(about: About) -> Tool {
    let (name, parallel_capable) = (about.name, about.parallel_capable);
    let definition = Definition {
        name: name.to_owned(),
        description: about.description.to_owned(),
        description_user: Some(about.description_user.to_owned()),
        kind: KindName::Builtin,
        config: Map::from_iter([("name".to_owned(), json!(name))]),
        input_schema: about.input_schema,
        output_schema: about.output_schema,
        output_format: OutputFormat::Json,
        timeout_seconds: None,
        parallel_capable: Some(parallel_capable),
        rate_limit: None,
        is_active: true,
        is_public: true,
        auth_config: None,
        annotations: about.annotations,
        examples: about.examples.iter().map(|&e| e.to_owned()).collect(),
        tests: Vec::new(),
        approval: None,
    };
    Tool {
        id: id_from_name(name),
        owner: SYSTEM_USER,
        shelf: Shelf::Builtin,
        version: 1,
        created_at: 0,
        updated_at: 0,
        hash: definition.hash(),
        definition,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::catalogue::Schemas;

    #[test]
    fn every_builtin_has_valid_schemas_and_a_description_for_people() {
        let options = Options {
            fixtures: true,
            ..Options::default()
        };
        for tool in tools(&options) {
            let definition = tool.definition;
            let schemas =
                Schemas::compile(&definition.input_schema, definition.output_schema.as_ref());
            assert!(schemas.is_ok(), "{}: {schemas:?}", definition.name);
            assert!(definition.description_user.is_some_and(|d| d.len() > 20));
            assert!(catalog::tool::is_valid_name(&definition.name));
        }
    }
}
