//! Routes that are not in the API's document: pages, the document itself, and things whose name is an address of its
//! own. The router and the matrix of routes and roles both read this list.

use crate::api::{login, oidc, secrets, sign_in, tools};
use crate::router::Server;
use crate::{mcp, openapi, resource};
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use std::sync::Arc;

/// One method of one address.
pub(crate) struct Unlisted {
    method: Method,
    pub(crate) path: &'static str,
    pub(crate) handler: MethodRouter<Arc<Server>>,
    /// Whether it reads or changes what all servers on one database share.
    pub(crate) is_of_registry: bool,
}

impl Unlisted {
    pub(crate) fn new<H, T>(method: Method, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        let filter = MethodFilter::try_from(method.clone());
        let filter = filter.expect("only methods that HTTP itself names are listed");
        Unlisted {
            handler: on(filter, handler),
            method,
            path,
            is_of_registry: true,
        }
    }

    /// The same for messages of MCP, which come often and look by themselves for what they need.
    fn of_mcp<H, T>(method: Method, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        Unlisted {
            is_of_registry: false,
            ..Self::new(method, path, handler)
        }
    }
}

pub(crate) fn all() -> Vec<Unlisted> {
    let mut all = vec![
        Unlisted::new(Method::GET, "/api/openapi.json", openapi::json),
        Unlisted::new(Method::GET, "/api/docs", openapi::docs),
        Unlisted::new(Method::GET, "/login", oidc::login_page),
        Unlisted::new(Method::GET, "/login/oidc", oidc::begin),
        Unlisted::new(Method::GET, "/login/oidc/callback", oidc::finish),
        Unlisted::new(Method::GET, "/login/{token}", login::link_page),
        Unlisted::new(Method::POST, "/login/{token}", login::use_link),
        Unlisted::new(Method::GET, sign_in::CALLBACK, sign_in::come_back),
        Unlisted::new(Method::GET, sign_in::DOCUMENT, sign_in::document),
    ];
    // Many clients write a slash behind it.
    for path in ["/mcp", "/mcp/", "/mcp/{toolset}", "/mcp/{toolset}/"] {
        all.push(Unlisted::of_mcp(Method::POST, path, mcp::post));
        all.push(Unlisted::new(Method::GET, path, mcp::listen));
        all.push(Unlisted::of_mcp(Method::DELETE, path, mcp::end));
    }
    for path in [
        resource::METADATA,
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource/mcp/{toolset}",
        "/.well-known/oauth-protected-resource/sse",
        "/.well-known/oauth-protected-resource/sse/{toolset}",
    ] {
        all.push(Unlisted::new(Method::GET, path, resource::metadata));
    }
    for (stream, post) in [
        ("/sse", "/messages"),
        ("/sse/{toolset}", "/messages/{toolset}"),
    ] {
        all.push(Unlisted::new(Method::GET, stream, mcp::sse));
        all.push(Unlisted::of_mcp(Method::POST, post, mcp::message));
    }
    // The address of trying out is also that of a tool named `test`, and so on.
    all.extend(tools::named("/api/v1/tools/test", "test"));
    all.extend(secrets::named("/api/v1/secrets/rotate", "rotate"));
    all.extend(secrets::named("/api/v1/secrets/verify", "verify"));
    all
}

/// Method and address of each, for whoever checks that none is forgotten.
pub fn routes() -> Vec<(String, &'static str)> {
    let all = all().into_iter();
    all.map(|route| (route.method.to_string(), route.path))
        .collect()
}
