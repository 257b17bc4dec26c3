//! Mistakes in how a server is reached, and in what it has to reach.

use crate::broken::{Broken, Mistake, each, nobody, sound};
use std::net::TcpListener;

const REACHED: &[Mistake] = &[
    Mistake {
        id: "server.port_taken",
        is_fatal: true,
        says: &["another program has the port", "127.0.0.1:"],
        remedy: "server.listen",
        make: || {
            let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            let address = taken.local_addr().expect("it has one").to_string();
            let sandbox = sound().with("TOOLCRIB_SERVER_LISTEN", &address);
            Some(Broken::new(sandbox).keep(taken))
        },
    },
    Mistake {
        id: "server.address",
        is_fatal: true,
        says: &["could not listen on 203.0.113.7:8787"],
        remedy: "an address of this machine",
        make: || {
            let public = sound().with("TOOLCRIB_SERVER_URL", "https://tools.example.com");
            let behind = public.with("TOOLCRIB_SERVER_PROXY_HOPS", "1");
            Some(Broken::new(
                behind.with("TOOLCRIB_SERVER_LISTEN", "203.0.113.7:8787"),
            ))
        },
    },
    Mistake {
        id: "server.plain",
        is_fatal: false,
        says: &["listens on 0.0.0.0:0", "plain HTTP"],
        remedy: "a proxy with TLS",
        make: || {
            Some(Broken::new(
                sound().with("TOOLCRIB_SERVER_LISTEN", "0.0.0.0:0"),
            ))
        },
    },
    Mistake {
        id: "server.no_hops",
        is_fatal: false,
        says: &["server.proxy_hops is 0"],
        remedy: "X-Forwarded-For",
        make: || {
            let public = sound().with("TOOLCRIB_SERVER_URL", "https://tools.example.com");
            Some(Broken::new(
                public.with("TOOLCRIB_SERVER_HOSTS", "tools.example.com"),
            ))
        },
    },
    Mistake {
        id: "server.unknown_name",
        is_fatal: false,
        says: &["requests for 'tools.example.com' are answered 403"],
        remedy: "server.hosts",
        make: || {
            let public = sound().with("TOOLCRIB_SERVER_URL", "https://tools.example.com");
            Some(Broken::new(public.with("TOOLCRIB_SERVER_PROXY_HOPS", "1")))
        },
    },
];

const TO_REACH: &[Mistake] = &[
    Mistake {
        id: "login.provider",
        is_fatal: false,
        says: &["nobody can log in through http://127.0.0.1:"],
        remedy: "oidc.issuer",
        make: || {
            let issuer = format!("http://{}", nobody());
            let known = sound().with("TOOLCRIB_OIDC_ISSUER", &issuer);
            Some(Broken::new(known.with("TOOLCRIB_OIDC_CLIENT_ID", "crib")))
        },
    },
    Mistake {
        id: "telemetry.collector",
        is_fatal: false,
        says: &["the collector http://127.0.0.1:", "refused"],
        remedy: "OTEL_EXPORTER_OTLP_ENDPOINT",
        make: || {
            let collector = format!("http://{}", nobody());
            Some(Broken::new(
                sound().with("OTEL_EXPORTER_OTLP_ENDPOINT", &collector),
            ))
        },
    },
    Mistake {
        id: "sources.down",
        is_fatal: false,
        says: &["source 'shop' does not work"],
        remedy: "toolcrib sources test shop",
        make: || {
            let sandbox = sound();
            let file = format!(
                "[sources.shop]\nkind = \"postgres\"\nurl = \"postgres://me@{}/shop\"\n",
                nobody()
            );
            sandbox.write("toolcrib.toml", &file);
            sandbox.write("tools.json", "{\"version\": 1, \"tools\": []}");
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "sources.down",
        is_fatal: false,
        says: &["source 'library' does not work"],
        remedy: "toolcrib sources test library",
        make: || {
            let sandbox = sound();
            sandbox.write(
                "toolcrib.toml",
                "[sources.library]\nkind = \"sqlite\"\npath = \"gone.db\"\n",
            );
            sandbox.write("tools.json", "{\"version\": 1, \"tools\": []}");
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "servers.program",
        is_fatal: false,
        says: &["MCP server 'notes' is the program 'no-such-program'"],
        remedy: "\"command\" of 'notes' in mcp.json",
        make: || {
            let sandbox = sound();
            sandbox.write(
                "mcp.json",
                "{\"mcpServers\": {\"notes\": {\"command\": \"no-such-program\"}}}",
            );
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "servers.down",
        is_fatal: false,
        says: &["MCP server 'notes' is", "no-such-program"],
        remedy: "toolcrib servers show notes",
        make: || {
            let sandbox = sound();
            sandbox.write(
                "mcp.json",
                "{\"mcpServers\": {\"notes\": {\"command\": \"no-such-program\"}}}",
            );
            let server = sandbox.serve(&[]);
            server.said("notes");
            let mut broken = Broken::new(sandbox).keep(server);
            broken.is_served = true;
            Some(broken)
        },
    },
    Mistake {
        id: "embeddings.down",
        is_fatal: false,
        says: &["texts cannot become vectors"],
        remedy: "TEXT_EMBEDDING_MODEL_URL",
        make: || {
            let sandbox = sound();
            sandbox.write(
                "rows.jsonl",
                "{\"id\": \"a\", \"document\": \"x\", \"embedding\": [1, 2]}\n",
            );
            let done = sandbox.run(&["vectors", "import", "rows.jsonl"]);
            assert_eq!(done.code, 0, "{done:?}");
            let url = format!("http://{}/v1/embeddings", nobody());
            let named = sandbox.with("TEXT_EMBEDDING_MODEL_NAME", "silent");
            Some(Broken::new(named.with("TEXT_EMBEDDING_MODEL_URL", &url)))
        },
    },
    Mistake {
        id: "vectors.no_endpoint",
        is_fatal: false,
        says: &["'column_metadata' cannot be searched: no embeddings endpoint"],
        remedy: "TEXT_EMBEDDING_MODEL_URL",
        make: || {
            let sandbox = sound();
            sandbox.write(
                "rows.jsonl",
                "{\"id\": \"a\", \"document\": \"x\", \"embedding\": [1, 2]}\n",
            );
            let done = sandbox.run(&["vectors", "import", "rows.jsonl"]);
            assert_eq!(done.code, 0, "{done:?}");
            Some(Broken::new(sandbox))
        },
    },
    Mistake {
        id: "vectors.down",
        is_fatal: false,
        says: &["the collection 'column_metadata' cannot be searched"],
        remedy: "CHROMADB_HOST",
        make: || {
            let port = nobody().port().to_string();
            let chroma = sound().with("CHROMADB_HOST", "127.0.0.1");
            Some(Broken::new(chroma.with("CHROMADB_PORT", &port)))
        },
    },
];

#[test]
fn mistakes_in_how_a_server_is_reached() {
    each(REACHED);
}

#[test]
fn mistakes_in_what_a_server_has_to_reach() {
    each(TO_REACH);
}
