//! Tools that are part of the program. Each is one file; this is the list of them.

mod calculator;
mod code_execution;
mod conformance;
mod decimal;
mod doc_parser;
mod engines;
mod fend;
mod fixture;
mod get_sim_search;
mod get_text_embedding;
mod query_bga_database;
mod question;
mod request_human_input;
mod serialize_for_cell;
mod web_fetch;
mod web_search;

pub use query_bga_database::SOURCE as BGA_SOURCE;

use crate::Options;
use crate::parts::Parts;
use catalog::tool::{
    Annotations, Definition, KindName, OutputFormat, SYSTEM_USER, Shelf, Tool, id_from_name,
};
use executor::kind::RunFuture;
use executor::{Code, Failure, Kind, Run};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

pub use question::{CALCULATOR, CALCULATOR_SEAL, calculator_answers};
pub use web_search::SearchOptions;

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

fn list(options: &Options, parts: &Arc<Parts>) -> Vec<Box<dyn Builtin>> {
    let spawner = &parts.spawner;
    let mut all: Vec<Box<dyn Builtin>> = vec![
        Box::new(calculator::Calculator::new(options.evaluation, spawner)),
        Box::new(code_execution::CodeExecution::new(options, parts)),
        Box::new(doc_parser::DocParser::new(options, parts)),
        Box::new(get_sim_search::GetSimSearch(Arc::clone(parts))),
        Box::new(get_text_embedding::GetTextEmbedding(Arc::clone(parts))),
        Box::new(query_bga_database::QueryBgaDatabase::new(parts)),
        Box::new(request_human_input::RequestHumanInput),
        Box::new(serialize_for_cell::SerializeForCell),
        Box::new(web_fetch::WebFetch(Arc::clone(parts))),
        Box::new(web_search::WebSearch::new(&options.web_search, parts)),
    ];
    if options.conformance {
        all.extend(conformance::all().map(|it| Box::new(it) as Box<dyn Builtin>));
    }
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

/// A tool that looks up what is kept here, and changes nothing. Who wrote that is not known.
fn looks_up() -> Annotations {
    Annotations {
        read_only: Some(true),
        destructive: Some(false),
        idempotent: Some(true),
        open_world: None,
        title: None,
    }
}

/// A tool that looks at what others have written, and changes nothing.
fn reads_the_web() -> Annotations {
    Annotations {
        read_only: Some(true),
        destructive: Some(false),
        idempotent: Some(true),
        open_world: Some(true),
        title: None,
    }
}

/// The `builtin` kind: runs the builtin that a tool's config names.
pub(crate) struct Builtins(HashMap<&'static str, Box<dyn Builtin>>);

impl Builtins {
    pub(crate) fn new(options: &Options, parts: &Arc<Parts>) -> Self {
        let all = list(options, parts).into_iter();
        let all = all.filter(|builtin| {
            !options
                .disabled
                .iter()
                .any(|name| name == builtin.about().name)
        });
        Builtins(all.map(|builtin| (builtin.about().name, builtin)).collect())
    }

    /// The tools that are in every catalogue, owned by the system.
    pub(crate) fn tools(&self) -> Vec<Tool> {
        let mut tools: Vec<Tool> = self
            .0
            .values()
            .map(|builtin| tool(builtin.about()))
            .collect();
        tools.sort_by(|a, b| a.definition.name.cmp(&b.definition.name));
        tools
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
        let builtins = Builtins::new(&options, &Parts::new(&options));
        for tool in builtins.tools() {
            let definition = tool.definition;
            let schemas =
                Schemas::compile(&definition.input_schema, definition.output_schema.as_ref());
            assert!(schemas.is_ok(), "{}: {schemas:?}", definition.name);
            assert!(definition.description_user.is_some_and(|d| d.len() > 20));
            assert!(catalog::tool::is_valid_name(&definition.name));
        }
    }
}
