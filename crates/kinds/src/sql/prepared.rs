//! A definition as its calls need it: read once, and kept with the entry of the catalogue.

use ::sources::{Engine, Error, Shape, Statement};
use catalog::caller::Caller;
use catalog::tool::Definition;
use executor::{Code, Failure};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

const ROWS_MAX: u64 = 500;
pub(super) const BYTES_MAX: usize = 1 << 20;

/// What of the caller a parameter is.
#[derive(Debug)]
enum OfCaller {
    User,
    Role,
    Claim(String),
}

pub(super) struct Prepared {
    pub(super) source: String,
    query: String,
    pub(super) write: bool,
    pub(super) shape: Shape,
    pub(super) rows_max: u64,
    pub(super) bytes_max: usize,
    caller: Vec<(String, OfCaller)>,
    /// What arguments are that were left out.
    defaults: Vec<(String, Value)>,
    /// Arguments that are whole numbers, or lists of them: 5.0 is one too, but not to every database.
    whole: Vec<String>,
    // Which of the two it is depends on the source, which may become another.
    postgres: OnceLock<Result<Statement, Error>>,
    sqlite: OnceLock<Result<Statement, Error>>,
}

impl Prepared {
    pub(super) fn new(definition: &Definition) -> Self {
        let config = &definition.config;
        let count = |name: &str| config.get(name).and_then(Value::as_u64);
        let properties = properties(definition);
        let default = |(name, schema): (&String, &Value)| {
            Some((name.clone(), schema.get("default")?.clone()))
        };
        let whole = |(name, schema): (&String, &Value)| {
            let is_whole = is_integer(schema) || schema.get("items").is_some_and(is_integer);
            is_whole.then(|| name.clone())
        };
        Prepared {
            source: text(definition, "source").to_owned(),
            query: text(definition, "query").to_owned(),
            write: definition.writes(),
            shape: match text(definition, "result") {
                "row" => Shape::Row,
                "scalar" => Shape::Scalar,
                _ => Shape::Records,
            },
            rows_max: count("max_rows").unwrap_or(ROWS_MAX),
            bytes_max: count("max_bytes")
                .and_then(|bytes| usize::try_from(bytes).ok())
                .unwrap_or(BYTES_MAX),
            caller: callers(definition).map(of_caller).collect(),
            defaults: properties.clone().filter_map(default).collect(),
            whole: properties.filter_map(whole).collect(),
            postgres: OnceLock::new(),
            sqlite: OnceLock::new(),
        }
    }

    pub(super) fn statement(&self, engine: Engine) -> Result<&Statement, &Error> {
        let kept = match engine {
            Engine::Postgres => &self.postgres,
            Engine::Sqlite => &self.sqlite,
        };
        kept.get_or_init(|| Statement::read(&self.query, engine))
            .as_ref()
    }

    /// The arguments with what they lack. Null that was given stays null.
    pub(super) fn arguments<'a>(&self, given: &'a Value) -> Cow<'a, Map<String, Value>> {
        static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        let mut all = Cow::Borrowed(given.as_object().unwrap_or(&NOTHING));
        for (name, default) in &self.defaults {
            if !all.contains_key(name) {
                all.to_mut().insert(name.clone(), default.clone());
            }
        }
        for name in &self.whole {
            if let Some(whole) = all.get(name).and_then(as_whole) {
                all.to_mut().insert(name.clone(), whole.into());
            }
        }
        all
    }

    /// Refuses whole numbers that are larger than any database's: JSON reads them as fractions, which have lost digits.
    pub(super) fn check_whole(&self, arguments: &Map<String, Value>) -> Result<(), Failure> {
        let is_beyond = |name: &&String| arguments.get(name.as_str()).is_some_and(is_beyond);
        match self.whole.iter().find(is_beyond) {
            None => Ok(()),
            Some(name) => Err(Failure::new(
                Code::InvalidInput,
                format!(
                    "Input validation failed: argument `{name}`: the number does not fit into 64 bits; expected a whole number from {} to {}. A tool that needs larger ones takes them as a string",
                    i64::MIN,
                    i64::MAX
                ),
            )),
        }
    }

    /// Refuses an argument that stands for the caller. It would count for nothing, and whoever gives it thinks otherwise.
    /// No property of the input schema has such a name.
    pub(super) fn check_given(&self, arguments: &Value) -> Result<(), Failure> {
        let is_given = |(name, _): &&(String, OfCaller)| arguments.get(name.as_str()).is_some();
        match self.caller.iter().find(is_given) {
            None => Ok(()),
            Some((name, _)) => Err(Failure::new(
                Code::InvalidInput,
                format!(
                    "Input validation failed: `{name}` is bound from who asks and cannot be given; leave it out"
                ),
            )),
        }
    }

    /// The parameters that the caller has no say in. Whoever lacks what one stands for is refused: a query may well take
    /// null for "all of them".
    pub(super) fn of_caller(&self, caller: &Caller) -> Result<BTreeMap<String, Value>, Failure> {
        let bound = self.caller.iter().map(|(parameter, what)| {
            let value = match what {
                OfCaller::User => Value::from(&*caller.user_name),
                OfCaller::Role => Value::from(caller.role.as_str()),
                OfCaller::Claim(name) => claim(caller, name)?,
            };
            Ok((parameter.clone(), value))
        });
        bound.collect()
    }
}

fn claim(caller: &Caller, name: &str) -> Result<Value, Failure> {
    let claims = caller.claims.as_ref();
    let claim = claims.and_then(|claims| claims.get(name));
    match claim.filter(|claim| !claim.is_null()) {
        Some(claim) => Ok(claim.clone()),
        None => Err(Failure::new(
            Code::Forbidden,
            format!(
                "The tool needs the claim '{name}' of who asks; come with an access token of the identity provider that has it"
            ),
        )),
    }
}

/// A number with a point that nothing follows.
fn as_whole(value: &Value) -> Option<i64> {
    let number = value
        .as_f64()
        .filter(|_| !value.is_i64() && !value.is_u64())?;
    // Above this not every whole number is one of these, so nobody knows which was meant.
    let is_exact = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
    is_exact.then_some(number as i64)
}

/// Whether a schema takes whole numbers and no others.
fn is_integer(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => {
            let has = |name: &str| types.iter().any(|it| it == name);
            has("integer") && !has("number")
        }
        one => one.is_some_and(|it| it == "integer"),
    }
}

/// A whole number, or a list with one, that is read as a fraction for its size.
fn is_beyond(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_beyond),
        Value::Number(number) if !number.is_i64() && !number.is_u64() => {
            // The first that does not fit.
            number
                .as_f64()
                .is_some_and(|it| it.abs() >= 9_223_372_036_854_775_808.0)
        }
        _ => false,
    }
}

fn of_caller((parameter, what): (&String, &Value)) -> (String, OfCaller) {
    let what = what.as_str().unwrap_or_default();
    let what = match (what, what.strip_prefix("claims.")) {
        (_, Some(claim)) => OfCaller::Claim(claim.to_owned()),
        ("role", None) => OfCaller::Role,
        _ => OfCaller::User,
    };
    (parameter.clone(), what)
}

pub(super) fn text<'a>(definition: &'a Definition, name: &str) -> &'a str {
    let text = definition.config.get(name).and_then(Value::as_str);
    text.unwrap_or_default()
}

pub(super) fn properties(
    definition: &Definition,
) -> impl Iterator<Item = (&String, &Value)> + Clone {
    let properties = definition.input_schema.get("properties");
    properties.and_then(Value::as_object).into_iter().flatten()
}

/// The parameters that are bound from who asks.
pub(super) fn callers(definition: &Definition) -> impl Iterator<Item = (&String, &Value)> + Clone {
    let caller = definition.config.get("caller");
    caller.and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::caller::{Role, Transport};
    use catalog::definition::{Origin, definition_from_text};
    use catalog::tool::Shelf;
    use serde_json::json;
    use std::sync::Arc;
    use uuid::Uuid;

    fn prepared(config: &Value, properties: &Value) -> Prepared {
        let mut all = json!({"source": "s", "query": "SELECT 1"});
        all.as_object_mut()
            .unwrap()
            .extend(config.as_object().unwrap().clone());
        let text = json!({
            "name": "t", "description": "d", "kind": "sql", "config": all,
            "input_schema": {"type": "object", "properties": properties},
        });
        let origin = Origin::Body(Shelf::Database);
        let definition = definition_from_text("test", &text.to_string(), origin).unwrap();
        Prepared::new(&definition)
    }

    #[test]
    fn arguments_are_of_the_declared_types() {
        let properties =
            json!({"n": {"type": "integer"}, "x": {"type": "number"}, "d": {"default": 7}});
        let prepared = prepared(&json!({}), &properties);
        let filled = |given: Value| Value::Object(prepared.arguments(&given).into_owned());
        let all = json!({"n": 5.0, "x": 5.0});
        assert_eq!(
            filled(all).to_string(),
            json!({"n": 5, "x": 5.0, "d": 7}).to_string()
        );
        let null = json!({"n": 5.5, "d": null});
        assert_eq!(filled(null.clone()), null);
        assert_eq!(filled(json!({"n": 1e300})), json!({"n": 1e300, "d": 7}));
    }

    #[test]
    fn what_stands_for_the_caller_is_no_argument() {
        let prepared = prepared(&json!({"caller": {"who": "user"}}), &json!({"id": {}}));
        assert!(prepared.check_given(&json!({"id": 1})).is_ok());
        let refusal = prepared.check_given(&json!({"id": 1, "who": null}));
        let refusal = refusal.unwrap_err();
        assert_eq!(refusal.code, Code::InvalidInput);
        assert!(refusal.message.contains("`who`"), "{}", refusal.message);
    }

    #[test]
    fn whoever_lacks_a_claim_is_refused() {
        let config = json!({"caller": {"who": "user", "as": "role", "tenant": "claims.tenant"}});
        let prepared = prepared(&config, &json!({}));
        let mut caller = Caller::of_user(Uuid::nil(), "kim", Role::Author, Transport::Rest);
        let refusal = prepared.of_caller(&caller).unwrap_err();
        assert_eq!(refusal.code, Code::Forbidden);
        let mut claims = Map::new();
        claims.insert("tenant".into(), Value::Null);
        caller.claims = Some(Arc::new(claims.clone()));
        assert!(prepared.of_caller(&caller).is_err(), "null is no claim");
        claims.insert("tenant".into(), json!("t1"));
        caller.claims = Some(Arc::new(claims));
        let bound = serde_json::to_value(prepared.of_caller(&caller).unwrap()).unwrap();
        assert_eq!(bound, json!({"who": "kim", "as": "author", "tenant": "t1"}));
    }
}
