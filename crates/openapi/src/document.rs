//! A whole document: its version, its addresses, and which of its operations are wanted.

use crate::names::{Names, name_of};
use crate::operation::{Context, operation};
use crate::schema::weight;
use crate::{Imported, LeftOut};
use catalog::glob;
use serde_json::Value;
use std::collections::BTreeMap;

const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// How far references may lead to references.
const HOPS_MAX: usize = 32;

/// The longest address of a server, in bytes.
const ADDRESS_MAX: usize = 2_048;

/// What one document may come to: operations, and bytes of all their tools together.
const OPERATIONS_MAX: usize = 10_000;
const TOOLS_BYTES_MAX: usize = 64 << 20;

/// What whoever imports decides.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where the API is, instead of what the document says.
    pub base_url: Option<String>,
    /// Patterns of which one must fit the name, the operation's own id, `METHOD /path` or a tag; every operation where there
    /// are none.
    pub pick: Vec<String>,
    /// Stands before every name.
    pub prefix: String,
    /// The secret for each security scheme, instead of one named after it.
    pub secrets: BTreeMap<String, String>,
    /// Without anything to be let in.
    pub no_auth: bool,
}

/// Why a document cannot be imported at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("this is no OpenAPI document: expected \"openapi\": \"3.0.x\" or \"3.1.x\", found {0}")]
    Version(String),
    #[error(
        "this is a Swagger {0} document: convert it to OpenAPI 3 first, for example with `npx swagger2openapi FILE`"
    )]
    Swagger(String),
    #[error("the document has no \"paths\"")]
    NoPaths,
    #[error(
        "the document has more than {OPERATIONS_MAX} operations; pick some of them, or split it"
    )]
    TooMany,
    #[error("the base address '{0}' is none: expected http:// or https:// and a host")]
    BaseUrl(String),
}

/// A document whose references can be followed.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) root: &'a Value,
    /// Of version 3.0, whose schemas are not quite JSON Schema.
    pub(crate) is_3_0: bool,
}

impl<'a> Document<'a> {
    /// What a reference stands for, through others too.
    pub(crate) fn follow(&self, value: &'a Value) -> Result<&'a Value, String> {
        let mut value = value;
        for _ in 0..HOPS_MAX {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Ok(value);
            };
            value = self.target(reference)?;
        }
        Err("its references lead in a circle".to_owned())
    }

    pub(crate) fn target(&self, reference: &str) -> Result<&'a Value, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!("it refers to another document ('{reference}')"));
        };
        let found = self.root.pointer(&decoded(pointer));
        found.ok_or_else(|| format!("it refers to '{reference}', which is not there"))
    }
}

/// Percent signs of an address that is used as a pointer.
fn decoded(pointer: &str) -> String {
    let mut pieces = pointer.split('%');
    let mut out = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let hex = piece
            .get(..2)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match hex {
            Some(byte) => {
                out.push(byte);
                out.extend(&piece.as_bytes()[2..]);
            }
            None => {
                out.push(b'%');
                out.extend(piece.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Makes tools of the operations of a document.
pub fn read(root: &Value, options: &Options) -> Result<Imported, Error> {
    let document = Document {
        root,
        is_3_0: checked_version(root)?,
    };
    let paths = root.get("paths").and_then(Value::as_object);
    let paths = paths.ok_or(Error::NoPaths)?;
    if let Some(url) = &options.base_url
        && !is_absolute(url)
    {
        return Err(Error::BaseUrl(url.clone()));
    }
    let title = root["info"]["title"].as_str().unwrap_or_default();
    let mut imported = Imported {
        title: title.to_owned(),
        ..Imported::default()
    };
    let mut names = Names::new(&options.prefix);
    let mut secrets = BTreeMap::new();
    let (mut picked, mut bytes) = (0, 0);
    for (path, item) in paths {
        let item = document.follow(item).unwrap_or(item);
        for method in METHODS {
            let Some(written) = item.get(method) else {
                continue;
            };
            let upper = method.to_uppercase();
            let name = names.next(&name_of(written, method, path));
            if !is_picked(options, &name, &upper, path, written) {
                names.free(&name);
                continue;
            }
            picked += 1;
            if picked > OPERATIONS_MAX {
                return Err(Error::TooMany);
            }
            let base_url = address(root, item, written, options);
            let context = Context {
                document: &document,
                options,
                item,
                method: &upper,
                path,
                base_url: base_url.as_deref(),
                name: &name,
            };
            match operation(&context, written, &mut secrets) {
                Ok(made) if bytes <= TOOLS_BYTES_MAX => {
                    bytes += weight(&made.definition, TOOLS_BYTES_MAX);
                    imported.tools.push(made);
                }
                done => {
                    let large = "the tools before it are as large as all of one document may be";
                    let why = done.err().unwrap_or_else(|| large.to_owned());
                    names.free(&name);
                    imported.left_out.push(LeftOut {
                        method: upper,
                        path: path.clone(),
                        why,
                    });
                }
            }
        }
    }
    imported.secrets = secrets.into_values().collect();
    Ok(imported)
}

/// Whether it is of version 3.0.
fn checked_version(root: &Value) -> Result<bool, Error> {
    if let Some(version) = root.get("swagger") {
        let version = version.as_str().unwrap_or("2");
        return Err(Error::Swagger(version.to_owned()));
    }
    match root.get("openapi").and_then(Value::as_str) {
        Some(version) if version.starts_with("3.0") => Ok(true),
        Some(version) if version.starts_with("3.") => Ok(false),
        Some(version) => Err(Error::Version(format!("\"{version}\""))),
        None => Err(Error::Version("nothing".to_owned())),
    }
}

fn is_picked(options: &Options, name: &str, method: &str, path: &str, written: &Value) -> bool {
    let tags = written["tags"].as_array().into_iter().flatten();
    let mut known: Vec<String> = tags.filter_map(Value::as_str).map(str::to_owned).collect();
    known.extend(written["operationId"].as_str().map(str::to_owned));
    known.extend([name.to_owned(), format!("{method} {path}"), path.to_owned()]);
    let bare = name.strip_prefix(options.prefix.as_str());
    known.extend(bare.map(str::to_owned));
    let fits = |pattern: &String| known.iter().any(|it| glob::fits(pattern, it));
    options.pick.is_empty() || options.pick.iter().any(fits)
}

/// Where an operation is: what is said nearest to it counts. None where that is no address.
fn address(root: &Value, item: &Value, written: &Value, options: &Options) -> Option<String> {
    if let Some(url) = &options.base_url {
        return Some(url.trim_end_matches('/').to_owned());
    }
    let servers = [written, item, root];
    let server = servers.iter().find_map(|it| it["servers"].get(0))?;
    let url = filled(server["url"].as_str()?, &server["variables"])?;
    is_absolute(&url).then(|| url.trim_end_matches('/').to_owned())
}

/// An address with the defaults of its variables. What a default holds is not looked at again, or few of them would make it
/// endless.
fn filled(url: &str, variables: &Value) -> Option<String> {
    let mut pieces = url.split('{');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('}')?;
        out.push_str(variables[name]["default"].as_str()?);
        out.push_str(rest);
        if out.len() > ADDRESS_MAX {
            return None;
        }
    }
    Some(out)
}

fn is_absolute(url: &str) -> bool {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !url.contains(['{', ' ']))
}
