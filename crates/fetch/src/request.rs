//! What is asked and what is answered.

use crate::error::Error;
use crate::multipart;
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, PROXY_AUTHORIZATION,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// Who chose the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Whoever runs the server: this host and port may be private, but no cloud's inside. Where it
    /// redirects to is guarded all the same.
    Operator,
    /// Anybody else, by the definition of a tool or its arguments: guarded at every hop.
    Guarded,
}

/// One request, redirects included.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    pub url: String,
    /// A value that is marked as sensitive stays with the host it was meant for, as credentials do.
    pub headers: HeaderMap,
    pub body: Body,
    pub trust: Trust,
    pub limits: Limits,
}

/// What is sent. All but `Bytes` bring their content type, unless the headers name another.
#[derive(Debug, Clone, Default)]
pub enum Body {
    #[default]
    Empty,
    Bytes(Bytes),
    Json(Value),
    Form(Vec<(String, String)>),
    Multipart(Vec<Piece>),
}

/// One field or file of a multipart body.
#[derive(Debug, Clone, Default)]
pub struct Piece {
    pub name: String,
    pub file_name: Option<String>,
    pub content_type: Option<String>,
    pub bytes: Bytes,
}

/// How far a request may go.
#[derive(Debug, Clone)]
pub struct Limits {
    /// None are followed where this is 0: the answer that redirects is the answer.
    pub redirects_max: u32,
    /// Of the answer's body, decompressed.
    pub body_bytes_max: usize,
    pub overflow: Overflow,
    /// For all of it: names, connections, redirects and the body.
    pub total: Duration,
}

/// What becomes of a body that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    Refuse,
    /// Its beginning will do.
    Cut,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            redirects_max: 5,
            body_bytes_max: 8 << 20,
            overflow: Overflow::Refuse,
            total: Duration::from_secs(30),
        }
    }
}

impl Request {
    pub fn new(method: Method, url: impl Into<String>, trust: Trust) -> Self {
        Request {
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            body: Body::Empty,
            trust,
            limits: Limits::default(),
        }
    }
}

/// What came back, whatever its status.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Where it came from, after all redirects.
    pub url: Url,
    /// Decompressed.
    pub body: Bytes,
    /// Whether the body went on after this.
    pub is_cut: bool,
}

/// Headers that are ours to write: they say where a message goes and where it ends, and two opinions on that are how
/// requests are smuggled.
const OURS: [HeaderName; 10] = [
    HOST,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    CONNECTION,
    UPGRADE,
    TE,
    TRAILER,
    EXPECT,
    ACCEPT_ENCODING,
    PROXY_AUTHORIZATION,
];

/// Whether a header is written by the client itself and refused from anybody else.
pub fn is_ours(name: &HeaderName) -> bool {
    OURS.contains(name) || matches!(name.as_str(), "keep-alive" | "proxy-connection")
}

pub(crate) fn check_headers(headers: &HeaderMap) -> Result<(), Error> {
    match headers.keys().find(|name| is_ours(name)) {
        Some(name) => Err(Error::BadHeader {
            name: name.to_string(),
            why: "the client writes it itself; leave it out",
        }),
        None => Ok(()),
    }
}

impl Body {
    /// The bytes to send, with the content type set where the caller has not.
    pub(crate) fn write(self, headers: &mut HeaderMap) -> Bytes {
        let (content_type, bytes) = match self {
            Body::Empty => return Bytes::new(),
            Body::Bytes(bytes) => return bytes,
            Body::Json(value) => ("application/json".to_owned(), value.to_string().into()),
            Body::Form(fields) => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                form.extend_pairs(fields);
                (
                    "application/x-www-form-urlencoded".to_owned(),
                    form.finish().into(),
                )
            }
            Body::Multipart(pieces) => {
                // Only we know the boundary.
                headers.remove(CONTENT_TYPE);
                multipart::write(&pieces)
            }
        };
        if !headers.contains_key(CONTENT_TYPE)
            && let Ok(value) = HeaderValue::try_from(content_type)
        {
            headers.insert(CONTENT_TYPE, value);
        }
        bytes
    }
}
