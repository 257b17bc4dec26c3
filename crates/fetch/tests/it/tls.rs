//! Over TLS. The certificate is for secure.example, from an authority that only these tests know; its keys are worth
//! nothing anywhere else.

use crate::server::{Reply, Seen, Server, ok, to};
use crate::world::{World, fetched, get};
use fetch::{CertificateDer, Error, Fetcher, HeaderValue, Refusal};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const AUTHORITY: &[u8] = include_bytes!("tls/ca.pem");
const CERTIFICATE: &[u8] = include_bytes!("tls/server.pem");
const KEY: &[u8] = include_bytes!("tls/server.key");

async fn secure(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Arc<Server> {
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let config = config
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::at(&listener);
    let (this, reply) = (Arc::clone(&server), Arc::new(reply));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (this, reply, acceptor) = (Arc::clone(&this), Arc::clone(&reply), acceptor.clone());
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    this.serve(stream, &*reply).await;
                }
            });
        }
    });
    server
}

/// `secure.example` and `other.example` are the same server.
fn world(server: &Server) -> Arc<World> {
    let world = World::new();
    for name in ["secure.example", "other.example"] {
        world.name(name, &[&["93.184.216.50"]]);
    }
    world.route("93.184.216.50", 443, server.address);
    world
}

fn trusting(world: &Arc<World>) -> Fetcher {
    let mut options = world.options("");
    options.roots = vec![CertificateDer::from_pem_slice(AUTHORITY).unwrap()];
    Fetcher::new(options)
}

#[tokio::test]
async fn a_trusted_certificate_is_trusted_for_its_name_only() {
    let server = secure(|_| ok("secret")).await;
    let world = world(&server);
    let fetcher = trusting(&world);
    for _ in 0..2 {
        assert_eq!(
            fetched(&fetcher, "https://secure.example/")
                .await
                .unwrap()
                .body,
            "secret"
        );
    }
    assert_eq!(world.dials().len(), 1);
    let error = fetched(&fetcher, "https://other.example/")
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::Tls {
                why: "its certificate is for another name",
                ..
            }
        ),
        "{error:?}"
    );
    let error = fetched(&world.fetcher(""), "https://secure.example/")
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::Tls {
                why: "nobody known here has signed its certificate",
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn what_speaks_no_tls_is_not_trusted() {
    // It waits for more.
    let server = Server::start(|_| ok("plain")).await;
    let world = world(&server);
    let mut options = world.options("");
    options.connect_timeout = std::time::Duration::from_millis(300);
    let error = fetched(&Fetcher::new(options), "https://secure.example/")
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::Tls { .. } | Error::Timeout { .. }),
        "{error:?}"
    );
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn nothing_goes_back_to_plain_text() {
    let server = secure(|_| to("302 Found", "http://plain.example/")).await;
    let plain = Server::start(|_| ok("plain")).await;
    let world = world(&server);
    world.name("plain.example", &[&["93.184.216.51"]]);
    world.route("93.184.216.51", 80, plain.address);
    let error = fetched(&trusting(&world), "https://secure.example/")
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::Refused {
                refusal: Refusal::Downgrade,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(world.dials(), ["93.184.216.50:443"]);
}

#[tokio::test]
async fn going_over_to_tls_is_another_origin() {
    let server = secure(|_| ok("secret")).await;
    let plain = Server::start(|_| to("308 x", "https://secure.example/")).await;
    let world = world(&server);
    world.route("93.184.216.50", 80, plain.address);
    let mut request = get("http://secure.example/");
    request
        .headers
        .insert("authorization", HeaderValue::from_static("Bearer hunter2"));
    assert_eq!(trusting(&world).send(request).await.unwrap().body, "secret");
    assert!(!server.last().headers.contains_key("authorization"));
}
