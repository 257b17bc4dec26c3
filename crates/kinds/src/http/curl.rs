//! A tool from a curl command line: what its documentation says to type becomes a definition that does the same. What
//! would let somebody in goes into `auth_config` and nowhere else; `{name}` in the line becomes an argument.

mod credential;
mod options;
mod words;

use super::encode::percent;
use credential::Credential;
use fetch::Url;
use options::{Asked, Flag, Takes};
use serde_json::{Map, Value, json};
use words::Word;

/// Why a line is no tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("The line does not begin with curl")]
    NotCurl,
    #[error("{0} is not closed: the line ends inside quotes")]
    Unclosed(char),
    #[error(
        "'{0}' has a meaning for a shell; put the word it stands in between single quotes, or leave that part out"
    )]
    Shell(char),
    #[error("The option {0} is not known here")]
    Unknown(String),
    #[error("After {0} something is missing")]
    NoWord(String),
    #[error("The option {option} cannot be taken over: {why}")]
    Refused { option: String, why: &'static str },
    #[error("The line has no address; write it with http:// or https://")]
    NoUrl,
    #[error("The line has more than one address; a tool is one request")]
    ManyUrls,
    #[error("'{0}' is no address that a tool can call; write it like https://api.example.com/path")]
    BadUrl(String),
    #[error("'{0}' is no header; write it as 'Name: value'")]
    BadHeader(String),
    #[error(
        "'@' reads a file, which a tool cannot; write what is in it, or {{{{name}}}} for an argument"
    )]
    File,
    #[error(
        "A variable of the shell stands where no credential is; write its value, or {{{{name}}}} for an argument"
    )]
    Variable,
    #[error(
        "The line has more than one credential; leave one in, and give the others as references in headers afterwards"
    )]
    ManyCredentials,
    #[error("The option {0} needs a number")]
    NoNumber(&'static str),
}

/// What the line asks for, put together.
#[derive(Default)]
struct Line {
    method: Option<String>,
    url: Option<String>,
    headers: Map<String, Value>,
    content_type: Option<String>,
    data: Vec<String>,
    is_json: bool,
    form: Map<String, Value>,
    credential: Option<Credential>,
    is_get: bool,
    is_head: bool,
    seconds: Option<f64>,
    retries: Option<u32>,
}

/// The definition of a tool that does what the line does.
pub fn definition(line: &str) -> Result<Value, Error> {
    let mut words = words::split(line)?;
    if !words
        .first()
        .is_some_and(|word| matches!(word.text.as_str(), "curl" | "curl.exe"))
    {
        return Err(Error::NotCurl);
    }
    words.remove(0);
    let mut line = Line::default();
    for asked in options::read(words)? {
        line.take(asked)?;
    }
    line.definition()
}

impl Line {
    fn take(&mut self, asked: Asked) -> Result<(), Error> {
        let (takes, word) = match asked {
            Asked::Flag(Flag::Get) => {
                self.is_get = true;
                return Ok(());
            }
            Asked::Flag(Flag::Head) => {
                self.is_head = true;
                return Ok(());
            }
            Asked::With(takes, word) => (takes, word),
        };
        match takes {
            Takes::Header => return self.header(&word),
            Takes::User => return self.credential(Credential::user(&word)),
            Takes::Bearer => return self.credential(Credential::bearer(&word)),
            Takes::Cookie if !word.text.contains('=') && !word.has_variable => {
                return Err(Error::File);
            }
            Takes::Cookie => return self.credential(Credential::header("Cookie", &word)),
            _ if word.has_variable => return Err(Error::Variable),
            _ => {}
        }
        let text = word.text;
        match takes {
            Takes::Method => self.method = Some(text.to_ascii_uppercase()),
            Takes::Url if self.url.is_some() => return Err(Error::ManyUrls),
            Takes::Url => self.url = Some(text),
            Takes::Data | Takes::DataBinary | Takes::Json if text.starts_with('@') => {
                return Err(Error::File);
            }
            // As curl does: line ends are for the one who types.
            Takes::Data => self.data.push(text.replace(['\r', '\n'], "")),
            Takes::DataRaw | Takes::DataBinary => self.data.push(text),
            Takes::DataUrlencode => self.data.push(urlencoded(&text)?),
            Takes::Json => {
                self.is_json = true;
                self.data.push(text);
            }
            Takes::Form => self.field(&text, true)?,
            Takes::FormString => self.field(&text, false)?,
            Takes::UserAgent => drop(self.headers.insert("User-Agent".to_owned(), text.into())),
            Takes::Referer => drop(self.headers.insert("Referer".to_owned(), text.into())),
            Takes::Seconds => {
                self.seconds = Some(text.parse().map_err(|_| Error::NoNumber("--max-time"))?)
            }
            Takes::Retry => {
                self.retries = Some(text.parse().map_err(|_| Error::NoNumber("--retry"))?)
            }
            Takes::Header | Takes::User | Takes::Bearer | Takes::Cookie => {}
        }
        Ok(())
    }

    fn header(&mut self, word: &Word) -> Result<(), Error> {
        let (name, value) = word
            .text
            .split_once(':')
            .ok_or_else(|| Error::BadHeader(word.text.clone()))?;
        let (name, value) = (name.trim(), value.trim());
        let lower = name.to_ascii_lowercase();
        let value = Word {
            text: value.to_owned(),
            has_variable: word.has_variable,
        };
        if let Some(credential) = Credential::of_header(name, &value) {
            return self.credential(credential);
        }
        if word.has_variable {
            return Err(Error::Variable);
        }
        let parsed = name
            .parse::<fetch::HeaderName>()
            .map_err(|_| Error::BadHeader(word.text.clone()))?;
        // The client writes some itself, and without a value curl leaves a header out.
        if fetch::is_ours(&parsed) || value.text.is_empty() {
            return Ok(());
        }
        if lower == "content-type" {
            self.content_type = Some(value.text.to_ascii_lowercase());
        }
        self.headers.insert(name.to_owned(), value.text.into());
        Ok(())
    }

    fn credential(&mut self, credential: Credential) -> Result<(), Error> {
        match self.credential.replace(credential) {
            None => Ok(()),
            Some(_) => Err(Error::ManyCredentials),
        }
    }

    /// `name=value` of a multipart form; `@file` and `<file` would be read from the disk.
    fn field(&mut self, text: &str, may_be_file: bool) -> Result<(), Error> {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| Error::NoWord(format!("-F {text}")))?;
        if may_be_file && value.starts_with(['@', '<']) {
            return Err(Error::File);
        }
        add(&mut self.form, name, value);
        Ok(())
    }

    fn definition(mut self) -> Result<Value, Error> {
        let (url, path, mut query) = self.address()?;
        if self.is_get {
            query.extend(std::mem::take(&mut self.data));
        }
        let has_body = !self.data.is_empty() || !self.form.is_empty();
        let fallback = match (self.is_head, has_body) {
            (true, _) => "HEAD",
            (false, true) => "POST",
            (false, false) => "GET",
        };
        let method = self.method.take().unwrap_or_else(|| fallback.to_owned());
        let mut config = Map::new();
        config.insert("base_url".to_owned(), url.as_str().into());
        config.insert("method".to_owned(), method.as_str().into());
        if !path.is_empty() && path != "/" {
            config.insert("path".to_owned(), path.as_str().into());
        }
        let pairs = query
            .iter()
            .flat_map(|part| part.split('&'))
            .filter(|pair| !pair.is_empty());
        let mut named = Map::new();
        for pair in pairs {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            add(&mut named, &decoded(name), &decoded(value));
        }
        if !named.is_empty() {
            config.insert("query".to_owned(), named.into());
        }
        self.body(&mut config);
        let headers = std::mem::take(&mut self.headers);
        if !headers.is_empty() {
            config.insert("headers".to_owned(), headers.into());
        }
        let is_repeatable = matches!(
            method.as_str(),
            "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS"
        );
        if let Some(max) = self.retries.filter(|max| *max > 0 && is_repeatable) {
            config.insert("retry".to_owned(), json!({"max": max.min(5)}));
        }
        let mut definition = json!({
            "name": name(&method, &url, &path),
            "description": format!("{method} {url}{path}"),
            "kind": "http",
            "input_schema": schema(&config),
            "config": config,
        });
        if let Some(seconds) = self.seconds.filter(|seconds| *seconds > 0.0) {
            definition["timeout_seconds"] = seconds.into();
        }
        if let Some(credential) = self.credential {
            definition["auth_config"] = credential.into_config();
        }
        Ok(definition)
    }

    /// Scheme and host; the path as it was written; and the query.
    fn address(&mut self) -> Result<(String, String, Vec<String>), Error> {
        let text = self.url.take().ok_or(Error::NoUrl)?;
        let text = match text.contains("://") {
            true => text,
            // As curl guesses it.
            false => format!("http://{text}"),
        };
        let start = text.find("://").map_or(0, |at| at + 3);
        let end = text[start..]
            .find(['/', '?', '#'])
            .map_or(text.len(), |at| start + at);
        let (origin, rest) = text.split_at(end);
        let bad = || Error::BadUrl(origin.rsplit('@').next().unwrap_or_default().to_owned());
        let mut url = Url::parse(origin).map_err(|_| bad())?;
        if !matches!(url.scheme(), "http" | "https") || origin.contains(['{', '$']) {
            return Err(bad());
        }
        if !url.username().is_empty() || url.password().is_some() {
            let user = format!(
                "{}:{}",
                decoded(url.username()),
                decoded(url.password().unwrap_or_default())
            );
            self.credential(Credential::user(&Word {
                text: user,
                has_variable: false,
            }))?;
            url.set_username("")
                .and_then(|()| url.set_password(None))
                .map_err(|()| bad())?;
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let query = Some(query.to_owned()).filter(|query| !query.is_empty());
        let url = url.as_str().trim_end_matches('/').to_owned();
        Ok((url, path.to_owned(), query.into_iter().collect()))
    }

    /// What is sent, as an object where it is JSON or a form that one can be made of.
    fn body(&mut self, config: &mut Map<String, Value>) {
        if !self.form.is_empty() {
            self.headers
                .retain(|name, _| !name.eq_ignore_ascii_case("content-type"));
            config.insert("body".to_owned(), std::mem::take(&mut self.form).into());
            config.insert("body_type".to_owned(), "multipart".into());
            return;
        }
        if self.data.is_empty() {
            return;
        }
        let said = self.content_type.as_deref().unwrap_or_default();
        let is_json = said.contains("json") || (self.is_json && said.is_empty());
        let text = self.data.join(if self.is_json { "" } else { "&" });
        let value = serde_json::from_str::<Value>(&text).ok();
        if let Some(value) = value.filter(|_| is_json) {
            config.insert("body".to_owned(), value);
            config.insert("body_type".to_owned(), "json".into());
            return;
        }
        let is_form = said.is_empty() || said.starts_with("application/x-www-form-urlencoded");
        if let Some(pairs) = pairs(&text).filter(|_| is_form && !self.is_json) {
            config.insert("body".to_owned(), pairs.into());
            config.insert("body_type".to_owned(), "form".into());
            return;
        }
        if said.is_empty() {
            let sent = if self.is_json {
                "application/json"
            } else {
                "application/x-www-form-urlencoded"
            };
            self.headers.insert("Content-Type".to_owned(), sent.into());
        }
        config.insert("body".to_owned(), text.into());
    }
}

/// A name that comes again makes a list.
fn add(members: &mut Map<String, Value>, name: &str, value: &str) {
    match members.get_mut(name) {
        None => drop(members.insert(name.to_owned(), value.into())),
        Some(Value::Array(items)) => items.push(value.into()),
        Some(one) => *one = json!([one.take(), value]),
    }
}

/// The fields of a form; `None` where a text is none.
fn pairs(text: &str) -> Option<Map<String, Value>> {
    let mut members = Map::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        if name.is_empty() || name.contains(['{', '"', ' ']) {
            return None;
        }
        add(&mut members, &decoded(name), &decoded(value));
    }
    Some(members).filter(|members| !members.is_empty())
}

/// `name=content` of which the content is still to be encoded; `content` and `=content` alone too.
fn urlencoded(text: &str) -> Result<String, Error> {
    match text.split_once('=') {
        Some(("", content)) => Ok(percent(content)),
        Some((name, content)) => Ok(format!("{name}={}", percent(content))),
        None if text.contains('@') => Err(Error::File),
        None => Ok(percent(text)),
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = || u8::from_str_radix(str::from_utf8(after.get(..2)?).ok()?, 16).ok();
        match (first, code()) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = after;
            }
            (byte, _) => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Every `{name}` and `{{name}}` in the config is an argument that must be given.
fn schema(config: &Map<String, Value>) -> Value {
    let mut names = Vec::new();
    config.values().for_each(|value| collect(value, &mut names));
    let property = |name: &String| (name.clone(), json!({"type": "string"}));
    let properties: Map<String, Value> = names.iter().map(property).collect();
    match names.is_empty() {
        true => json!({"type": "object", "properties": {}}),
        false => json!({"type": "object", "properties": properties, "required": names}),
    }
}

fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for part in text.split('{').skip(1) {
                let name = part.split('}').next().unwrap_or_default().trim();
                let is_name = !name.is_empty()
                    && name
                        .bytes()
                        .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
                if is_name && part.contains('}') && !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        Value::Object(members) => members.values().for_each(|item| collect(item, names)),
        _ => {}
    }
}

/// Such as `get_users` for GET https://api.example.com/v1/users/{id}.
fn name(method: &str, url: &str, path: &str) -> String {
    let is_word = |part: &&str| !part.is_empty() && !part.contains(['{', '%', '$']);
    let host = url.split("://").nth(1).unwrap_or_default();
    let host = host.split([':', '/']).next().unwrap_or_default();
    let last = path.split('/').rfind(is_word).unwrap_or(host);
    let name = format!("{}_{last}", method.to_ascii_lowercase());
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(plain).take(64).collect()
}
