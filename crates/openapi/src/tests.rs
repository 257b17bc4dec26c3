//! Documents in, tools out: what becomes of each part of an operation.

use crate::{Imported, Made, Offer, Options, read, write};
use serde_json::{Value, json};

fn imported(document: &Value) -> Imported {
    read(document, &Options::default()).expect("the document can be read")
}

fn document(paths: &Value) -> Value {
    json!({
        "openapi": "3.0.3", "info": {"title": "Pet Shop", "version": "1"},
        "servers": [{"url": "https://{region}.example.com/v1/", "variables": {"region": {"default": "eu"}}}],
        "paths": paths,
        "components": {
            "schemas": {
                "Pet": {"type": "object", "required": ["id", "name"], "properties": {
                    "id": {"type": "integer", "readOnly": true}, "name": {"type": "string", "example": "Rex"},
                    "friend": {"$ref": "#/components/schemas/Pet"}, "age": {"type": "integer", "nullable": true, "minimum": 0, "exclusiveMinimum": true}}},
                "Dog": {"allOf": [{"$ref": "#/components/schemas/Named"}, {"type": "object", "required": ["bark"], "properties": {"bark": {"type": "boolean"}}}]},
                "Named": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
            },
            "securitySchemes": {
                "ApiKey": {"type": "apiKey", "in": "header", "name": "X-Key"}, "Query": {"type": "apiKey", "in": "query", "name": "key"},
                "Cookie": {"type": "apiKey", "in": "cookie", "name": "sid"}, "Token": {"type": "http", "scheme": "bearer"},
                "User": {"type": "http", "scheme": "basic"}, "Digest": {"type": "http", "scheme": "digest"},
                "Client": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://id.example.com/token", "scopes": {}}}},
                "Login": {"type": "openIdConnect", "openIdConnectUrl": "https://id.example.com"},
            },
        },
    })
}

fn only(paths: &Value) -> Made {
    let mut imported = imported(&document(paths));
    assert_eq!(imported.left_out.len(), 0, "{imported:?}");
    imported.tools.remove(0)
}

#[test]
fn an_operation_becomes_a_tool() {
    let made = only(&json!({"/pets/{petId}": {
        "parameters": [{"name": "petId", "in": "path", "required": true, "schema": {"type": "string"}, "description": "Which"}],
        "get": {"operationId": "pets.get", "summary": "Shows a pet", "description": "With its friends.", "parameters": [
            {"name": "fields", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
            {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
            {"name": "Accept", "in": "header", "schema": {"type": "string"}}]},
    }}));
    let definition = json!({
        "name": "pets_get", "description": "Shows a pet.\n\nWith its friends.", "kind": "http",
        "config": {"base_url": "https://eu.example.com/v1", "method": "GET", "query": {"fields": "{{fields}}"},
            "headers": {"X-Trace": "{{X-Trace}}"}, "path": "/pets/{{petId}}"},
        "input_schema": {"type": "object", "required": ["petId"], "additionalProperties": false, "properties": {
            "petId": {"type": "string", "description": "Which"}, "fields": {"type": "array", "items": {"type": "string"}},
            "X-Trace": {"type": "string"}}},
        "annotations": {"read_only": true, "title": "Shows a pet"},
    });
    assert_eq!(made.definition, definition, "{:#}", made.definition);
    assert_eq!(made.lost, [""; 0]);
}

#[test]
fn bodies_are_spread_and_circles_are_named() {
    let json = |schema: Value| json!({"required": true, "content": {"application/json": {"schema": schema}}});
    let pet = only(
        &json!({"/pets": {"post": {"requestBody": json(json!({"$ref": "#/components/schemas/Pet"}))}}}),
    );
    let schema = &pet.definition["input_schema"];
    assert_eq!(pet.name, "post_pets");
    assert_eq!(
        schema["required"],
        json!(["name"]),
        "what only answers hold is not asked for"
    );
    assert_eq!(schema["properties"]["name"], json!({"type": "string"}));
    assert_eq!(
        schema["properties"]["age"],
        json!({"type": ["integer", "null"], "exclusiveMinimum": 0})
    );
    assert_eq!(
        schema["properties"]["friend"]["$ref"], "#/$defs/Pet",
        "{schema:#}"
    );
    assert_eq!(
        schema["$defs"]["Pet"]["properties"].get("id"),
        None,
        "{schema:#}"
    );
    assert_eq!(
        pet.definition["config"]["body"],
        json!({"name": "{{name}}", "friend": "{{friend}}", "age": "{{age}}"})
    );
    let dog = only(
        &json!({"/dogs": {"put": {"requestBody": json(json!({"$ref": "#/components/schemas/Dog"}))}}}),
    );
    assert_eq!(
        dog.definition["input_schema"]["required"],
        json!(["name", "bark"])
    );
    assert_eq!(dog.definition["annotations"], json!({"idempotent": true}));
    let any = only(
        &json!({"/x": {"patch": {"requestBody": json(json!({"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/Named"}]}))}}}),
    );
    assert_eq!(any.definition["config"]["body"], "{{body}}");
    assert_eq!(any.definition["input_schema"]["required"], json!(["body"]));
    let file = only(
        &json!({"/f": {"post": {"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object", "properties": {
        "file": {"type": "string", "format": "binary"}, "note": {"type": "string"}}}}}}}}}),
    );
    assert_eq!(file.definition["config"]["body_type"], "multipart");
    assert_eq!(
        file.definition["input_schema"]["properties"]["file"]["required"],
        json!(["content_base64"])
    );
}

#[test]
fn the_same_name_in_two_places_is_two_arguments() {
    let made = only(&json!({"/a/{id}": {"post": {"parameters": [
        {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
        {"name": "id", "in": "query", "schema": {"type": "integer"}}, {"name": "filter[a b]", "in": "query", "schema": {"type": "string"}}],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "boolean"}}}}}}}}}));
    let config = &made.definition["config"];
    assert_eq!(
        config["query"],
        json!({"id": "{{query_id}}", "filter[a b]": "{{filter_a_b}}"})
    );
    assert_eq!(
        (&config["path"], &config["body"]),
        (&json!("/a/{{id}}"), &json!({"id": "{{body_id}}"}))
    );
}

#[test]
fn styles_are_written_or_told() {
    let query = |style: &str, explode: bool, schema: Value| json!({"name": "q", "in": "query", "style": style, "explode": explode, "schema": schema});
    let list = json!({"type": "array", "items": {"type": "string"}});
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}});
    let made = |parameter: Value| only(&json!({"/x": {"get": {"parameters": [parameter]}}}));
    let joined = made(query("pipeDelimited", false, list));
    assert_eq!(
        joined.definition["input_schema"]["properties"]["q"]["type"],
        "string"
    );
    assert!(joined.lost[0].contains("joined with |"), "{joined:?}");
    let deep = made(query("deepObject", true, object.clone()));
    assert_eq!(
        deep.definition["config"]["query"],
        json!({"q[a]": "{{q_a}}", "q[b]": "{{q_b}}"})
    );
    let spread = made(query("form", true, object.clone()));
    assert_eq!(
        spread.definition["config"]["query"],
        json!({"a": "{{a}}", "b": "{{b}}"})
    );
    assert!(made(query("form", false, object)).lost[0].contains("is left out"));
    let label = only(
        &json!({"/x/{v}": {"get": {"parameters": [{"name": "v", "in": "path", "style": "matrix", "schema": {"type": "string"}}]}}}),
    );
    assert_eq!(label.definition["config"]["path"], "/x/;v={{v}}");
}

#[test]
fn what_lets_in_is_referred_to() {
    let auth = |security: Value| {
        let imported = imported(&document(&json!({"/x": {"get": {"security": security}}})));
        let secrets: Vec<String> = imported.secrets.iter().map(|it| it.name.clone()).collect();
        let auth = imported
            .tools
            .first()
            .map(|it| it.definition["auth_config"].clone());
        (
            auth.unwrap_or_else(|| imported.left_out[0].why.clone().into()),
            secrets,
        )
    };
    let secret = |name: &str| json!({"$secret": name});
    let key = json!({"type": "header", "name": "X-Key", "value": secret("pet_shop_apikey")});
    assert_eq!(
        auth(json!([{"ApiKey": []}])),
        (key, vec!["pet_shop_apikey".to_owned()])
    );
    assert_eq!(
        auth(json!([{"Cookie": []}, {"Query": []}])).0["type"],
        "query"
    );
    assert_eq!(
        auth(json!([{"Token": []}])).0,
        json!({"type": "bearer", "token": secret("pet_shop_token")})
    );
    assert_eq!(
        auth(json!([{"User": []}])).0["password"],
        secret("pet_shop_user_password")
    );
    let client = auth(json!([{"Client": ["a", "b"]}])).0;
    assert_eq!(
        (&client["type"], &client["scope"]),
        (&json!("oauth2"), &json!("a b"))
    );
    assert_eq!(auth(json!([{"Login": []}])).0["type"], "bearer");
    assert!(
        auth(json!([{"Cookie": []}, {"Digest": []}]))
            .0
            .as_str()
            .is_some_and(|why| why.contains("cookie") && why.contains("digest"))
    );
    assert_eq!(auth(json!([{}, {"Cookie": []}])).0, Value::Null);
    let two = document(&json!({"/x": {"get": {"security": [{"Token": [], "ApiKey": []}]}}}));
    let two = &imported(&two).tools[0].definition;
    assert_eq!(
        (
            &two["auth_config"]["type"],
            &two["config"]["headers"]["X-Key"]
        ),
        (&json!("bearer"), &secret("pet_shop_apikey"))
    );
    let named = Options {
        secrets: [("ApiKey".to_owned(), "mine".to_owned())].into(),
        ..Options::default()
    };
    let named = read(
        &document(&json!({"/x": {"get": {"security": [{"ApiKey": []}]}}})),
        &named,
    )
    .expect("read");
    let mine = &named.secrets[0];
    assert_eq!((mine.name.as_str(), mine.is_made_up), ("mine", false));
}

#[test]
fn it_is_told_who_would_be_shown_a_secret() {
    let paths = json!({
        "/a": {"get": {"security": [{"Client": []}]}},
        "/b": {"get": {"security": [{"Token": [], "ApiKey": []}]}},
        "/c": {"get": {"security": [{"ApiKey": []}], "servers": [{"url": "https://Up.Example.com:443/x"}]}},
    });
    let imported = imported(&document(&paths));
    let told: Vec<(&str, Vec<&str>)> = imported
        .secrets
        .iter()
        .map(|it| {
            let places = it.shown_to.iter().map(String::as_str).collect();
            (it.name.as_str(), places)
        })
        .collect();
    let (api, up) = ("https://eu.example.com", "https://up.example.com");
    let token = "https://id.example.com";
    assert_eq!(
        told,
        [
            ("pet_shop_apikey", vec![api, up]),
            ("pet_shop_client_client_id", vec![api, token]),
            ("pet_shop_client_client_secret", vec![api, token]),
            ("pet_shop_token", vec![api]),
        ]
    );
    assert!(imported.secrets.iter().all(|it| it.is_made_up));
    // One scheme is told which secret to use, another makes the same name up.
    let named = Options {
        secrets: [("Token".to_owned(), "pet_shop_apikey".to_owned())].into(),
        ..Options::default()
    };
    let named = read(&document(&paths), &named).expect("read");
    assert!(named.secrets[0].is_made_up, "{:?}", named.secrets);
}

#[test]
fn what_cannot_be_a_tool_is_named_with_the_reason() {
    let all = imported(&document(&json!({
        "/a": {"post": {"requestBody": {"required": true, "content": {"application/xml": {"schema": {}}}}}},
        "/b": {"get": {"parameters": [{"name": "sid", "in": "cookie", "required": true, "schema": {"type": "string"}}]}},
        "/c/{d}": {"get": {}},
        "/e": {"get": {"parameters": [{"$ref": "other.yaml#/x"}]}},
        "/f": {"get": {"parameters": [{"$ref": "#/components/parameters/none"}]}},
        "/g": {"trace": {}},
        "/h": {"get": {"parameters": [{"name": "p", "in": "query", "schema": {"type": "string", "pattern": "(?=a)b"}}, {"name": "sid", "in": "cookie", "schema": {"type": "string"}}]}},
    })));
    let why: Vec<&str> = all.left_out.iter().map(|it| it.why.as_str()).collect();
    for (why, part) in why.iter().zip([
        "application/xml",
        "'sid': cookies",
        "another document",
        "is not there",
        "TRACE",
    ]) {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert_eq!((why.len(), all.tools.len()), (5, 2), "{all:?}");
    assert_eq!(all.tools[1].lost.len(), 2, "{:?}", all.tools[1].lost);
    for (broken, told) in [
        (json!({"swagger": "2.0"}), "Swagger 2.0"),
        (json!({"openapi": "4.0"}), "4.0"),
        (json!([]), "nothing"),
        (json!({"openapi": "3.1.0"}), "paths"),
    ] {
        let error = read(&broken, &Options::default())
            .map(drop)
            .map_err(|it| it.to_string());
        assert!(
            error.as_ref().is_err_and(|it| it.contains(told)),
            "{broken}: {error:?}"
        );
    }
}

#[test]
fn operations_are_picked_and_prefixed() {
    let paths = json!({"/pets": {"get": {"operationId": "list", "tags": ["read"]}, "post": {"operationId": "list"}}, "/dogs": {"get": {}}});
    let names = |pick: &[&str]| {
        let options = Options {
            pick: pick.iter().map(|it| (*it).to_owned()).collect(),
            prefix: "p_".to_owned(),
            base_url: Some("http://127.0.0.1:1/api/".to_owned()),
            ..Options::default()
        };
        let imported = read(&document(&paths), &options).expect("read");
        assert!(
            imported
                .tools
                .iter()
                .all(|it| it.definition["config"]["base_url"] == "http://127.0.0.1:1/api")
        );
        imported
            .tools
            .into_iter()
            .map(|it| it.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["p_list", "p_list_2", "p_get_dogs"]);
    assert_eq!(names(&["read"]), ["p_list"]);
    assert_eq!(names(&["GET /*"]), ["p_list", "p_get_dogs"]);
    assert_eq!(names(&["get_d*"]), ["p_get_dogs"]);
    let relative =
        json!({"openapi": "3.1.0", "servers": [{"url": "/v1"}], "paths": {"/a": {"get": {}}}});
    assert!(
        imported(&relative).left_out[0]
            .why
            .contains("where its API is")
    );
}

#[test]
fn tools_that_are_written_can_be_read_again() {
    let tree = json!({"type": "object", "required": ["node"], "properties": {"node": {"$ref": "#/$defs/Node"}, "n": {"type": "integer"}},
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "value": {"type": "string"}}}}});
    let plain = json!({"type": "object"});
    let offer = |name: &'static str, schema| Offer {
        name,
        description: "d",
        title: None,
        input_schema: schema,
        output_schema: None,
        read_only: true,
    };
    let document = write(
        &[offer("walk", &tree), offer("plain", &plain)],
        "Mine",
        "1",
        "http://127.0.0.1:8787",
    );
    let again = imported(&document);
    assert_eq!(again.left_out.len(), 0, "{again:?}");
    let walk = &again.tools[0];
    assert_eq!(
        (walk.name.as_str(), walk.lost.len()),
        ("walk", 0),
        "{walk:?}"
    );
    assert_eq!(
        walk.definition["config"]["body"],
        json!({"arguments": "{{arguments}}"})
    );
    let arguments = &walk.definition["input_schema"]["properties"]["arguments"];
    assert_eq!(arguments["required"], json!(["node"]), "{arguments:#}");
    assert_eq!(again.secrets[0].name, "mine_key");
}

/// Whatever a document says, there is an answer and no crash.
#[test]
fn odd_documents_are_answered() {
    let circle = json!({"openapi": "3.1.0", "servers": [{"url": "http://h"}], "paths": {"/a": {"post": {
        "parameters": [{"$ref": "#/components/parameters/a"}], "requestBody": {"$ref": "#/components/requestBodies/a"}}},
        "/b": {"$ref": "#/paths/~1b"}, "/c": null, "/d": {"get": 7, "post": {"parameters": 7, "requestBody": 7, "security": 7, "tags": 7}},
        "/e": {"post": {"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/self"}}}}}}},
        "components": {"parameters": {"a": {"$ref": "#/components/parameters/a"}}, "requestBodies": {"a": {"$ref": "#/components/requestBodies/a"}},
            "schemas": {"self": {"$ref": "#/components/schemas/self"}}}});
    let all = imported(&circle);
    assert!(
        all.left_out.iter().any(|it| it.why.contains("circle")),
        "{all:?}"
    );
    // Each doubles what it stands for: written out, it would be larger than any memory.
    let mut schemas = serde_json::Map::new();
    for number in 0..60 {
        let next = json!({"$ref": format!("#/components/schemas/S{}", number + 1)});
        schemas.insert(
            format!("S{number}"),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        );
    }
    schemas.insert("S60".to_owned(), json!({"type": "string"}));
    let wide = json!({"openapi": "3.1.0", "servers": [{"url": "http://h"}], "components": {"schemas": schemas}, "paths": {"/a": {"post": {
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}}}}});
    let all = imported(&wide);
    assert_eq!(all.tools.len(), 1, "{:?}", all.left_out);
    assert!(all.tools[0].definition.to_string().len() < 500_000);
}

#[test]
fn null_beside_parts_is_kept_and_what_only_answers_hold_is_not_asked_for() {
    let id = json!({"type": "integer", "readOnly": true});
    let body = json!({"type": "object", "properties": {
        "dog": {"nullable": true, "description": "Whose", "allOf": [{"$ref": "#/components/schemas/Dog"}]},
        "either": {"nullable": true, "title": "Any", "oneOf": [{"type": "string"}, {"type": "integer"}]},
        "kept": {"allOf": [
            {"type": "object", "properties": {"id": id, "note": {"type": "string"}}},
            {"required": ["id", "note"]},
            {"properties": {"inner": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}}},
        ]},
        "written": {"required": ["id"], "allOf": [{"properties": {"id": id}}, {"properties": {"id": {"type": "string"}}}]},
    }});
    let body = json!({"content": {"application/json": {"schema": body}}});
    let made = only(&json!({"/dogs": {"post": {"operationId": "add", "requestBody": body}}}));
    let properties = &made.definition["input_schema"]["properties"];
    let dog = &properties["dog"];
    assert_eq!(dog["type"], json!(["object", "null"]), "{dog}");
    assert_eq!(dog["description"], "Whose");
    assert_eq!(dog["required"], json!(["name", "bark"]));
    let either = json!({"title": "Any", "anyOf": [{"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "null"}]});
    assert_eq!(properties["either"], either);
    let kept = &properties["kept"]["allOf"];
    assert_eq!(kept[1]["required"], json!(["note"]), "{kept}");
    let inner = &kept[2]["properties"]["inner"];
    assert_eq!(
        inner["required"],
        json!(["id"]),
        "another object's: {inner}"
    );
    // What can be sent although one part says otherwise may still be asked for.
    assert_eq!(
        properties["written"]["required"],
        json!(["id"]),
        "{properties}"
    );
}
