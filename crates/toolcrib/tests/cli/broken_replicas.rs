//! Mistakes with several servers on one PostgreSQL.

use crate::broken::{Broken, Mistake, each, sound};
use crate::broken_database::{Database, until_ready};
use crate::harness::{Running, Sandbox};
use serde_json::Value;

const KEY: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn member(database: &Database) -> Sandbox {
    sound()
        .with("DATABASE_URL", &database.url())
        .with("TOOLCRIB_SECRET_KEY", KEY)
}

/// Two servers of which the first is asked, with what is done to the other before and after it starts.
fn two(
    before: impl Fn(Sandbox, &Running) -> Sandbox,
    after: impl Fn(&Database, &Running),
    is_so: impl Fn(&Value) -> bool,
) -> Option<Broken> {
    let database = Database::new("")?;
    let one = member(&database);
    let first = one.serve(&[]);
    let other = before(member(&database), &first);
    let second = other.serve(&[]);
    let other_is = |is_so: &dyn Fn(&Value) -> bool| {
        until_ready(&first, |ready| {
            let others = ready["replicas"]["others"].as_array();
            others.is_some_and(|others| others.len() == 1 && is_so(&others[0]))
        });
    };
    // Before it is heard of, there is nothing to change.
    other_is(&|other| other["address"].is_string());
    after(&database, &second);
    other_is(&is_so);
    let servers = (first, second);
    let mut broken = Broken::new(one).keep(servers).keep(other).keep(database);
    broken.is_served = true;
    Some(broken)
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "replicas.files",
        is_fatal: true,
        says: &["tools.json or mcp.json of the server at http:"],
        remedy: "put the same files on all servers",
        make: || {
            let empty = |sandbox: Sandbox, _: &Running| {
                sandbox.write("tools.json", "{\"version\": 1, \"tools\": []}");
                sandbox
            };
            two(empty, |_, _| {}, |other| other["address"].is_string())
        },
    },
    Mistake {
        id: "replicas.version",
        is_fatal: false,
        says: &["is of version 0.0.1"],
        remedy: "the same version",
        make: || {
            let older = |database: &Database, server: &Running| {
                let address = &server.address;
                database.run(&format!(
                    "UPDATE replicas SET version = '0.0.1' WHERE address = 'http://{address}'"
                ));
            };
            two(|it, _| it, older, |other| other["version"] == "0.0.1")
        },
    },
    Mistake {
        id: "replicas.address",
        is_fatal: false,
        says: &["another server answers at http:", "MCP sessions"],
        remedy: "server.advertise",
        make: || {
            let wrong = |sandbox: Sandbox, first: &Running| {
                let address = format!("http://{}", first.address);
                sandbox.with("TOOLCRIB_SERVER_ADVERTISE", &address)
            };
            two(wrong, |_, _| {}, |other| other["address"].is_string())
        },
    },
    Mistake {
        id: "replicas.address",
        is_fatal: false,
        says: &["but is not", "http://127.0.0.1:9"],
        remedy: "server.advertise",
        make: || {
            // Nobody listens there.
            let wrong = |sandbox: Sandbox, _: &Running| {
                sandbox.with("TOOLCRIB_SERVER_ADVERTISE", "http://127.0.0.1:9")
            };
            two(wrong, |_, _| {}, |other| other["address"].is_string())
        },
    },
    Mistake {
        id: "replicas.keys",
        is_fatal: true,
        says: &["the server ghost seals secrets with a key that is not known here"],
        remedy: "the same TOOLCRIB_SECRET_KEY",
        make: || {
            let database = Database::new("")?;
            let one = member(&database);
            let server = one.serve(&[]);
            // One that was there first would not let this one start, so it comes later and stays.
            database.run("INSERT INTO replicas (instance, node, address, version, shelf_hash, proof, started_at, seen_at) \
                VALUES ('toolcrib-0', 'ghost', NULL, '0.1.0', '', 'v1.k9.a.b.c', 0, 9000000000000)");
            until_ready(&server, |ready| {
                ready["replicas"]["others"][0]["same_keys"] == false
            });
            let mut broken = Broken::new(one).keep(server).keep(database);
            broken.is_served = true;
            Some(broken)
        },
    },
];

#[test]
fn mistakes_with_several_servers() {
    each(MISTAKES);
}
