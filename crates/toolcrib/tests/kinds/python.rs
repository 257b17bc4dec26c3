//! Python tools as people write them.

use crate::crib::{Crib, sandbox, until};
use serde_json::{Value, json};

#[test]
fn a_script_is_a_tool_at_once_and_gone_at_once() {
    let crib = Crib::new();
    // Seed 001, user story 3.
    crib.sandbox.write(
        "hello_world.py",
        "def execute(name):\n    return f'Hello, {name}!'\n",
    );
    crib.add(
        "hello_world",
        "python",
        &json!({"script": "hello_world.py"}),
        &json!({"input_schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}),
    );
    assert_eq!(
        crib.call("hello_world", &json!({"name": "세계"})).data(),
        "Hello, 세계!"
    );
    let (status, _) = crib
        .server
        .request("DELETE", "/api/v1/tools/hello_world", None);
    assert_eq!(status, 204);
    crib.call("hello_world", &json!({"name": "x"}))
        .failed("tool_not_found");
}

#[test]
fn functions_may_be_anything_that_can_be_called() {
    let crib = Crib::new();
    crib.sandbox.write(
        "many.py",
        "import asyncio\n\
         class Shop:\n    @staticmethod\n    def price(n: int = 2):\n        return n * 3\n\
         async def later(a, *, b=1):\n    await asyncio.sleep(0)\n    return {'a': a, 'b': b}\n\
         def everything(**arguments):\n    return sorted(arguments)\n\
         def nothing():\n    pass\n",
    );
    for (name, config, arguments, expected) in [
        (
            "sync",
            json!({"script": "many.py", "function": "Shop.price"}),
            json!({}),
            json!(6),
        ),
        (
            "async",
            json!({"script": "many.py", "function": "later"}),
            json!({"a": [1]}),
            json!({"a": [1], "b": 1}),
        ),
        (
            "rest",
            json!({"script": "many.py", "function": "everything"}),
            json!({"z": 1, "a": 2}),
            json!(["a", "z"]),
        ),
        (
            "none",
            json!({"script": "many.py", "function": "nothing"}),
            json!({}),
            json!(null),
        ),
        (
            "installed",
            json!({"module": "textwrap", "function": "shorten"}),
            json!({"text": "a  b", "width": 9}),
            json!("a b"),
        ),
    ] {
        crib.add(name, "python", &config, &json!({}));
        assert_eq!(crib.call(name, &arguments).data(), &expected, "{name}");
    }
}

#[test]
fn what_is_printed_is_in_the_log_and_not_in_the_answer() {
    let crib = Crib::new();
    crib.add_python(
        "chatty",
        "import sys\ndef execute(n):\n    print('to stdout', n)\n    print('to stderr', n, file=sys.stderr)\n    return n\n",
    );
    for n in 1..=3 {
        let answer = crib.call("chatty", &json!({"n": n}));
        assert_eq!(answer.data(), &json!(n));
        let printed = crib.printed(&answer);
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, [format!("to stderr {n}"), format!("to stdout {n}")]);
    }
}

#[test]
fn faults_say_what_and_where() {
    let crib = Crib::new();
    let script = "import json\n\ndef execute(n):\n    return 10 / n\n";
    crib.add_python("divide", script);
    let answer = crib.call("divide", &json!({"n": 0}));
    let message = answer.failed("tool_execution_error");
    assert!(
        message.contains("divide.py:4 (execute): ZeroDivisionError: division by zero"),
        "{message}"
    );
    let place = &answer.details()["place"];
    assert_eq!(
        *place,
        json!({"file": "divide.py", "line": 4, "function": "execute"})
    );
    assert!(crib.printed(&answer).contains("Traceback"));
    assert!(
        !answer.body.to_string().contains("Traceback"),
        "no internal text in the answer"
    );

    assert_eq!(crib.call("divide", &json!({"n": 4})).data(), &json!(2.5));

    crib.add(
        "nowhere",
        "python",
        &json!({"script": "divide.py", "function": "there"}),
        &json!({}),
    );
    let answer = crib.call("nowhere", &json!({}));
    assert!(
        answer
            .failed("tool_execution_error")
            .contains("there is no function 'there'")
    );
}

/// Not the line of Python's own code that found it out.
#[test]
fn the_line_of_a_fault_is_one_of_the_tools() {
    let crib = Crib::new();
    crib.add_python(
        "reads",
        "import json\ndef execute(text):\n    return json.loads(text)\n",
    );
    let answer = crib.call("reads", &json!({"text": "{"}));
    let message = answer.failed("tool_execution_error");
    assert!(
        message.contains("reads.py:3 (execute): JSONDecodeError"),
        "{message}"
    );
    crib.add_python("odd", "def execute():\n    return {1}\n");
    let answer = crib.call("odd", &json!({}));
    let message = answer.failed("tool_execution_error");
    assert!(message.contains("what odd.py returned"), "{message}");
    assert_eq!(answer.details()["place"], json!(null));
    crib.add_python("lacks", "TEXT = 1\nopen('nowhere.txt')\n");
    let answer = crib.call("lacks", &json!({}));
    let message = answer.failed("tool_execution_error");
    assert!(
        message.contains("lacks.py:2 cannot be loaded: FileNotFoundError"),
        "{message}"
    );
}

#[test]
fn a_signature_that_has_changed_is_no_fault_of_the_caller() {
    let crib = Crib::new();
    let script =
        |takes: &str| format!("def area({takes}):\n    \"\"\"Tells a size.\"\"\"\n    return 6\n");
    crib.sandbox.write("space.py", &script("width: int"));
    let made = [
        "tools",
        "add",
        "--from-python",
        "space.py",
        "--name",
        "area",
    ];
    crib.sandbox.ok(&made);
    assert_eq!(crib.call("area", &json!({"width": 2})).data(), &json!(6));
    crib.call("area", &json!({})).failed("invalid_input");

    crib.sandbox
        .write("space.py", &script("width: int, depth: int"));
    let answer = crib.call("area", &json!({"width": 2}));
    let message = answer.failed("not_configured");
    assert!(
        message.contains("missing a required argument: 'depth'"),
        "{message}"
    );
    // What it says to do helps.
    let mend = "tools add --from-python space.py --function area --name area --print | toolcrib tools update area -";
    assert!(message.contains(mend), "{message}");
    let (print, update) = mend.split_once(" | toolcrib ").unwrap();
    let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    let definition = crib.sandbox.ok(&words(print));
    let done = crib.sandbox.run_with_stdin(&words(update), &definition);
    assert_eq!(done.code, 0, "{done:?}");
    let answer = crib.call("area", &json!({"width": 2, "depth": 3}));
    assert_eq!(answer.data(), &json!(6));
    crib.call("area", &json!({"width": 2}))
        .failed("invalid_input");
}

#[test]
fn a_signature_that_json_does_not_know_is_refused() {
    let crib = Crib::new();
    let refused = |script: &str, part: &str| {
        crib.sandbox.write("when.py", script);
        let done = crib
            .sandbox
            .run(&["tools", "add", "--from-python", "when.py", "--print"]);
        assert!(done.code != 0 && done.stderr.contains(part), "{done:?}");
    };
    refused(
        "import datetime\ndef execute(a: int,\n            day: datetime.date):\n    'Tells.'\n",
        "line 3: 'day' is annotated with 'datetime.date'",
    );
    refused(
        "class X: pass\ndef execute(a: list[X]): 'Tells.'\n",
        "line 2: 'a' is annotated with 'X'",
    );
    refused("def execute(*a, **b): 'Tells.'\n", "line 1: 'execute'");
    crib.sandbox.write(
        "when.py",
        "import typing\nNames = list[str]\nclass Point(typing.TypedDict):\n    x: int\n\
         def execute(a: Names, b: Point, c: typing.Any): 'Tells.'\n",
    );
    let made = crib
        .sandbox
        .ok(&["tools", "add", "--from-python", "when.py", "--print"]);
    let made: Value = serde_json::from_str(&made).unwrap();
    let expected = json!({"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "object"}, "c": {}});
    assert_eq!(made["input_schema"]["properties"], expected);
}

#[test]
fn secrets_reach_only_the_tool_that_names_them() {
    let crib = Crib::of(sandbox().with("SERVER_SECRET", "swordfish-4711"));
    crib.sandbox.write(
        "show.py",
        "import os\ndef execute(name):\n    print(os.environ.get(name))\n    return os.environ.get(name)\n",
    );
    let config =
        json!({"script": "show.py", "env": {"TOKEN": {"$env": "SERVER_SECRET"}, "MODE": "fast"}});
    crib.add("with_token", "python", &config, &json!({}));
    crib.add(
        "without",
        "python",
        &json!({"script": "show.py"}),
        &json!({}),
    );
    assert_eq!(
        crib.call("with_token", &json!({"name": "MODE"})).data(),
        "fast"
    );
    // It is there, and it is hidden in what leaves the server.
    let answer = crib.call("with_token", &json!({"name": "TOKEN"}));
    assert_ne!(answer.data(), &json!(null));
    assert!(
        !answer.body.to_string().contains("swordfish"),
        "{}",
        answer.body
    );
    assert!(!crib.printed(&answer).contains("swordfish"));
    for name in ["TOKEN", "SERVER_SECRET", "TOOLCRIB_ADMIN_KEY"] {
        assert_eq!(
            crib.call("without", &json!({"name": name})).data(),
            &json!(null),
            "{name}"
        );
    }
    assert!(
        crib.below()
            .iter()
            .all(|(_, line)| !line.contains("swordfish")),
        "never in a list of processes"
    );
}

#[test]
fn a_sandboxed_script_writes_only_to_its_own_folder() {
    let lacking = process::sandbox::missing();
    assert!(lacking.is_empty(), "this kernel lacks {lacking:?}");
    let crib = Crib::new();
    crib.sandbox.write("notes.txt", "public");
    crib.sandbox.write(
        "try.py",
        "import os, tempfile\ndef execute(what):\n    try:\n        return str(eval(what))\n    except OSError as error:\n        return type(error).__name__\n",
    );
    crib.add(
        "walled",
        "python",
        &json!({"script": "try.py", "sandbox": "require"}),
        &json!({}),
    );
    let data = crib.sandbox.workspace().join(".toolcrib/secret.key");
    assert!(data.exists());
    for (what, expected) in [
        ("open('notes.txt').read()".to_owned(), Some("public")),
        (
            "tempfile.NamedTemporaryFile().write(b'x')".to_owned(),
            Some("1"),
        ),
        (format!("open({data:?}).read()"), None),
        ("open('tools.json').read()".to_owned(), None),
        ("open('new.txt', 'w')".to_owned(), None),
        ("open('/etc/passwd').read()".to_owned(), None),
        ("open('/proc/1/environ').read()".to_owned(), None),
        ("__import__('socket').socket()".to_owned(), None),
        ("os.kill(os.getppid(), 9)".to_owned(), None),
    ] {
        let answer = crib.call("walled", &json!({"what": what}));
        let said = answer.data().as_str().unwrap();
        match expected {
            Some(expected) => assert_eq!(said, expected, "{what}"),
            None => assert!(
                ["PermissionError", "ProcessLookupError"].contains(&said),
                "{what}: {said}"
            ),
        }
    }
}

#[test]
fn only_admins_store_what_runs_as_the_server() {
    let crib = Crib::new();
    let (status, key) = crib.server.request(
        "POST",
        "/api/v1/keys",
        Some(&json!({"name": "writer", "scopes": ["read", "call", "author"]})),
    );
    assert_eq!(status, 201, "{key}");
    let author = |path: &str, body: &Value| {
        let key = key["key"].as_str().unwrap();
        crib.server
            .try_request_as(key, "POST", path, Some(body))
            .unwrap()
    };
    for (kind, config) in [
        ("python", json!({"script": "x.py"})),
        ("shell", json!({"command": ["id"]})),
        ("builtin", json!({"name": "calculator", "sandbox": "off"})),
    ] {
        let definition = json!({"name": "mine", "description": "d", "kind": kind, "config": config, "input_schema": {"type": "object"}});
        let (status, answer) = author("/api/v1/tools", &definition);
        assert_eq!(status, 403, "{answer}");
        let (status, answer) = author(
            "/api/v1/tools/test",
            &json!({"tool": definition, "arguments": {}}),
        );
        assert_eq!(status, 403, "{answer}");
    }
}

#[test]
fn what_a_call_starts_ends_with_it() {
    let crib = Crib::new();
    crib.add_python(
        "leaves",
        "import subprocess\ndef execute():\n    for i in range(5):\n        subprocess.Popen(['sleep', '98761'], start_new_session=True)\n    return 'done'\n",
    );
    assert_eq!(crib.call("leaves", &json!({})).data(), "done");
    crib.nothing_left_of("sleep 98761");
    until("the next call works", || {
        (crib.call("leaves", &json!({})).data() == "done").then_some(())
    });
    crib.nothing_left_of("sleep 98761");
}

#[test]
fn a_script_brings_its_own_packages() {
    let mut sandbox = sandbox();
    for (name, value) in kinds::for_installing(variable) {
        sandbox = sandbox.with(name.to_str().unwrap(), value.to_str().unwrap());
    }
    let crib = Crib::of(sandbox);
    let script = |needs: &str| {
        format!(
            "# /// script\n# dependencies = [{needs}]\n# ///\nimport sys\ndef execute(name):\n    __import__(name)\n    return sys.prefix\n"
        )
    };
    let packages = json!({"name": "iniconfig"});
    crib.add_python("plain", &script(""));
    let message = crib
        .call("plain", &packages)
        .failed("tool_execution_error")
        .to_owned();
    assert!(message.contains("No module named 'iniconfig'"), "{message}");
    // Installed when they are saved, so that the first call need not wait.
    crib.add_python("one", &script("\"iniconfig\""));
    crib.add_python("two", &script("'iniconfig'"));
    let (one, two) = (crib.call("one", &packages), crib.call("two", &packages));
    assert_eq!(
        one.data(),
        two.data(),
        "the same needs, the same environment"
    );
    assert!(
        one.data().as_str().unwrap().contains(".toolcrib/python/"),
        "{}",
        one.body
    );
    crib.sandbox
        .write("bad.py", &script("\"no-such-package-of-toolcrib==9.9\""));
    let (status, answer) = crib.try_add("bad", "python", &json!({"script": "bad.py"}), &json!({}));
    assert_eq!(status, 422, "{answer}");
    assert!(
        answer.to_string().contains("no-such-package-of-toolcrib"),
        "{answer}"
    );
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}
