//! The allow list, and addresses that the operator has written down.

use crate::server::{Server, ok, to};
use crate::world::{PUBLIC, World, fetched, get};
use fetch::{Allowed, Error, Fetcher, Options, Refusal, Trust};

fn is_refused(result: &Result<fetch::Answer, Error>) -> bool {
    matches!(
        result,
        Err(Error::Refused {
            refusal: Refusal::Address(_),
            ..
        })
    )
}

/// On the real network, which here is this machine.
#[tokio::test]
async fn an_allowed_place_is_called_and_its_neighbour_is_not() {
    let server = Server::start(|_| ok("hello")).await;
    let neighbour = Server::start(|_| ok("never")).await;
    let fetcher = Fetcher::new(Options {
        allow: Allowed::list(&server.address.to_string()).unwrap(),
        ..Options::default()
    });
    for _ in 0..2 {
        let answer = fetched(&fetcher, &format!("http://{}/", server.address))
            .await
            .unwrap();
        assert_eq!(
            (answer.status.as_u16(), answer.body.as_ref(), answer.is_cut),
            (200, b"hello".as_ref(), false)
        );
    }
    assert_eq!(server.accepted(), 1, "the connection is kept");
    assert!(is_refused(
        &fetched(&fetcher, &format!("http://{}/", neighbour.address)).await
    ));
    assert_eq!(neighbour.accepted(), 0);
}

#[tokio::test]
async fn names_are_allowed_with_all_they_stand_for() {
    let world = World::new();
    let server = Server::start(|_| ok("inside")).await;
    world.name("wiki.corp.example", &[&["10.0.0.5"]]);
    world.name("wiki.evil.example", &[&["10.0.0.5"]]);
    world.route("10.0.0.5", 80, server.address);
    let fetcher = world.fetcher("*.corp.example, 10.9.0.0/16");
    assert_eq!(
        fetched(&fetcher, "http://Wiki.CORP.example./")
            .await
            .unwrap()
            .body,
        "inside"
    );
    assert!(is_refused(
        &fetched(&fetcher, "http://wiki.evil.example/").await
    ));
    assert!(is_refused(&fetched(&fetcher, "http://10.0.0.5/").await));
    assert_eq!(server.accepted(), 1);
    let fetcher = world.fetcher("10.0.0.0/24:80");
    assert_eq!(
        fetched(&fetcher, "http://wiki.evil.example/")
            .await
            .unwrap()
            .body,
        "inside"
    );
    assert!(is_refused(&fetched(&fetcher, "http://10.0.0.5:81/").await));
}

/// After exactly one dial, to where it was allowed.
#[tokio::test]
async fn an_allowed_place_does_not_lead_further_inside() {
    let world = World::new();
    let server = Server::start(|_| to("302 Found", "http://169.254.169.254/latest")).await;
    world.route("10.0.0.5", 80, server.address);
    world.route("169.254.169.254", 80, server.address);
    assert!(is_refused(
        &fetched(&world.fetcher("10.0.0.5:80"), "http://10.0.0.5/").await
    ));
    assert_eq!(world.dials(), ["10.0.0.5:80"]);
}

#[tokio::test]
async fn an_operators_host_is_exempt_and_nothing_else_is() {
    let world = World::new();
    let server = Server::start(|seen| match seen.target.as_str() {
        "/again" => to("302 Found", "/end"),
        "/end" => ok("end"),
        "/port" => to("302 Found", "http://127.0.0.1:6379/"),
        "/other" => to("302 Found", "http://127.0.0.2:8000/"),
        "/name" => to("302 Found", "http://localhost:8000/"),
        "/out" => to("302 Found", "http://93.184.216.34/end"),
        other => ok(other),
    })
    .await;
    world.name("localhost", &[&["127.0.0.1"]]);
    for (address, port) in [
        ("127.0.0.1", 8000),
        ("127.0.0.1", 6379),
        ("127.0.0.2", 8000),
        (PUBLIC, 80),
    ] {
        world.route(address, port, server.address);
    }
    let fetcher = world.fetcher("");
    let send = |path: &str| {
        let mut request = get(&format!("http://127.0.0.1:8000{path}"));
        request.trust = Trust::Operator;
        fetcher.send(request)
    };
    assert_eq!(send("/again").await.unwrap().body, "end");
    assert_eq!(send("/out").await.unwrap().body, "end");
    for inner in ["/port", "/other", "/name"] {
        assert!(is_refused(&send(inner).await), "{inner}");
    }
    assert_eq!(world.dials(), ["127.0.0.1:8000", "93.184.216.34:80"]);
}

/// Somebody may talk an admin into such a server; whoever means it says so in the allow list.
#[tokio::test]
async fn an_operators_address_is_no_clouds_inside_unless_it_is_allowed() {
    let world = World::new();
    let server = Server::start(|_| ok("credentials")).await;
    world.name("tools.example", &[&["10.0.0.7", "169.254.169.254"]]);
    for inside in ["169.254.169.254", "fd00:ec2::254"] {
        world.route(inside, 80, server.address);
    }
    let urls = [
        "http://169.254.169.254/",
        "http://[fd00:ec2::254]/",
        "http://[::ffff:169.254.169.254]/",
        "http://tools.example/",
    ];
    for url in urls {
        let mut request = get(url);
        request.trust = Trust::Operator;
        assert!(is_refused(&world.fetcher("").send(request).await), "{url}");
    }
    assert!(world.dials().is_empty(), "{:?}", world.dials());
    let mut request = get("http://169.254.169.254/");
    request.trust = Trust::Operator;
    let fetcher = world.fetcher("169.254.169.254");
    assert_eq!(fetcher.send(request).await.unwrap().body, "credentials");
}

#[tokio::test]
async fn nobody_rides_on_an_operators_connection() {
    let world = World::new();
    let server = Server::start(|_| ok("inside")).await;
    world.name("search.internal", &[&["10.0.0.7"]]);
    world.route("10.0.0.7", 80, server.address);
    let fetcher = world.fetcher("");
    let mut request = get("http://search.internal/");
    request.trust = Trust::Operator;
    assert_eq!(fetcher.send(request).await.unwrap().body, "inside");
    assert!(is_refused(
        &fetched(&fetcher, "http://search.internal/").await
    ));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn every_address_is_tried_in_turn() {
    let world = World::new();
    let server = Server::start(|_| ok("second")).await;
    world.name(
        "two.example",
        &[&["93.184.216.8", "93.184.216.9", "2606:2800::9"]],
    );
    world.route("93.184.216.9", 80, server.address);
    assert_eq!(
        fetched(&world.fetcher(""), "http://two.example/")
            .await
            .unwrap()
            .body,
        "second"
    );
    assert_eq!(world.dials(), ["93.184.216.8:80", "93.184.216.9:80"]);
    // A family that does not answer does not hold up the other.
    world.forget();
    world.name("slow.example", &[&["2606:2800::8", "93.184.216.9"]]);
    world.silent("2606:2800::8", 80);
    assert_eq!(
        fetched(&world.fetcher(""), "http://slow.example/")
            .await
            .unwrap()
            .body,
        "second"
    );
    assert_eq!(world.dials(), ["[2606:2800::8]:80", "93.184.216.9:80"]);
}
