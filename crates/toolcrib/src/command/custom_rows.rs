//! Rows of `h_custom_tool` as definitions, and definitions as rows.

use serde_json::{Map, Value, json};
use store::custom_tools::{CustomParameter, CustomTool};

/// Under which names a definition that is JSON holds its query or its expression.
const MEMBERS: [&str; 5] = ["query", "sql", "expression", "code", "definition"];

/// What a row means here.
#[derive(Debug)]
pub(super) struct Meant {
    pub(super) definition: Value,
    /// What whoever imports it should know of how it was read.
    pub(super) notes: Vec<String>,
}

/// What a row means here, or why it means nothing.
pub(super) fn definition(row: &CustomTool, source: &str, result: &str) -> Result<Meant, String> {
    let mut notes = Vec::new();
    let text = body(&row.definition);
    let (kind, config) = match row.tool_type.trim().to_ascii_uppercase().as_str() {
        "SQL" => {
            let query = bare(text, &row.parameters, &mut notes);
            let config = json!({"source": source, "query": query, "result": result});
            ("sql", config)
        }
        "PYTHON" => ("expression", json!({"expression": text})),
        other => {
            return Err(format!(
                "tool_type: expected SQL or PYTHON, found '{other}'"
            ));
        }
    };
    let about_user = filled(row.description_user.as_deref());
    let about = filled(Some(&row.description_agent)).or(about_user);
    let mut all = json!({
        "name": row.name,
        "description": about.unwrap_or(&row.name),
        "kind": kind,
        "config": config,
        "input_schema": input_schema(&row.parameters, &mut notes)?,
        "is_active": yes("is_active", &row.is_active, &mut notes),
    });
    if let Some(about) = about_user {
        all["description_user"] = about.into();
    }
    Ok(Meant {
        definition: all,
        notes,
    })
}

fn input_schema(parameters: &[CustomParameter], notes: &mut Vec<String>) -> Result<Value, String> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in parameters {
        let name = &parameter.name;
        let kind = match parameter.kind.trim().to_ascii_uppercase().as_str() {
            "STRING" => "string",
            "NUMBER" => "number",
            "BOOLEAN" => "boolean",
            other => {
                return Err(format!(
                    "param_type of {name}: expected STRING, NUMBER or BOOLEAN, found '{other}'; write NUMBER for every sort of number and STRING for dates and all else"
                ));
            }
        };
        let mut schema = json!({"type": kind});
        if let Some(about) = filled(parameter.description.as_deref()) {
            schema["description"] = about.into();
        }
        if properties.insert(name.clone(), schema).is_some() {
            return Err(format!(
                "param_name: there are two parameters '{name}'; remove one of them"
            ));
        }
        if yes(
            &format!("is_required of {name}"),
            &parameter.is_required,
            notes,
        ) {
            required.push(Value::from(name.as_str()));
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    Ok(schema)
}

/// The query without its parameters in quotes: who pasted values needed them, who binds values must not have them.
fn bare(query: String, parameters: &[CustomParameter], notes: &mut Vec<String>) -> String {
    let is_parameter = |name: &str| parameters.iter().any(|it| it.name == name);
    let Some((bare, names)) = kinds::sql::without_quotes(&query, is_parameter) else {
        return query;
    };
    if names.is_empty() {
        return query;
    }
    let shown: Vec<String> = names.iter().map(|it| format!("{{{{{it}}}}}")).collect();
    notes.push(format!(
        "{} stood in quotes in its query and was taken out of them (a part of a text is joined to it with ||): values are bound, and in quotes they would be text",
        shown.join(", ")
    ));
    // Pasted, an argument that is left out was an empty text; bound, it is NULL, which equals nothing.
    let is_optional = |name: &&String| {
        let mut of_name = parameters.iter().filter(|it| it.name == **name);
        of_name.any(|it| !it.is_required.trim().eq_ignore_ascii_case("y"))
    };
    for name in names.iter().filter(is_optional) {
        notes.push(format!(
            "where {name} is left out, it was an empty text in the query and is NULL now; write coalesce({{{{{name}}}}}, '') where the query wants ''"
        ));
    }
    bare
}

/// The parameters whose names stand in the query of a tool as text, in quotes: whoever reads its row takes them for parameters.
pub(super) fn names_as_text(tool: &Value) -> Vec<String> {
    let properties = &tool["input_schema"]["properties"];
    let query = tool["config"]["query"].as_str();
    let query = query.filter(|_| tool["kind"] == "sql");
    let found = query
        .and_then(|query| kinds::sql::without_quotes(query, |name| properties.get(name).is_some()));
    found.map_or_else(Vec::new, |(_, names)| names)
}

/// The query or expression itself, which may lie in JSON.
fn body(written: &str) -> String {
    let inside = match serde_json::from_str::<Value>(written) {
        Ok(Value::String(text)) => Some(text),
        Ok(Value::Object(members)) => {
            let mut texts = MEMBERS
                .iter()
                .filter_map(|name| members.get(*name)?.as_str());
            texts.next().map(str::to_owned)
        }
        _ => None,
    };
    inside.unwrap_or_else(|| written.trim().to_owned())
}

/// A query or expression as it is read again: one that looks like JSON of this sort is put into JSON.
fn written(text: &str) -> String {
    match body(text) == text.trim() {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}

/// When it was made, as a time in UTC that says so; nothing where that cannot be made out.
pub(super) fn created_at(row: &CustomTool) -> Option<String> {
    let text = filled(row.reg_dt.as_deref())?;
    let stamp = text.replacen(' ', "T", 1);
    let candidates = [
        text.to_owned(),
        stamp.clone(),
        format!("{stamp}Z"),
        format!("{stamp}:00Z"),
    ];
    // Digits alone would be milliseconds, and a span would count from now: neither is what a date is written as.
    let is_date = text.get(4..5) == Some("-");
    let mut read = candidates
        .into_iter()
        .filter_map(|text| app::time::parse("reg_dt", &text, 0).ok());
    read.next().filter(|_| is_date).map(app::time::rfc3339)
}

/// A tool as the server shows it, as a row; or why no row can hold it.
pub(super) fn row(tool: &Value) -> Result<CustomTool, String> {
    let text = |name: &str| tool[name].as_str().map(str::to_owned);
    let config = &tool["config"];
    let (tool_type, definition) = match tool["kind"].as_str() {
        Some("sql") if config["write"] == true => return Err("it writes".to_owned()),
        Some("sql")
            if config["caller"]
                .as_object()
                .is_some_and(|it| !it.is_empty()) =>
        {
            return Err("its query is bound to who asks".to_owned());
        }
        Some("sql") => ("SQL", config["query"].as_str()),
        Some("expression") => ("PYTHON", config["expression"].as_str()),
        kind => return Err(format!("it is of kind {}", kind.unwrap_or_default())),
    };
    let schema = &tool["input_schema"];
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let mut parameters = Vec::new();
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let kind = match schema["type"].as_str() {
            Some("string") => "STRING",
            Some("number" | "integer") => "NUMBER",
            Some("boolean") => "BOOLEAN",
            _ => {
                return Err(format!(
                    "its argument '{name}' is neither a string, a number nor a boolean"
                ));
            }
        };
        parameters.push(CustomParameter {
            name: name.clone(),
            kind: kind.to_owned(),
            is_required: letter(is_required(name)),
            description: schema["description"].as_str().map(str::to_owned),
        });
    }
    Ok(CustomTool {
        name: text("name").unwrap_or_default(),
        description_agent: text("description").unwrap_or_default(),
        description_user: text("description_user"),
        tool_type: tool_type.to_owned(),
        definition: written(definition.unwrap_or_default()),
        is_active: letter(tool["is_active"] == true),
        reg_dt: text("created_at"),
        created_by: text("owner"),
        parameters,
    })
}

fn letter(yes: bool) -> String {
    if yes { "Y" } else { "N" }.to_owned()
}

fn yes(what: &str, letter: &str, notes: &mut Vec<String>) -> bool {
    match letter.trim() {
        "Y" | "y" => true,
        "N" | "n" | "" => false,
        other => {
            notes.push(format!(
                "{what}: '{other}' is neither Y nor N and counts as N"
            ));
            false
        }
    }
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit() -> CustomTool {
        let parameter = |name: &str, kind: &str, required: &str| CustomParameter {
            name: name.to_owned(),
            kind: kind.to_owned(),
            is_required: required.to_owned(),
            description: Some("누구".to_owned()),
        };
        CustomTool {
            name: "get_user_daily_limit".to_owned(),
            description_agent: "조회합니다.".to_owned(),
            tool_type: "sql".to_owned(),
            definition: "SELECT :user_name, {{n}}, :flag".to_owned(),
            is_active: "N".to_owned(),
            parameters: vec![
                parameter("user_name", "STRING", "Y"),
                parameter("n", "NUMBER", "N"),
                parameter("flag", "boolean", ""),
            ],
            ..CustomTool::default()
        }
    }

    #[test]
    fn a_row_becomes_a_definition_and_a_row_again() {
        let made = definition(&limit(), "demo", "row").unwrap();
        assert!(made.notes.is_empty(), "{:?}", made.notes);
        let made = made.definition;
        let expected = json!({
            "name": "get_user_daily_limit", "description": "조회합니다.", "kind": "sql",
            "config": {"source": "demo", "query": "SELECT :user_name, {{n}}, :flag", "result": "row"},
            "input_schema": {"type": "object", "required": ["user_name"], "properties": {
                "user_name": {"type": "string", "description": "누구"},
                "n": {"type": "number", "description": "누구"},
                "flag": {"type": "boolean", "description": "누구"}}},
            "is_active": false,
        });
        assert_eq!(made, expected);
        let mut again = row(&made).unwrap();
        again.tool_type.make_ascii_lowercase();
        again.parameters[2].kind.make_ascii_lowercase();
        again.parameters[2].is_required.clear();
        assert_eq!(again, limit());
    }

    #[test]
    fn what_lies_in_json_is_taken_out() {
        for (written, meant) in [
            ("num1 * num2", "num1 * num2"),
            (r#"{"sql": "SELECT 1"}"#, "SELECT 1"),
            (r#""result = a""#, "result = a"),
            (r#"{"a": 1}"#, r#"{"a": 1}"#),
            ("1", "1"),
        ] {
            assert_eq!(body(written), meant);
        }
        for text in ["num1 * num2", "\"result\"", "1"] {
            assert_eq!(body(&super::written(text)), text);
        }
    }

    #[test]
    fn quotes_around_a_parameter_are_taken_away_and_told() {
        let row = CustomTool {
            definition: "SELECT :user_name WHERE n = '{{n}}' OR n = '{{m}}' OR n LIKE '%{{n}}%'"
                .to_owned(),
            ..limit()
        };
        let meant = definition(&row, "demo", "row").unwrap();
        // There is no parameter m: that is text.
        let query =
            "SELECT :user_name WHERE n = {{n}} OR n = '{{m}}' OR n LIKE ('%' || {{n}} || '%')";
        assert_eq!(meant.definition["config"]["query"], query);
        assert!(meant.notes[0].starts_with("{{n}} stood in quotes"));
        assert_eq!(
            meant.notes[1..],
            [
                "where n is left out, it was an empty text in the query and is NULL now; write coalesce({{n}}, '') where the query wants ''"
            ]
        );
        let required = CustomTool {
            definition: "SELECT 1 WHERE :n = '{{user_name}}'".to_owned(),
            ..limit()
        };
        let notes = definition(&required, "demo", "row").unwrap().notes;
        assert_eq!(notes.len(), 1, "{notes:?}");
        let python = CustomTool {
            tool_type: "PYTHON".to_owned(),
            definition: "'{{n}}'".to_owned(),
            ..limit()
        };
        let meant = definition(&python, "demo", "row").unwrap();
        assert_eq!(meant.definition["config"]["expression"], "'{{n}}'");
        assert!(meant.notes.is_empty());
    }

    #[test]
    fn letters_and_types_that_the_format_does_not_know_are_told() {
        let mut row = limit();
        row.is_active = "true".to_owned();
        let meant = definition(&row, "demo", "row").unwrap();
        assert_eq!(meant.definition["is_active"], false);
        assert!(meant.notes[0].starts_with("is_active: 'true' is neither Y nor N"));
        let why = |change: &dyn Fn(&mut CustomTool)| {
            let mut row = limit();
            change(&mut row);
            definition(&row, "demo", "row").unwrap_err()
        };
        for kind in ["INTEGER", "DATE"] {
            let told = why(&|row| row.parameters[1].kind = kind.to_owned());
            let expected =
                format!("param_type of n: expected STRING, NUMBER or BOOLEAN, found '{kind}'");
            assert!(told.starts_with(&expected), "{told}");
        }
        let told = why(&|row| row.parameters[1].name = "flag".to_owned());
        assert!(told.contains("two parameters 'flag'"), "{told}");
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        let at = |text: &str| {
            created_at(&CustomTool {
                reg_dt: Some(text.to_owned()),
                ..CustomTool::default()
            })
        };
        let noon = Some("2024-05-06T12:00:00.000Z".to_owned());
        for text in [
            "2024-05-06 12:00:00",
            "2024-05-06T12:00:00Z",
            "2024-05-06T12:00:00",
            "2024-05-06 12:00",
        ] {
            assert_eq!(at(text), noon, "{text}");
        }
        assert_eq!(
            at("2024-05-06").as_deref(),
            Some("2024-05-06T00:00:00.000Z")
        );
        for text in ["", "20240506", "yesterday", "2h"] {
            assert_eq!(at(text), None, "{text}");
        }
    }

    #[test]
    fn what_no_row_can_hold_is_told() {
        let tool = |config: Value, properties: Value| {
            row(&json!({"name": "t", "kind": "sql", "config": config,
                "input_schema": {"properties": properties}}))
        };
        let plain = json!({"query": "SELECT 1"});
        assert!(tool(plain.clone(), json!({})).is_ok());
        assert!(tool(plain, json!({"ids": {"type": "array"}})).is_err());
        assert!(tool(json!({"write": true}), json!({})).is_err());
        assert!(tool(json!({"caller": {"a": "user"}}), json!({})).is_err());
        assert!(row(&json!({"kind": "shell"})).is_err());
        let odd = CustomTool {
            tool_type: "JAVA".to_owned(),
            ..limit()
        };
        let why = definition(&odd, "demo", "row").unwrap_err();
        assert_eq!(why, "tool_type: expected SQL or PYTHON, found 'JAVA'");
    }
}
