//! What is known of a server before it is asked, and where it may not be asked at all.

use crate::world::{Fake, World, call, configs, names, settings, talk};
use catalog::mcp_file::ServerConfig;
use fetch::{Network, Reaching};
use mcp::upstream::{Known, State, Way};
use serde_json::json;
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::net::TcpStream;

/// A network on which every name is this machine, and that counts who is called.
#[derive(Default)]
struct Counting {
    names: Mutex<Vec<String>>,
    dials: Mutex<Vec<SocketAddr>>,
}

impl Network for Counting {
    fn resolve<'a>(&'a self, name: &'a str) -> Reaching<'a, Vec<IpAddr>> {
        self.names.lock().unwrap().push(name.to_owned());
        Box::pin(std::future::ready(Ok(vec![IpAddr::from([127, 0, 0, 1])])))
    }

    fn dial(&self, to: SocketAddr) -> Reaching<'_, TcpStream> {
        self.dials.lock().unwrap().push(to);
        Box::pin(TcpStream::connect(to))
    }
}

#[tokio::test]
async fn a_guarded_server_is_not_dialled_where_it_is_private() {
    let network = Arc::new(Counting::default());
    let calls = fetch::Options {
        network: Some(Arc::clone(&network) as Arc<dyn Network>),
        ..fetch::Options::default()
    };
    let mut world = World::calling(settings(), calls);
    for (era, path) in [("legacy", "/mcp"), ("modern", "/mcp"), ("legacy", "/sse")] {
        let fake = Fake::new(&world, era);
        let server = match path {
            "/sse" => fake.listen_sse(&[]).await,
            _ => fake.listen().await,
        };
        for host in ["127.0.0.1", "inside.example"] {
            let url = format!("http://{host}:{}{path}", server.port);
            let mut guarded = configs(&json!({"one": {"url": url}}));
            guarded[0].guarded = true;
            world.upstreams.set(guarded);
            let one = world.upstreams.get("one").unwrap();
            world.until(&one, |state| *state == State::Failed).await;
            let cause = one.status().cause.unwrap();
            assert!(
                cause.contains(host) && cause.contains("127.0.0.0/8"),
                "{cause}"
            );
            let refused = call(&one, "echo", json!({}), talk()).await;
            assert!(refused.is_err());
            assert_eq!(*network.dials.lock().unwrap(), [], "{url}");
            // Whoever runs this machine may.
            let one = world.one(json!({"url": url})).await;
            assert!(!one.lists().tools.is_empty());
            assert!(!network.dials.lock().unwrap().is_empty());
            world.upstreams.set(Vec::new());
            network.dials.lock().unwrap().clear();
        }
    }
    assert!(
        network
            .names
            .lock()
            .unwrap()
            .contains(&"inside.example".to_owned())
    );
    world.upstreams.close().await;
}

#[tokio::test]
async fn what_is_known_comes_before_the_connection() {
    let mut world = World::new(settings());
    let fake = Fake::new(&world, "legacy");
    let one = world.one(fake.stdio()).await;
    let known = one.known();
    assert_eq!(
        (known.way, one.status().era),
        (Some(Way::Legacy), known.era())
    );
    assert_eq!(names(&known.lists.tools), ["echo", "count", "odd"]);
    let text = serde_json::to_string(&known).unwrap();
    let read: Known = serde_json::from_str(&text).unwrap();
    assert_eq!(read, known);
    world.upstreams.set(Vec::new());

    // Nobody is there: what was known is shown.
    let gone = json!({"one": {"command": "no-such-program"}});
    let of = |approved: Option<HashSet<String>>| {
        let known = read.clone();
        move |_: &ServerConfig| (known.clone(), approved.clone())
    };
    world.upstreams.set_known(configs(&gone), of(None));
    let one = world.upstreams.get("one").unwrap();
    assert_eq!(*one.lists(), known.lists);
    assert_eq!(one.status().protocol_version, known.protocol_version);
    world.until(&one, |state| *state == State::Failed).await;
    assert_eq!(*one.lists(), known.lists);

    // One that would end at the question how it speaks is not asked it.
    let mut shy = fake.stdio();
    shy["env"]["FAKE_BREAK"] = json!("die-at-discover");
    let starts = fake.count("start");
    let only = HashSet::from(["echo".to_owned()]);
    world
        .upstreams
        .set_known(configs(&json!({"two": shy})), of(Some(only)));
    let two = world.upstreams.get("two").unwrap();
    assert!(two.is_approved("echo") && !two.is_approved("count"));
    world.until(&two, |state| *state == State::Connected).await;
    assert_eq!(fake.count("start"), starts + 1, "{:?}", fake.lines());
    world.upstreams.close().await;
}

/// A change that is under way while a server of ours stops would begin connections that nobody ends, and the stop would wait for
/// them for ever.
#[tokio::test]
async fn what_is_set_after_the_end_is_not_begun() {
    let world = World::new(settings());
    let fake = Fake::new(&world, "modern");
    world.upstreams.close().await;
    world.set(&json!({"late": fake.stdio()}));
    assert!(world.upstreams.all().is_empty());
    world.upstreams.close().await;
}
