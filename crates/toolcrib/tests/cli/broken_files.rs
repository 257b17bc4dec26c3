//! Mistakes in files, folders and on the machine.

use crate::broken::{Broken, Mistake, each, sound, tools};
use crate::harness::Sandbox;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

const STRANGER: u32 = 65_534;

/// A file system of its own; unmounted when dropped.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn at(folder: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(folder).expect("a folder can be made");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(folder);
        let is_done = mount.output().ok()?.status.success();
        is_done.then(|| Mounted(folder.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

/// The data folder on a file system of its own.
fn disk(options: &str) -> Option<Broken> {
    let sandbox = sound();
    let mounted = Mounted::at(&data(&sandbox), options)?;
    Some(Broken::new(sandbox).keep(mounted))
}

fn data(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.workspace().join(".toolcrib")
}

fn with_file(name: &str, text: &str) -> Option<Broken> {
    let sandbox = sound();
    sandbox.write(name, text);
    Some(Broken::new(sandbox))
}

/// One that has been used.
fn used() -> Sandbox {
    let sandbox = sound();
    sandbox.ok(&["call", "calculator", "{\"expression\": \"1 + 1\"}"]);
    sandbox
}

fn owned_by_another(name: &str) -> Option<Broken> {
    let sandbox = used();
    let file = data(&sandbox).join(name);
    chown(file, Some(STRANGER), None).ok()?;
    Some(Broken::new(sandbox))
}

fn with_python_tool() -> Sandbox {
    let sandbox = sound();
    let tool = json!({"name": "greet", "description": "greets somebody", "kind": "python", "config": {"script": "greet.py"}});
    tools(&sandbox, &tool);
    sandbox.write(
        "greet.py",
        "def execute(**arguments):\n    return 'hello'\n",
    );
    sandbox
}

const CONFIGURATION: &[Mistake] = &[
    Mistake {
        id: "configuration.key",
        is_fatal: true,
        says: &[
            "toolcrib.toml:2",
            "unknown key 'server.lisen'",
            "did you mean 'server.listen'",
        ],
        remedy: "toolcrib init",
        make: || with_file("toolcrib.toml", "[server]\nlisen = \"127.0.0.1:1\"\n"),
    },
    Mistake {
        id: "configuration.variable",
        is_fatal: true,
        says: &[
            "TOOLCRIB_SERVER_LISTN",
            "did you mean 'TOOLCRIB_SERVER_LISTEN'",
        ],
        remedy: "correct it there",
        make: || {
            Some(Broken::new(
                sound().with("TOOLCRIB_SERVER_LISTN", "127.0.0.1:1"),
            ))
        },
    },
    Mistake {
        id: "configuration.value",
        is_fatal: true,
        says: &["toolcrib.toml:1"],
        remedy: "correct it there",
        make: || with_file("toolcrib.toml", "[server\n"),
    },
    Mistake {
        id: "configuration.unreadable",
        is_fatal: true,
        says: &["elsewhere.toml: cannot be read"],
        remedy: "correct it there",
        make: || {
            let mut broken = Broken::new(sound());
            broken.arguments = vec!["--config".to_owned(), "elsewhere.toml".to_owned()];
            Some(broken)
        },
    },
    Mistake {
        id: "configuration.open",
        is_fatal: false,
        says: &["toolcrib.toml holds web_search.api_key"],
        remedy: "TOOLCRIB_WEB_SEARCH_API_KEY",
        make: || {
            let sandbox = sound();
            let file = sandbox.workspace().join("toolcrib.toml");
            let text = fs::read_to_string(&file).expect("init has written it");
            let key = "[web_search]\napi_key = \"hunter2\"\n";
            sandbox.write("toolcrib.toml", &text.replace("[web_search]\n", key));
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "workspace.tools",
        is_fatal: true,
        says: &["tools.json:1"],
        remedy: "",
        make: || with_file("tools.json", "{\"version\": 1, \"tools\": [,]}"),
    },
    Mistake {
        id: "workspace.mcp",
        is_fatal: true,
        says: &["mcp.json", "mcpServers"],
        remedy: "",
        make: || with_file("mcp.json", "{\"mcpServers\": []}"),
    },
    Mistake {
        id: "skills.file",
        is_fatal: false,
        says: &["weekly-limit/SKILL.md:2", "at name"],
        remedy: "without spaces",
        make: || with_file("skills/weekly-limit/SKILL.md", "---\nname: a b\n---\nx\n"),
    },
    Mistake {
        id: "workspace.none",
        is_fatal: true,
        says: &["is no workspace"],
        remedy: "toolcrib init",
        make: || {
            let mut broken = Broken::new(Sandbox::bare());
            broken.arguments = vec!["--workspace".to_owned(), "nowhere".to_owned()];
            Some(broken)
        },
    },
    // A server that runs goes on with what it has, and says the same.
    Mistake {
        id: "workspace.tools",
        is_fatal: true,
        says: &["tools.json:1"],
        remedy: "",
        make: || {
            let sandbox = sound();
            let server = sandbox.serve(&[]);
            sandbox.write("tools.json", "{\"version\": 1, \"tools\": [,]}");
            let mut broken = Broken::new(sandbox).keep(server);
            broken.is_served = true;
            Some(broken)
        },
    },
    Mistake {
        id: "configuration.key",
        is_fatal: true,
        says: &["unknown key 'servers.listen'"],
        remedy: "toolcrib init",
        make: || {
            let sandbox = sound();
            let server = sandbox.serve(&[]);
            sandbox.write("toolcrib.toml", "[servers]\nlisten = \"127.0.0.1:1\"\n");
            let mut broken = Broken::new(sandbox).keep(server);
            broken.is_served = true;
            Some(broken)
        },
    },
];

const FOLDERS: &[Mistake] = &[
    Mistake {
        id: "data.open",
        is_fatal: false,
        says: &[".toolcrib is open to other users"],
        remedy: "chmod 700",
        make: || {
            let sandbox = used();
            let open = fs::Permissions::from_mode(0o755);
            fs::set_permissions(data(&sandbox), open).expect("it is ours");
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "data.not_a_folder",
        is_fatal: true,
        says: &[".toolcrib is not a folder"],
        remedy: "--data",
        make: || with_file(".toolcrib", "something"),
    },
    Mistake {
        id: "data.other_owner",
        is_fatal: false,
        says: &["belongs to another user (uid 65534"],
        remedy: "run toolcrib as the user",
        make: || owned_by_another(""),
    },
    Mistake {
        id: "data.other_files",
        is_fatal: false,
        says: &["registry.db belongs to another user"],
        remedy: "chown -R",
        make: || owned_by_another("registry.db"),
    },
    Mistake {
        id: "data.not_writable",
        is_fatal: true,
        says: &["cannot be written"],
        remedy: "--data",
        make: || disk("ro,mode=0700"),
    },
    Mistake {
        id: "disk.full",
        is_fatal: true,
        says: &["MB free for"],
        remedy: "make room",
        make: || disk("size=4m,mode=0700"),
    },
    Mistake {
        id: "disk.low",
        is_fatal: false,
        says: &["MB free for"],
        remedy: "make room",
        make: || disk("size=500m,mode=0700"),
    },
    Mistake {
        id: "log.room",
        is_fatal: false,
        says: &["today alone takes", "(1000000)", "was deleted"],
        remedy: "log.retention_megabytes",
        make: || {
            let sandbox = sound().with("TOOLCRIB_LOG_RETENTION_MEGABYTES", "1");
            let text = "x".repeat(400_000);
            let arguments = json!({"expression": format!("len('{text}')")}).to_string();
            for _ in 0..3 {
                sandbox.run_with_stdin(&["call", "calculator", "-"], &arguments);
            }
            let server = sandbox.serve(&[]);
            let mut broken = Broken::new(sandbox).keep(server);
            broken.is_served = true;
            Some(broken)
        },
    },
    Mistake {
        id: "clock.set_back",
        is_fatal: false,
        says: &["entries of 2098-01-01"],
        remedy: "NTP",
        make: || {
            let sandbox = used();
            let file = data(&sandbox).join("log/2098-01-01.db");
            fs::write(file, "").expect("the log is ours");
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "database.damaged",
        is_fatal: true,
        says: &["registry.db", "not a database"],
        remedy: "toolcrib restore",
        make: || {
            let sandbox = used();
            let text = "not a database, but long enough to be taken for one by who reads the first bytes of it only";
            fs::write(data(&sandbox).join("registry.db"), text).expect("it is ours");
            let _ = fs::remove_file(data(&sandbox).join("registry.db-wal"));
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "owner.silent",
        is_fatal: false,
        says: &["owns the workspace but its socket does not answer"],
        remedy: "end that process",
        make: || {
            let sandbox = used();
            let lock = fs::File::open(data(&sandbox).join("lock")).expect("it was made");
            lock.try_lock().expect("nobody has it");
            Some(Broken::new(sandbox).keep(lock))
        },
    },
    Mistake {
        id: "limits.open_files",
        is_fatal: false,
        says: &["may open 256 files"],
        remedy: "LimitNOFILE",
        make: || {
            let mut broken = Broken::new(sound());
            broken.shell = Some("ulimit -n 256");
            Some(broken)
        },
    },
];

const KEYS_AND_TOOLS: &[Mistake] = &[
    Mistake {
        id: "secrets.key",
        is_fatal: true,
        says: &["there is no key file", ".toolcrib/secret.key"],
        remedy: "put the key file there",
        make: || {
            let sandbox = sound();
            sandbox.run_with_stdin(&["secrets", "set", "token"], "a secret");
            fs::remove_file(data(&sandbox).join("secret.key")).expect("it was made");
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "secrets.key",
        is_fatal: true,
        says: &["which is not in TOOLCRIB_SECRET_KEY"],
        remedy: "toolcrib secrets rotate",
        make: || {
            let sandbox = sound();
            sandbox.run_with_stdin(&["secrets", "set", "token"], "a secret");
            let other = "k9:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
            Some(Broken::new(sandbox.with("TOOLCRIB_SECRET_KEY", other)))
        },
    },
    Mistake {
        id: "secrets.guessable",
        is_fatal: false,
        says: &["TOOLCRIB_SECRET_KEY holds a plain text"],
        remedy: "openssl rand",
        make: || {
            Some(Broken::new(
                sound().with("TOOLCRIB_SECRET_KEY", "swordfish"),
            ))
        },
    },
    Mistake {
        id: "keys.guessable",
        is_fatal: false,
        says: &["TOOLCRIB_ADMIN_KEY is short"],
        remedy: "openssl rand",
        make: || Some(Broken::new(sound().with("TOOLCRIB_ADMIN_KEY", "admin"))),
    },
    Mistake {
        id: "keys.expired",
        is_fatal: false,
        says: &["the key 'ci' of admin expired"],
        remedy: "toolcrib keys",
        make: || {
            let sandbox = sound();
            sandbox.ok(&[
                "keys",
                "create",
                "ci",
                "--scopes",
                "read",
                "--expires-at",
                "2099-01-01T00:00:00Z",
            ]);
            expire(&data(&sandbox).join("registry.db"));
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "python.missing",
        is_fatal: false,
        says: &["'no-such-python' does not run here", "'greet'"],
        remedy: "python.interpreter",
        make: || {
            Some(Broken::new(
                with_python_tool().with("TOOLCRIB_PYTHON_INTERPRETER", "no-such-python"),
            ))
        },
    },
    Mistake {
        id: "tools.trouble",
        is_fatal: false,
        says: &["'greet'", "there is no script 'greet.py'"],
        remedy: "tools disable greet",
        make: || {
            let sandbox = with_python_tool();
            fs::remove_file(sandbox.workspace().join("greet.py")).expect("it was written");
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "tools.builtin",
        is_fatal: false,
        says: &["'near' names the builtin 'calculatr'"],
        remedy: "did you mean 'calculator'?",
        make: || {
            let sandbox = sound();
            let tool = json!({"name": "near", "description": "adds numbers", "kind": "builtin", "config": {"name": "calculatr"}});
            tools(&sandbox, &tool);
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "policy.unknown_tool",
        is_fatal: false,
        says: &["the whitelist names 'calculater'"],
        remedy: "TOOL_WHITELIST",
        make: || {
            let enforced = sound().with("FEATURE_TOOLS_POLICY", "true");
            Some(Broken::new(
                enforced.with("TOOL_WHITELIST", "calculator,calculater"),
            ))
        },
    },
    Mistake {
        id: "policy.unknown_tool",
        is_fatal: false,
        says: &["rules[0].deny: 'calculater' fits no tool"],
        remedy: "toolcrib policy set",
        make: || {
            let sandbox = sound();
            sandbox.ok(&[
                "policy",
                "set",
                r#"{"rules": [{"subject": "everyone", "deny": ["calculater", "unit_*"]}]}"#,
            ]);
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "policy.empty",
        is_fatal: false,
        says: &["the whitelist is empty"],
        remedy: "TOOL_WHITELIST",
        make: || Some(Broken::new(sound().with("FEATURE_TOOLS_POLICY", "true"))),
    },
    Mistake {
        id: "policy.not_enforced",
        is_fatal: false,
        says: &["it is not enforced"],
        remedy: "FEATURE_TOOLS_POLICY",
        make: || Some(Broken::new(sound().with("TOOL_WHITELIST", "calculator"))),
    },
];

/// Lets the time of every key that ends run out: to wait for it would take as long.
fn expire(registry: &Path) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(async {
        use sqlx::Connection;
        let url = format!("sqlite://{}", registry.display());
        let mut line = sqlx::SqliteConnection::connect(&url)
            .await
            .expect("it is there");
        let past = "UPDATE keys SET expires_at = 1000 WHERE expires_at IS NOT NULL";
        sqlx::query(past)
            .execute(&mut line)
            .await
            .expect("it has keys");
        line.close().await.expect("it closes");
    });
}

#[test]
fn mistakes_in_the_configuration_and_the_files() {
    each(CONFIGURATION);
}

#[test]
fn mistakes_with_folders_disks_and_limits() {
    each(FOLDERS);
}

#[test]
fn mistakes_with_keys_tools_and_policies() {
    each(KEYS_AND_TOOLS);
}
