//! Secrets are found nowhere: not in a file, not in an answer, not in what the program says. And a rotation that is
//! killed loses none.

use crate::engine::{self, Site};
use crate::harness::{Done, Running, Sandbox};
use crate::sizes;
use crate::wire::Dice;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;
use store::seal::SealingKeys;
use zeroize::Zeroizing;

/// Secrets that a rotation is killed over.
const ROTATED: usize = 150;

/// A sealing key as the environment holds it.
fn key(number: u8) -> String {
    format!("k{number}:{}", STANDARD.encode([number; 32]))
}

fn serve(sandbox: &Sandbox, keys: &str) -> Running {
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("TOOLCRIB_ADMIN_KEY", crate::harness::ADMIN_KEY)
        .env("TOOLCRIB_SECRET_KEY", keys)
        .env("TOOLCRIB_TELEMETRY_LEVEL", "trace");
    Running::start(command)
}

/// Every way a value might have been written down.
struct Planted {
    value: String,
    forms: Vec<Vec<u8>>,
}

impl Planted {
    fn new(number: usize) -> Self {
        // Some as tokens are, some with everything that is written differently in one place or the other.
        let value = match number % 3 {
            0 => format!("sk-live-{number:02}-Zq7{}", "Xy9".repeat(4)),
            1 => format!("\"quoted\\{number:02}\"\twith 열쇠 and <&>"),
            _ => format!(
                "-----BEGIN {number:02}-----\nMIIBVgIBADANBg{number:02}kqhkiG9w0BAQ\n-----END-----"
            ),
        };
        let hex = |upper: bool| {
            let digits = value.bytes().map(|b| {
                if upper {
                    format!("{b:02X}")
                } else {
                    format!("{b:02x}")
                }
            });
            digits.collect::<String>().into_bytes()
        };
        let json = json!(value).to_string();
        let forms = vec![
            value.clone().into_bytes(),
            json.trim_matches('"').as_bytes().to_vec(),
            STANDARD_NO_PAD.encode(&value).into_bytes(),
            URL_SAFE_NO_PAD.encode(&value).into_bytes(),
            hex(false),
            hex(true),
        ];
        Planted { value, forms }
    }
}

/// Everything that was looked through, and where something was found.
#[derive(Default)]
struct Search {
    planted: Vec<Planted>,
    places: usize,
    bytes: usize,
    found: Vec<String>,
}

impl Search {
    fn look(&mut self, place: &str, bytes: &[u8]) {
        self.places += 1;
        self.bytes += bytes.len();
        for planted in &self.planted {
            let holds = |form: &Vec<u8>| bytes.windows(form.len()).any(|window| window == form);
            if planted.forms.iter().any(holds) {
                self.found.push(format!("{:?} in {place}", planted.value));
            }
        }
    }

    fn look_through(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.look_through(&path);
            } else if path.is_file() {
                // SQLite may take a file away while we look.
                let bytes = std::fs::read(&path).unwrap_or_default();
                self.look(&path.display().to_string(), &bytes);
            }
        }
    }

    fn ask(
        &mut self,
        server: &Running,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> (u16, Value) {
        let (status, answer) = server.request(method, path, body);
        self.look(&format!("{method} {path}"), answer.to_string().as_bytes());
        (status, answer)
    }

    fn hear(&mut self, what: &str, done: &Done) {
        assert_eq!(done.code, 0, "{what}: {done:?}");
        self.look(what, done.stdout.as_bytes());
        self.look(what, done.stderr.as_bytes());
    }

    fn read_everything(&mut self, server: &Running) {
        for path in [
            "tools?limit=500",
            "secrets",
            "secrets/verify",
            "executions?limit=200",
            "executions/stats",
            "audit?limit=500",
            "keys",
            "users",
            "policy",
        ] {
            let path = format!("/api/v1/{path}");
            let (status, answer) = self.ask(server, "GET", &path, None);
            assert_eq!(status, 200, "{path}: {answer}");
        }
        for path in ["/healthz", "/readyz", "/api/openapi.json"] {
            self.ask(server, "GET", path, None);
        }
        for number in 0..self.planted.len() / 2 {
            for part in ["", "/versions", "/versions/1", "/versions/2"] {
                let path = format!("/api/v1/tools/tool_{number}{part}");
                let (status, answer) = self.ask(server, "GET", &path, None);
                assert_eq!(status, 200, "{path}: {answer}");
            }
        }
    }
}

fn tool(number: usize, auth: &Value) -> Value {
    json!({
        "name": format!("tool_{number}"), "description": "Adds up", "kind": "builtin",
        "config": {"name": "calculator"}, "auth_config": auth,
        "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}},
    })
}

/// The first half goes into tools, the second becomes named secrets.
fn plant(search: &mut Search, server: &Running) {
    let values: Vec<String> = search.planted.iter().map(|p| p.value.clone()).collect();
    let (in_tools, named) = values.split_at(values.len() / 2);
    for (number, value) in named.iter().enumerate() {
        let path = format!("/api/v1/secrets/named_{number}");
        let (status, answer) = search.ask(server, "PUT", &path, Some(&json!({"value": value})));
        assert_eq!(status, 201, "{answer}");
    }
    for (number, value) in in_tools.iter().enumerate() {
        let first = json!({"type": "bearer", "token": {"$secret": format!("named_{number}")}, "list": [value]});
        let (status, answer) =
            search.ask(server, "POST", "/api/v1/tools", Some(&tool(number, &first)));
        assert_eq!(status, 201, "{answer}");
        let path = format!("/api/v1/tools/tool_{number}");
        let patch = json!({"auth_config": {"token": value, "deep": {"er": value}}});
        let (status, answer) = search.ask(server, "PATCH", &path, Some(&patch));
        assert_eq!(status, 200, "{answer}");
    }
}

/// Calls that work and calls that fail, and every way to send a secret wrongly.
fn stir(search: &mut Search, server: &Running) {
    let values: Vec<String> = search.planted.iter().map(|p| p.value.clone()).collect();
    for (number, value) in values.iter().enumerate() {
        let name = number % (values.len() / 2);
        let path = format!("/api/v1/tools/tool_{name}/call");
        for expression in [json!("1 + 1"), json!("1 / 0"), json!(5)] {
            let body = json!({"arguments": {"expression": expression}});
            search.ask(server, "POST", &path, Some(&body));
        }
        let mut wrong = tool(90, &json!({"token": value}));
        wrong["kind"] = json!("nonsense");
        let mut on_file = tool(91, &json!({"token": value}));
        on_file["shelf"] = json!("file");
        let trial =
            json!({"tool": tool(92, &json!({"token": value})), "arguments": {"expression": "2"}});
        for (method, path, body) in [
            ("POST", "/api/v1/tools", wrong),
            ("POST", "/api/v1/tools", on_file),
            ("POST", "/api/v1/tools", tool(93, &json!(value))),
            (
                "POST",
                "/api/v1/tools",
                tool(94, &json!({"token": {"$secret": value}})),
            ),
            (
                "POST",
                "/api/v1/tools",
                tool(95, &json!({"token": {"$env": value}})),
            ),
            (
                "POST",
                "/api/v1/tools",
                tool(96, &json!({"token": {"$sealed": value}})),
            ),
            (
                "PATCH",
                "/api/v1/tools/tool_0",
                json!({"auth_config": value}),
            ),
            ("POST", "/api/v1/tools/test", trial),
            ("PUT", "/api/v1/secrets/x", json!(value)),
            ("PUT", "/api/v1/secrets/x", json!({"value": [value]})),
            (
                "PUT",
                "/api/v1/secrets/not%20a%20name",
                json!({"value": value}),
            ),
        ] {
            search.ask(server, method, path, Some(&body));
        }
    }
}

#[test]
fn a_planted_secret_is_found_nowhere() {
    for site in engine::every("planted secrets") {
        let mut search = Search {
            planted: (0..30).map(Planted::new).collect(),
            ..Search::default()
        };
        let sandbox = &site.sandbox;
        let server = serve(sandbox, &key(1));
        plant(&mut search, &server);
        stir(&mut search, &server);
        search.read_everything(&server);
        search.look_through(sandbox.folder());
        let words = server.last_words().join("\n");
        assert!(words.contains("DEBUG"), "it was told to say everything");
        search.look("stderr", words.as_bytes());

        let server = serve(sandbox, &format!("{},{}", key(2), key(1)));
        let (_, rotated) = search.ask(&server, "POST", "/api/v1/secrets/rotate", None);
        assert_eq!(
            (&rotated["left"], &rotated["key_id"]),
            (&json!(0), &json!("k2"))
        );
        search.read_everything(&server);
        let copy = sandbox.folder().join("copy");
        for arguments in [
            &["backup", copy.to_str().unwrap()][..],
            &["tools", "list", "--json"],
            &["tools", "show", "tool_1"],
            &["tools", "history", "tool_1", "--diff", "2"],
            &["secrets", "list"],
            &["secrets", "verify"],
            &["log", "--limit", "1000"],
            &["config", "show"],
        ] {
            let done = sandbox.run(arguments);
            search.hear(&arguments.join(" "), &done);
        }
        search.look_through(sandbox.folder());
        let words = server.last_words().join("\n");
        search.look("stderr", words.as_bytes());
        search.look_through(sandbox.folder());
        assert!(search.found.is_empty(), "{:#?}", search.found);
        assert!(copy.join("backup.json").exists());
        println!(
            "planted secrets on {}: {} values in {} forms each, {} places with {} bytes looked through, 0 found",
            site.engine,
            search.planted.len(),
            search.planted[0].forms.len(),
            search.places,
            search.bytes
        );
    }
}

/// The value of each secret of a rotation.
fn value(number: usize) -> String {
    format!("the value of number {number}")
}

/// How many secrets are under this key, and that each opens.
fn under(server: &Running, key_id: &str) -> usize {
    let (_, check) = server.request("GET", "/api/v1/secrets/verify", None);
    assert_eq!(
        (&check["valid"], &check["secrets"]),
        (&json!(true), &json!(ROTATED)),
        "{check}"
    );
    let (_, page) = server.request("GET", "/api/v1/secrets?limit=500", None);
    let items = page["items"].as_array().unwrap();
    items
        .iter()
        .filter(|secret| secret["key_id"] == key_id)
        .count()
}

/// Opens every secret with only this key, as nobody over the API can, and compares it.
fn compare(site: &Site, number: u8) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let keys =
        SealingKeys::new(vec![(format!("k{number}"), Zeroizing::new([number; 32]))]).unwrap();
    let file = site.sandbox.workspace().join(".toolcrib/registry.db");
    if !file.exists() {
        return;
    }
    runtime.block_on(async {
        let db = store::Db::open_sqlite(&file).await.unwrap();
        let rows = db.secrets().await.unwrap();
        assert_eq!(rows.len(), ROTATED);
        for row in rows {
            let opened = keys.open(row.id, &row.sealed).unwrap();
            let number = row.name.as_deref().unwrap().trim_start_matches("s_");
            assert_eq!(*opened, value(number.parse().unwrap()));
        }
        db.close().await;
    });
}

#[test]
fn a_rotation_that_is_killed_goes_on_and_loses_nothing() {
    for site in engine::every("kill -9 during rotation") {
        let mut dice = Dice(20_261_115);
        let server = serve(&site.sandbox, &key(0));
        for number in 0..ROTATED {
            let path = format!("/api/v1/secrets/s_{number}");
            let (status, answer) =
                server.request("PUT", &path, Some(&json!({"value": value(number)})));
            assert_eq!(status, 201, "{answer}");
        }
        drop(server);
        // How long one takes that nobody disturbs.
        let server = serve(&site.sandbox, &format!("{},{}", key(1), key(0)));
        let began = Instant::now();
        let (_, rotated) = server.request("POST", "/api/v1/secrets/rotate", None);
        let whole = began.elapsed();
        assert_eq!(rotated["rotated"], ROTATED);
        drop(server);
        let kills = sizes().rotations;
        let mut midway = 0;
        for round in 1..=kills {
            let round = u8::try_from(round).unwrap();
            let (old, new) = (key(round), key(round + 1));
            let keys = format!("{new},{old}");
            let server = serve(&site.sandbox, &keys);
            std::thread::scope(|scope| {
                let rotating =
                    scope.spawn(|| server.try_request("POST", "/api/v1/secrets/rotate", None));
                std::thread::sleep(whole.mul_f64(dice.below(1_000) as f64 / 1_000.0));
                server.signal(Signal::KILL);
                let _ = rotating.join().unwrap();
            });
            drop(server);
            let server = serve(&site.sandbox, &keys);
            let new_id = format!("k{}", round + 1);
            let done = under(&server, &new_id);
            midway += usize::from(done > 0 && done < ROTATED);
            let (_, rest) = server.request("POST", "/api/v1/secrets/rotate", None);
            assert_eq!(
                (&rest["rotated"], &rest["left"]),
                (&json!(ROTATED - done), &json!(0))
            );
            assert_eq!(under(&server, &new_id), ROTATED);
            drop(server.last_words());
            compare(&site, round + 1);
        }
        assert!(midway > 0, "no kill came in the middle of a rotation");
        println!(
            "kill -9 during rotation on {}: {kills} kills, {midway} of them midway through {ROTATED} secrets ({whole:?} undisturbed), all resumed, 0 lost",
            site.engine
        );
    }
}

/// What the tests above rest on: the search finds what is there.
#[test]
fn the_search_finds_each_form() {
    let mut search = Search {
        planted: (0..3).map(Planted::new).collect(),
        ..Search::default()
    };
    let forms: Vec<Vec<u8>> = search
        .planted
        .iter()
        .flat_map(|p| p.forms.clone())
        .collect();
    for form in &forms {
        search.look("here", &[b"before ", form.as_slice(), b" after"].concat());
    }
    search.look("elsewhere", b"nothing of it");
    assert_eq!(search.found.len(), forms.len());
}
