//! `doc_parser`, `web_fetch` and `code_execution` through the whole server.

use crate::crib::{Crib, sandbox};
use crate::site::Site;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::path::Path;

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../documents/tests/fixtures")
}

#[test]
fn documents_come_from_the_workspace_or_the_call() {
    let crib = Crib::new();
    for name in ["report.docx", "report.hwpx", "book.xlsx", "report.hwp"] {
        let bytes = std::fs::read(fixtures().join(name)).unwrap();
        std::fs::write(crib.sandbox.workspace().join(name), &bytes).unwrap();
        let by_path = crib.call("doc_parser", &json!({"path": name}));
        assert!(
            by_path.data()["markdown"].as_str().unwrap().len() > 20,
            "{name}: {}",
            by_path.body
        );
        let by_value = crib.call(
            "doc_parser",
            &json!({"content_base64": STANDARD.encode(&bytes), "filename": name}),
        );
        assert_eq!(by_path.data(), by_value.data(), "{name}");
        assert!(
            by_path.body["message"]
                .as_str()
                .unwrap()
                .contains("untrusted")
        );
    }
}

#[test]
fn only_what_tools_may_see_is_read() {
    let key = format!("k1:{}\n", STANDARD.encode([7; 32]));
    let crib = Crib::of(
        sandbox()
            .with("TOOLCRIB_SECRETS_KEY_FILE", "own.key")
            .with("TOOLCRIB_SECRET_KEY", key.trim()),
    );
    crib.sandbox.write("own.key", "hidden");
    std::fs::write(crib.sandbox.folder().join("outside.txt"), "hidden").unwrap();
    crib.sandbox.write(".hidden.txt", "hidden");
    std::os::unix::fs::symlink(
        crib.sandbox.folder().join("outside.txt"),
        crib.sandbox.workspace().join("link.txt"),
    )
    .unwrap();
    for path in [
        "own.key",
        "../outside.txt",
        ".hidden.txt",
        "link.txt",
        "/etc/passwd",
        "tools.json",
        "toolcrib.toml",
        ".toolcrib/secret.key",
        "nowhere.txt",
        ".",
    ] {
        let answer = crib.call("doc_parser", &json!({"path": path}));
        let message = answer.failed("invalid_input");
        assert!(message.contains("there is no file"), "{path}: {message}");
    }
    for arguments in [json!({}), json!({"path": "a", "url": "https://b.example"})] {
        let answer = crib.call("doc_parser", &arguments);
        assert!(answer.failed("invalid_input").contains("exactly one"));
    }
    let answer = crib.call(
        "doc_parser",
        &json!({"content_base64": STANDARD.encode(b"%PDF-1.7 nonsense")}),
    );
    answer.failed("tool_execution_error");
    assert_eq!(answer.details()["reason"], "corrupt");
}

#[test]
fn pages_are_read_from_where_it_is_allowed() {
    let page = "<html><head><title>가격표</title></head><body><nav>menu</nav><main><h1>Prices</h1><p>See <a href='/more'>more</a>.</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></main><script>x()</script></body></html>";
    let site = Site::start(move |request| match request.split(' ').nth(1) {
        Some("/page") => (200, "text/html; charset=utf-8", page.as_bytes().to_vec()),
        Some("/data.csv") => (200, "text/csv", b"a,b\n1,2\n".to_vec()),
        _ => (404, "text/plain", b"no".to_vec()),
    });
    let place = site.url.trim_start_matches("http://").to_owned();
    let closed = Crib::new();
    let message = closed
        .call("web_fetch", &json!({"url": format!("{}/page", site.url)}))
        .failed("forbidden")
        .to_owned();
    assert!(message.contains("TOOLCRIB_HTTP_ALLOW"), "{message}");
    assert!(site.requests().is_empty(), "nothing was sent");
    let open = Crib::of(sandbox().with("TOOLCRIB_HTTP_ALLOW", &place));
    let answer = open.call("web_fetch", &json!({"url": format!("{}/page", site.url)}));
    assert_eq!(answer.data()["title"], "가격표");
    let markdown = answer.data()["markdown"].as_str().unwrap();
    assert!(
        markdown.contains(&format!("[more]({}/more)", site.url)),
        "{markdown}"
    );
    assert!(
        markdown.contains("| 1 | 2 |") && !markdown.contains("menu") && !markdown.contains("x()"),
        "{markdown}"
    );
    let answer = open.call(
        "doc_parser",
        &json!({"url": format!("{}/data.csv", site.url)}),
    );
    assert!(
        answer.data()["markdown"]
            .as_str()
            .unwrap()
            .contains("| 1 | 2 |"),
        "{}",
        answer.body
    );
    let answer = open.call("web_fetch", &json!({"url": format!("{}/none", site.url)}));
    assert_eq!(answer.details()["status"], json!(404), "{}", answer.body);
}

#[test]
fn code_runs_in_a_folder_of_its_own() {
    let crib = Crib::new();
    let run = |language: &str, code: &str, more: serde_json::Value| {
        let mut arguments = json!({"language": language, "code": code});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        crib.call("code_execution", &arguments)
    };
    let code = "import sys\nprint(sum(int(x) for x in open('in/numbers.txt')))\nopen('out.txt', 'w').write('결과')\nprint(input(), file=sys.stderr)\nsys.exit(3)";
    let answer = run(
        "python",
        code,
        json!({"stdin": "hello", "files": {"in/numbers.txt": STANDARD.encode("1\n2\n")}}),
    );
    let expected = json!({"stdout": "3\n", "stderr": "hello\n", "exit_code": 3, "files": {"out.txt": STANDARD.encode("결과")}});
    assert_eq!(answer.data(), &expected);
    let answer = run("shell", "echo $0 $(ls)", json!({}));
    assert_eq!(answer.data()["stdout"], "main.sh main.sh\n");
    for code in [
        "cat /etc/passwd",
        "ls /root",
        "cat /proc/1/environ",
        "echo x > /tmp/escaped-from-toolcrib",
    ] {
        let answer = run("shell", code, json!({}));
        assert_ne!(answer.data()["exit_code"], 0, "{code}: {}", answer.body);
    }
    let answer = run(
        "python",
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        json!({}),
    );
    assert!(
        answer.data()["stderr"]
            .as_str()
            .unwrap()
            .contains("PermissionError"),
        "{}",
        answer.body
    );
    for name in ["../x", "/x", "a/../../x", ""] {
        let answer = run("shell", "true", json!({"files": {name: ""}}));
        assert!(
            answer
                .failed("invalid_input")
                .contains("inside the program's folder"),
            "{name}"
        );
    }
    let answer = crib.call_within(
        "code_execution",
        &json!({"language": "shell", "code": "setsid sleep 98760 & sleep 98760"}),
        1.0,
    );
    answer.failed("timeout");
    crib.nothing_left_of("sleep 98760");
    let answer = crib.call("request_human_input", &json!({"question": "May I?"}));
    assert!(answer.failed("needs_run").contains("run"));
}

#[test]
fn what_a_program_leaves_behind_holds_nobody_up() {
    let crib = Crib::new();
    let code = "import os\nfor i in range(2000):\n    f = open(f'f{i}', 'wb'); f.truncate(4 << 20); f.close()\nos.makedirs('/'.join(['d'] * 300))";
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            crib.call(
                "code_execution",
                &json!({"language": "python", "code": code}),
            )
        });
        while !call.is_finished() {
            let asked = std::time::Instant::now();
            assert_eq!(crib.server.request("GET", "/healthz", None).0, 200);
            assert!(asked.elapsed() < std::time::Duration::from_secs(10));
        }
        let answer = call.join().unwrap();
        let warnings = answer.data()["warnings"].to_string();
        assert!(warnings.contains("not all of its files"), "{warnings}");
    });
}

#[test]
fn a_builtin_that_is_switched_off_is_off_under_every_name() {
    let crib = Crib::of(sandbox().with("TOOLCRIB_BUILTINS_DISABLED", "code_execution"));
    crib.call(
        "code_execution",
        &json!({"language": "shell", "code": "true"}),
    )
    .failed("tool_not_found");
    let (status, answer) = crib.try_add(
        "mine",
        "builtin",
        &json!({"name": "code_execution"}),
        &json!({}),
    );
    assert_eq!(status, 422, "{answer}");
}
