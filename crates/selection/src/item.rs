//! What is known of a tool before it is chosen.

use serde_json::Value;

/// A tool, as it is described to those who choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    /// The same in the user's own language, where somebody wrote it.
    pub description_user: Option<String>,
    pub parameters: Vec<Parameter>,
    /// Requests that this tool is right for.
    pub examples: Vec<String>,
    /// Whether what its description says about other tools is listened to.
    pub trusted: bool,
}

impl Item {
    /// A tool as the API tells it, taken at its word.
    #[must_use]
    pub fn of_tool(tool: &Value) -> Item {
        let word = |key: &str| tool[key].as_str().map(str::to_owned);
        Item {
            name: word("name").unwrap_or_default(),
            title: tool["annotations"]["title"].as_str().map(str::to_owned),
            description: word("description").unwrap_or_default(),
            description_user: word("description_user"),
            parameters: Parameter::of_schema(&tool["input_schema"]),
            examples: texts(&tool["examples"]).map(str::to_owned).collect(),
            trusted: true,
        }
    }
}

/// What a tool is to be given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub description: String,
    pub required: bool,
    /// Its type in JSON, such as `string`; empty where nothing says it.
    pub kind: String,
    /// Such as `date` or `email`; empty where nothing says it.
    pub format: String,
    /// All that it may be, where that is a list.
    pub choices: Vec<String>,
    pub examples: Vec<String>,
    /// Whether there is something to take where nothing is given.
    pub has_default: bool,
}

impl Parameter {
    /// The same from one text, `name: description; …`. Where nothing says what is required, all is that has no default.
    #[must_use]
    pub fn of_text(text: &str, required: Option<&[Value]>) -> Vec<Parameter> {
        let mut all: Vec<Parameter> = Vec::new();
        for piece in text.split("; ").filter(|it| !it.trim().is_empty()) {
            match piece.split_once(": ") {
                Some((name, description)) if !name.trim().contains(' ') => {
                    let small = description.to_lowercase();
                    let has_default = small.contains("optional") || small.contains("default");
                    let said = required.map(|all| all.iter().any(|it| it == name));
                    all.push(Parameter {
                        name: name.to_owned(),
                        description: description.to_owned(),
                        required: said.unwrap_or(!has_default),
                        ..Parameter::default()
                    });
                }
                _ => match all.last_mut() {
                    Some(last) => last.description = format!("{}; {piece}", last.description),
                    None => all.push(Parameter {
                        name: piece.trim_end_matches(':').to_owned(),
                        ..Parameter::default()
                    }),
                },
            }
        }
        all
    }

    /// The parameters of a tool, from the JSON schema of what it takes.
    #[must_use]
    pub fn of_schema(schema: &Value) -> Vec<Parameter> {
        let required: Vec<&str> = texts(&schema["required"]).collect();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let parameter = |(name, about): (&String, &Value)| {
            let word = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
            let kind = match &about["type"] {
                Value::Array(all) => all
                    .iter()
                    .filter_map(Value::as_str)
                    .find(|it| *it != "null"),
                one => one.as_str(),
            };
            let items = &about["items"];
            let choices = texts(&about["enum"]).chain(texts(&items["enum"]));
            Parameter {
                name: name.clone(),
                description: word("description"),
                required: required.contains(&name.as_str()),
                kind: kind.unwrap_or_default().to_owned(),
                format: word("format"),
                choices: choices.map(str::to_owned).collect(),
                examples: texts(&about["examples"]).map(str::to_owned).collect(),
                has_default: about.get("default").is_some_and(|it| !it.is_null()),
            }
        };
        properties.map(parameter).collect()
    }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_says_what_is_to_be_given() {
        let schema = json!({
            "properties": {
                "city": {"type": ["string", "null"], "description": "Where", "examples": ["Seoul"]},
                "days": {"type": "integer", "default": 3},
                "on": {"type": "string", "format": "date"},
                "mode": {"type": "array", "items": {"enum": ["car", "walk"]}}
            },
            "required": ["city", "mode"]
        });
        let [city, days, on, mode] = Parameter::of_schema(&schema).try_into().unwrap();
        assert_eq!((city.kind.as_str(), city.required), ("string", true));
        assert_eq!(
            (city.description.as_str(), city.examples),
            ("Where", vec!["Seoul".to_owned()])
        );
        assert!(days.has_default && !days.required && !city.has_default);
        assert_eq!(on.format, "date");
        assert_eq!(
            (mode.required, mode.choices),
            (true, vec!["car".to_owned(), "walk".to_owned()])
        );
        assert_eq!(Parameter::of_schema(&Value::Null), []);
    }
}
