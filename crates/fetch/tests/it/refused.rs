//! Every way to write an address that is not ours to call, alone and behind a redirect, without one packet.

use crate::server::{Reply, Server, ok, to};
use crate::world::{PUBLIC, PUBLIC_V6, World, fetched};
use fetch::{Error, Refusal};
use std::sync::{Arc, Mutex};

/// Forms that name an inner address, or nothing that can be called.
const FORMS: &[&str] = &[
    // IPv4 as it is, and every block.
    "http://127.0.0.1/",
    "http://127.0.0.1:8787/api",
    "http://127.255.255.254/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://100.64.0.1/",
    "http://100.100.100.200/latest",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://192.88.99.1/",
    "http://192.168.0.1/",
    "http://192.168.1.254/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://198.51.100.7/",
    "http://203.0.113.9/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://168.63.129.16/",
    // Other ways to write it.
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7F.0x0.0x0.0x1/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://0x0/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://127.0.0.1./",
    "http://127.1./",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://%31%32%37.%30.%30.%31/",
    "http://127%2e0%2e0%2e1/",
    "http://1\u{ad}27.0.0.1/",
    "http://0300.0250.0.1/",
    "http://1.2.3.4.5/",
    "http://256.256.256.256/",
    "http://0x100000000/",
    "http://127.0.0.1%00.example/",
    // IPv6, and IPv4 inside it.
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::0001]:8080/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[0:0:0:0:0:ffff:10.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[::7f00:1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
    "http://[100::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/latest",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[5f00::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[::1%251]/",
    "http://[::1/",
    // Names, for what they stand for.
    "http://localhost/",
    "http://LOCALHOST:8787/",
    "http://localhost./",
    "http://app.localhost/",
    "http://ip6-localhost/",
    "http://printer.local/",
    "http://db.internal/",
    "http://metadata.google.internal/",
    "http://127.0.0.1.nip.example/",
    "http://mixed.example/",
    "http://mixed6.example/",
    "http://mapped.example/",
    "http://nat64.example/",
    "http://sixtofour.example/",
    "http://zero.example/",
    "http://ｌｏｃａｌｈｏｓｔ/",
    "http://loc%61lhost/",
    // Not HTTP, or with somebody's name in it.
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "dict://127.0.0.1:11211/stat",
    "ws://example.com/",
    "unix:/run/docker.sock",
    "data:text/plain,x",
    "javascript:alert(1)",
    "jar:http://example.com/",
    "http://user@example.com/",
    "http://user:pw@example.com/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1?@example.com/",
    "http://127.0.0.1\\@example.com/",
    "http:\\\\127.0.0.1\\",
    "http:/127.0.0.1/",
    "http:127.0.0.1/",
    "http://\t127.0.0.1/",
    "http://127.0\n.0.1/",
    "http://./",
    "http://../",
    "http://a..",
    "http:// /",
    "http://example.com:99999/",
    "http://exa mple.com/",
    // Ports of other services.
    "http://example.com:22/",
    "http://example.com:25/",
    "http://example.com:6379/",
    "http://example.com:5432/",
    "https://example.com:3306/",
    "http://93.184.216.34:11211/",
    "http://example.com:6667/",
];

async fn world() -> (Arc<World>, Arc<Server>) {
    let world = World::new();
    for inner in [
        "localhost",
        "app.localhost",
        "ip6-localhost",
        "127.0.0.1.nip.example",
    ] {
        world.name(inner, &[&["127.0.0.1"]]);
    }
    world.name("printer.local", &[&["192.168.7.9"]]);
    world.name("db.internal", &[&["10.20.30.40"]]);
    world.name("metadata.google.internal", &[&["169.254.169.254"]]);
    world.name("mixed.example", &[&[PUBLIC, "10.0.0.1"]]);
    world.name("mixed6.example", &[&[PUBLIC, "fd00::1"]]);
    world.name("mapped.example", &[&["::ffff:127.0.0.1"]]);
    world.name("nat64.example", &[&["64:ff9b::a9fe:a9fe"]]);
    world.name("sixtofour.example", &[&[PUBLIC_V6, "2002:7f00:1::"]]);
    world.name("zero.example", &[&["0.0.0.0"]]);
    world.name("example.com", &[&[PUBLIC]]);
    let inner = Server::start(|_| ok("inside")).await;
    // Were the guard gone, these would be reached, and seen to be.
    for address in [
        "127.0.0.1",
        "::1",
        "10.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        PUBLIC,
    ] {
        for port in [22, 25, 80, 5432, 6379, 8080, 8787, 11211] {
            world.route(address, port, inner.address);
        }
    }
    (world, inner)
}

fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Refused { .. } | Error::BadUrl { .. })
}

#[tokio::test]
async fn no_form_of_an_inner_address_is_dialled() {
    let (world, inner) = world().await;
    let fetcher = world.fetcher("");
    assert!(FORMS.len() >= 130, "{}", FORMS.len());
    for form in FORMS {
        let error = fetched(&fetcher, form).await.expect_err(form);
        assert!(is_refusal(&error), "{form}: {error:?}");
    }
    assert_eq!(world.dials(), [""; 0]);
    assert_eq!(inner.accepted(), 0);
}

#[tokio::test]
async fn no_redirect_leads_to_one() {
    let (world, inner) = world().await;
    let leads = Arc::new(Mutex::new(("", "")));
    let told = Arc::clone(&leads);
    let server = Server::start(move |_| {
        let (status, location) = *told.lock().unwrap();
        to(status, location)
    })
    .await;
    world.route("93.184.216.40", 80, server.address);
    let mut followed = 0;
    // What no header can hold cannot come in one.
    for form in FORMS.iter().filter(|form| !form.contains(['\t', '\n'])) {
        for status in ["301 x", "302 x", "303 x", "307 x", "308 x"] {
            *leads.lock().unwrap() = (status, form);
            world.forget();
            let error = fetched(&world.fetcher(""), "http://93.184.216.40/")
                .await
                .expect_err(form);
            // Without its slashes an address of the same scheme is a path where it is named.
            match *form {
                "http:127.0.0.1/" | "http:/127.0.0.1/" => {
                    assert!(
                        matches!(error, Error::TooManyRedirects { .. }),
                        "{form}: {error:?}"
                    );
                }
                _ => assert!(is_refusal(&error), "{form}: {error:?}"),
            }
            assert_eq!(world.dials(), ["93.184.216.40:80"], "{form} {status}");
            followed += 1;
        }
    }
    assert!(followed >= 650, "{followed}");
    assert_eq!(inner.accepted(), 0);
}

/// The name stands for something public when it is judged and for something inner when it is asked for again.
#[tokio::test]
async fn a_name_is_asked_for_once_and_dialled_as_it_was_judged() {
    let world = World::new();
    let last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\noutside";
    let outside = Server::start(|_| Reply::Close(last.to_vec())).await;
    let inside = Server::start(|_| ok("inside")).await;
    world.route(PUBLIC, 80, outside.address);
    world.route("127.0.0.1", 80, inside.address);
    world.name("rebind.example", &[&[PUBLIC], &["127.0.0.1"]]);
    let fetcher = world.fetcher("");
    let answer = fetched(&fetcher, "http://rebind.example/").await.unwrap();
    assert_eq!(answer.body, "outside");
    assert_eq!(world.lookups(), ["rebind.example"]);
    assert_eq!(world.dials(), [format!("{PUBLIC}:80")]);
    // A new connection is a new judgement.
    let error = fetched(&fetcher, "http://rebind.example/")
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::Refused {
                refusal: Refusal::Address(_),
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(world.dials().len(), 1);
    assert_eq!(inside.accepted(), 0);
}

/// A connection that is kept leads to where it was judged to lead.
#[tokio::test]
async fn a_kept_connection_cannot_be_rebound() {
    let world = World::new();
    let outside = Server::start(|_| ok("outside")).await;
    world.route(PUBLIC, 80, outside.address);
    world.name("rebind.example", &[&[PUBLIC], &["127.0.0.1"]]);
    let fetcher = world.fetcher("");
    for _ in 0..3 {
        let answer = fetched(&fetcher, "http://rebind.example/").await.unwrap();
        assert_eq!(answer.body, "outside");
    }
    assert_eq!((world.dials().len(), outside.accepted()), (1, 1));
    let under_another_name = fetched(&fetcher, "http://rebind.example.:80/")
        .await
        .unwrap();
    assert_eq!(under_another_name.body, "outside");
    assert_eq!(outside.accepted(), 1);
}

#[tokio::test]
async fn messages_say_what_to_do_and_nothing_of_the_inside() {
    let (world, _inner) = world().await;
    let fetcher = world.fetcher("");
    let told = |error: Error| error.to_string();
    let error = told(
        fetched(&fetcher, "http://db.internal/a?key=hunter2")
            .await
            .unwrap_err(),
    );
    assert!(
        error.starts_with("http://db.internal is not called")
            && error.contains("TOOLCRIB_HTTP_ALLOW"),
        "{error}"
    );
    assert!(
        !error.contains("10.20.30.40") && !error.contains("hunter2"),
        "{error}"
    );
    let error = told(
        fetched(&fetcher, "http://nowhere.example/")
            .await
            .unwrap_err(),
    );
    assert!(
        error.contains("'nowhere.example'") && !error.contains("internal text"),
        "{error}"
    );
    let error = told(
        fetched(&fetcher, "http://93.184.216.99/?key=hunter2")
            .await
            .unwrap_err(),
    );
    assert!(
        error.contains("http://93.184.216.99 cannot be reached") && !error.contains("hunter2"),
        "{error}"
    );
}
