//! What is wrong with an `sql` definition, told before any source is asked. Which database it is for is not known here, so
//! that is wrong which is wrong for each of them.

use super::prepared::{callers, properties, text};
use ::sources::{Engine, Error, Place, Statement, is_compared, stands_in_text};
use catalog::definition::Fault;
use catalog::tool::{Definition, KindName};
use serde_json::Value;

/// What is wrong with the query of a tool, its parameters and what is said of them. Nothing where it is of another kind.
pub fn faults(definition: &Definition) -> Vec<Fault> {
    if definition.kind != KindName::Sql {
        return Vec::new();
    }
    let mut faults = Vec::new();
    let query = text(definition, "query");
    let read = [Engine::Postgres, Engine::Sqlite].map(|engine| Statement::read(query, engine));
    let usable: Vec<&Statement> = read.iter().flatten().collect();
    match (usable.as_slice(), &read) {
        ([], [Err(error), _]) => faults.push(Fault {
            pointer: "/config/query".to_owned(),
            expected: "one query with :name where values go",
            found: error.to_string(),
            remedy: "Mend the query; values are written as :name or {{name}}, and nothing follows it but one semicolon.",
        }),
        (usable, _) => {
            parameters(definition, usable, &mut faults);
            faults.extend(unwritable(definition, usable));
        }
    }
    for (name, _) in callers(definition) {
        if properties(definition).any(|(property, _)| property == name) {
            faults.push(Fault {
                pointer: format!("/input_schema/properties/{}", escaped(name)),
                expected: "arguments that are not in config.caller",
                found: format!("`{name}`, which is bound from who asks"),
                remedy: "Delete it from the input schema: nobody may say it of themselves. Or delete it from config.caller.",
            });
        }
    }
    let says_read_only = definition.annotations.read_only == Some(true);
    if definition.writes() && says_read_only {
        faults.push(Fault {
            pointer: "/annotations/read_only".to_owned(),
            expected: "false beside \"write\": true",
            found: "true".to_owned(),
            remedy: "Delete one of the two: a tool that writes does not only read.",
        });
    }
    faults
}

/// A tool that writes whose query no source would run.
fn unwritable(definition: &Definition, usable: &[&Statement]) -> Option<Fault> {
    let refused = usable
        .iter()
        .map(|statement| statement.check_writes().err());
    let refused: Option<Vec<Error>> = refused.collect();
    let why = refused
        .filter(|_| definition.writes())?
        .into_iter()
        .next()?;
    Some(Fault {
        pointer: "/config/query".to_owned(),
        expected: "a query that changes rows beside \"write\": true",
        found: why.to_string(),
        remedy: "Tools change rows, not tables or settings: write INSERT, UPDATE, DELETE or MERGE, or a SELECT of a function; do the rest with the database's own program.",
    })
}

fn parameters(definition: &Definition, usable: &[&Statement], faults: &mut Vec<Fault>) {
    let mut unknown = usable
        .iter()
        .map(|statement| unknown_parameter(definition, statement));
    if let Some(Some((name, place))) = unknown.next()
        && unknown.all(|other| other.is_some())
    {
        faults.push(Fault {
            pointer: "/config/query".to_owned(),
            expected: "parameters that the input schema or config.caller has",
            found: format!("`:{name}` at {place} of the query"),
            remedy: "Add it to the properties of the input schema with its type, or to config.caller as \"user\", \"role\" or \"claims.NAME\".",
        });
    }
    for (name, _) in callers(definition) {
        let is_used = |statement: &&Statement| statement.parameters().contains(name);
        if !usable.iter().any(is_used) {
            faults.push(Fault {
                pointer: format!("/config/caller/{}", escaped(name)),
                expected: "parameters of the query",
                found: format!("`{name}`, which the query does not have"),
                remedy: "Write it into the query as :name where it is to count, or delete it.",
            });
        }
    }
}

/// The first parameter that nobody gives, and where it stands.
pub(super) fn unknown_parameter<'s>(
    definition: &Definition,
    statement: &'s Statement,
) -> Option<(&'s str, Place)> {
    let is_known = |name: &String| {
        let mut known = properties(definition).chain(callers(definition));
        known.any(|(known, _)| known == name)
    };
    let mut names = statement.parameters().iter();
    let name = names.find(|name| !is_known(name))?;
    Some((name, statement.place(name)?))
}

/// Arguments that make no difference, or on this engine not the one that was meant.
pub(super) fn misused_properties(
    definition: &Definition,
    engine: Option<Engine>,
) -> Option<String> {
    // PostgreSQL has arrays, and who writes may store the whole.
    let is_text = engine == Some(Engine::Sqlite) && !definition.writes();
    unused_properties(definition).or_else(|| compared_whole(definition).filter(|_| is_text))
}

/// A list or an object beside an operator that compares: none of its items is looked at.
fn compared_whole(definition: &Definition) -> Option<String> {
    let query = text(definition, "query");
    let is_whole = |schema: &Value| matches!(schema["type"].as_str(), Some("array" | "object"));
    let mut whole = properties(definition).filter(|(_, schema)| is_whole(schema));
    whole.find_map(|(name, schema)| {
        is_compared(query, Engine::Sqlite, name).then(|| match schema["type"].as_str() {
            Some("array") => format!(
                "`{name}` is a list and is compared as a whole, which no single value equals; write IN (:{name}), or json_each(:{name})"
            ),
            _ => format!(
                "`{name}` is an object and is compared as a whole; give its members as parameters of their own"
            ),
        })
    })
}

fn unused_properties(definition: &Definition) -> Option<String> {
    let query = text(definition, "query");
    let read = [Engine::Postgres, Engine::Sqlite].map(|engine| Statement::read(query, engine));
    let is_used = |name: &String| {
        let mut usable = read.iter().flatten();
        usable.any(|statement| statement.parameters().contains(name))
    };
    let unused: Vec<&str> = properties(definition)
        .map(|(name, _): (&String, &Value)| name)
        .filter(|name| !is_used(name))
        .map(String::as_str)
        .collect();
    let is_text = |name: &&&str| {
        let mut engines = [Engine::Postgres, Engine::Sqlite].into_iter();
        engines.any(|engine| stands_in_text(query, engine, name))
    };
    if let Some(name) = unused.iter().find(is_text) {
        return Some(format!(
            "`{name}` of the input schema stands in quotes or in a comment of the query, where it is only text; write it outside of them, and join it to the rest of a text: '%' || :{name} || '%'"
        ));
    }
    (!unused.is_empty()).then(|| {
        format!(
            "the query does not use {} of the input schema; write `:name` where it is to count, or delete it",
            unused.join(", ")
        )
    })
}

/// A name as a JSON pointer has it.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::definition::{Origin, definition_from_text};
    use catalog::tool::Shelf;
    use serde_json::json;

    fn definition(config: &Value, more: &Value) -> Definition {
        let mut all = json!({"name": "t", "description": "d", "kind": "sql", "config": config});
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let origin = Origin::Body(Shelf::Database);
        definition_from_text("test", &all.to_string(), origin).unwrap()
    }

    fn told(config: &Value, more: &Value) -> Vec<String> {
        let faults = faults(&definition(config, more)).into_iter();
        let line = |fault: Fault| format!("{}: {}", fault.pointer, fault.found);
        faults.map(line).collect()
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let has = |names: &[&str]| {
            let properties: serde_json::Map<String, Value> = names
                .iter()
                .map(|it| ((*it).to_owned(), json!({})))
                .collect();
            json!({"input_schema": {"type": "object", "properties": properties}})
        };
        let query = |query: &str| json!({"source": "s", "query": query});
        let none: [&str; 0] = [];
        assert_eq!(told(&query("SELECT :a"), &has(&["a"])), none);
        assert_eq!(
            told(&query("SELECT 1\n WHERE :a = {{b}}"), &has(&["a"])),
            ["/config/query: `:b` at line 2, column 13 of the query"]
        );
        assert_eq!(
            told(&query("SELECT 1; DELETE FROM t"), &json!({})),
            [
                "/config/query: the query is not usable at line 1, column 11: a second statement begins here; expected one only"
            ]
        );
        // Read by one of the two, it may be for that one.
        assert_eq!(told(&query("SELECT [a:b] FROM t"), &json!({})), none);
        let bound = |query: &str| json!({"source": "s", "query": query, "caller": {"who": "user"}});
        assert_eq!(told(&bound("SELECT :who"), &json!({})), none);
        assert_eq!(
            told(&bound("SELECT :who"), &has(&["who"])),
            ["/input_schema/properties/who: `who`, which is bound from who asks"]
        );
        assert_eq!(
            told(&bound("SELECT 1"), &json!({})),
            ["/config/caller/who: `who`, which the query does not have"]
        );
        let writes = json!({"source": "s", "query": "DELETE FROM t", "write": true});
        assert_eq!(told(&writes, &json!({})), none);
        for query in ["CREATE TABLE t (a int)", "REINDEX", "VALUES (1)"] {
            let never = json!({"source": "s", "query": query, "write": true});
            let told = told(&never, &json!({}));
            let [told] = told.as_slice() else {
                panic!("{query}: {told:?}");
            };
            assert!(
                told.starts_with("/config/query: a query that writes begins with one of DELETE"),
                "{told}"
            );
        }
        let says = json!({"annotations": {"readOnlyHint": true}});
        assert_eq!(told(&writes, &says), ["/annotations/read_only: true"]);
    }

    #[test]
    fn arguments_that_make_no_difference_are_told() {
        let config = json!({"source": "s", "query": "SELECT :a"});
        let schema =
            |names: Value| json!({"input_schema": {"type": "object", "properties": names}});
        let used = definition(&config, &schema(json!({"a": {}})));
        assert_eq!(unused_properties(&used), None);
        let unused = definition(&config, &schema(json!({"a": {}, "b": {}, "c": {}})));
        let told = unused_properties(&unused).unwrap();
        assert!(told.starts_with("the query does not use b, c"), "{told}");
        let config = json!({"source": "s", "query": "SELECT ':b', :c_name"});
        let names = json!({"c": {}, "b": {}, "c_name": {}});
        let told = unused_properties(&definition(&config, &schema(names))).unwrap();
        assert!(
            told.starts_with("`b` of the input schema stands in quotes"),
            "{told}"
        );
        let told = |query: &str| {
            let config = json!({"source": "s", "query": query});
            let names = json!({"ids": {"type": "array"}, "a": {"type": "integer"}});
            misused_properties(&definition(&config, &schema(names)), Some(Engine::Sqlite))
        };
        assert_eq!(told("SELECT 1 WHERE :a = 1 AND x IN (:ids)"), None);
        for query in ["SELECT :a WHERE x = :ids", "SELECT :a WHERE x LIKE {{ids}}"] {
            let told = told(query).unwrap();
            assert!(told.starts_with("`ids` is a list"), "{told}");
        }
    }
}
