//! The search engines: how each is asked and what it answers, made into one shape. A new one is a variant here.

use fetch::{Body, HeaderName, HeaderValue, Method, Request, Trust, Url};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Brave,
    Tavily,
    Exa,
    Searxng,
    Naver,
}

/// What is looked for.
pub(super) struct Query {
    text: String,
    pub(super) count: usize,
    language: Option<String>,
    /// day, week, month or year.
    freshness: Option<String>,
}

/// One page.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    title: String,
    url: String,
    snippet: String,
    published: Option<String>,
    score: Option<f64>,
}

impl Query {
    pub(super) fn of(arguments: &Value) -> Self {
        let text = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let count = arguments.get("count").and_then(Value::as_u64).unwrap_or(5);
        Query {
            text: text("query").unwrap_or_default(),
            count: usize::try_from(count).unwrap_or(5).clamp(1, 20),
            language: text("language"),
            freshness: text("freshness"),
        }
    }
}

impl Engine {
    pub(super) const ALL: [Engine; 5] = [
        Engine::Brave,
        Engine::Tavily,
        Engine::Exa,
        Engine::Searxng,
        Engine::Naver,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Engine::Brave => "brave",
            Engine::Tavily => "tavily",
            Engine::Exa => "exa",
            Engine::Searxng => "searxng",
            Engine::Naver => "naver",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Where it is, for those that are in one place.
    pub(super) fn address(self) -> Option<&'static str> {
        match self {
            Engine::Brave => Some("https://api.search.brave.com"),
            Engine::Tavily => Some("https://api.tavily.com"),
            Engine::Exa => Some("https://api.exa.ai"),
            Engine::Searxng => None,
            Engine::Naver => Some("https://openapi.naver.com"),
        }
    }

    pub(super) fn needs_key(self) -> bool {
        self != Engine::Searxng
    }

    /// What a key looks like, where it is not just a key.
    pub(super) fn key_form(self) -> &'static str {
        match self {
            Engine::Naver => " to CLIENT_ID:CLIENT_SECRET",
            _ => "",
        }
    }

    pub(super) fn request(self, base: &str, key: &str, query: &Query) -> Result<Request, String> {
        let (path, pairs) = self.address_of(query);
        let mut url = Url::parse(&format!("{base}{path}"))
            .map_err(|error| format!("web_search.base_url: {error}"))?;
        if !pairs.is_empty() {
            url.query_pairs_mut().extend_pairs(pairs);
        }
        let body = self.body(query);
        let method = if body.is_some() {
            Method::POST
        } else {
            Method::GET
        };
        // The operator has chosen the engine.
        let mut request = Request::new(method, url, Trust::Operator);
        request.body = body.map_or(Body::Empty, Body::Json);
        for (name, value) in self.credentials(key)? {
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| "web_search.api_key holds what no header may".to_owned())?;
            value.set_sensitive(true);
            request.headers.insert(HeaderName::from_static(name), value);
        }
        Ok(request)
    }

    fn credentials(self, key: &str) -> Result<Vec<(&'static str, String)>, String> {
        let one = |name, value: &str| Ok(vec![(name, value.to_owned())]);
        match self {
            Engine::Brave => one("x-subscription-token", key),
            Engine::Tavily => one("authorization", &format!("Bearer {key}")),
            Engine::Exa => one("x-api-key", key),
            Engine::Searxng if key.is_empty() => Ok(Vec::new()),
            Engine::Searxng => one("authorization", &format!("Bearer {key}")),
            Engine::Naver => {
                let (id, secret) = key
                    .split_once(':')
                    .ok_or("web_search.api_key must be CLIENT_ID:CLIENT_SECRET")?;
                Ok(vec![
                    ("x-naver-client-id", id.to_owned()),
                    ("x-naver-client-secret", secret.to_owned()),
                ])
            }
        }
    }

    fn address_of(self, query: &Query) -> (&'static str, Vec<(&'static str, String)>) {
        let mut pairs = Vec::new();
        let mut add =
            |name, value: Option<&str>| pairs.extend(value.map(|value| (name, value.to_owned())));
        let count = query.count.to_string();
        let path = match self {
            Engine::Brave => {
                add("q", Some(&query.text));
                add("count", Some(&count));
                add("search_lang", query.language.as_deref());
                add(
                    "freshness",
                    query.freshness.as_deref().map(|age| match age {
                        "day" => "pd",
                        "week" => "pw",
                        "month" => "pm",
                        _ => "py",
                    }),
                );
                "/res/v1/web/search"
            }
            Engine::Searxng => {
                add("q", Some(&query.text));
                add("format", Some("json"));
                add("language", query.language.as_deref());
                add("time_range", query.freshness.as_deref());
                "/search"
            }
            Engine::Naver => {
                add("query", Some(&query.text));
                add("display", Some(&count));
                "/v1/search/webkr.json"
            }
            Engine::Tavily | Engine::Exa => "/search",
        };
        (path, pairs)
    }

    fn body(self, query: &Query) -> Option<Value> {
        match self {
            Engine::Tavily => {
                let mut body = json!({"query": query.text, "max_results": query.count});
                if let Some(age) = &query.freshness {
                    body["time_range"] = json!(age);
                }
                Some(body)
            }
            Engine::Exa => Some(json!({
                "query": query.text,
                "numResults": query.count,
                "contents": {"text": {"maxCharacters": 500}},
            })),
            _ => None,
        }
    }

    /// None where this is no list of results.
    pub(super) fn read(self, body: &Value) -> Option<Vec<Found>> {
        let (list, url, snippet, published) = match self {
            Engine::Brave => (
                body.pointer("/web/results"),
                "url",
                "description",
                "page_age",
            ),
            Engine::Tavily => (body.get("results"), "url", "content", "published_date"),
            Engine::Exa => (body.get("results"), "url", "text", "publishedDate"),
            Engine::Searxng => (body.get("results"), "url", "content", "publishedDate"),
            Engine::Naver => (body.get("items"), "link", "description", "pubDate"),
        };
        // Brave leaves the list out where it has found nothing.
        let nothing = json!([]);
        let is_empty = self == Engine::Brave && body.get("query").is_some();
        let list = list.or(is_empty.then_some(&nothing))?.as_array()?;
        let text =
            |item: &Value, name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
        let found = |item: &Value| {
            Some(Found {
                title: plain(&text(item, "title").unwrap_or_default()),
                url: text(item, url).filter(|url| !url.is_empty())?,
                snippet: plain(&text(item, snippet).unwrap_or_default()),
                published: text(item, published).filter(|text| !text.is_empty()),
                score: item.get("score").and_then(Value::as_f64),
            })
        };
        Some(list.iter().filter_map(found).collect())
    }

    /// What an engine says of a query that it refuses.
    pub(super) fn complaint(self, body: &Value) -> Option<String> {
        let pointers = [
            "/error/detail",
            "/detail/error",
            "/detail",
            "/error",
            "/errorMessage",
            "/message",
        ];
        let said = pointers
            .iter()
            .find_map(|pointer| body.pointer(pointer)?.as_str());
        said.map(|text| text.chars().take(300).collect())
    }
}

impl Found {
    pub(super) fn into_value(self) -> Value {
        json!({
            "title": self.title,
            "url": self.url,
            "snippet": self.snippet,
            "published": self.published,
            "score": self.score,
        })
    }
}

/// Engines mark the words they have found with tags, and write some letters as entities.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, letter) = tag(rest)
            .or_else(|| entity(rest))
            .unwrap_or((1, rest.chars().next()));
        out.extend(letter);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The length of a tag such as `<b>` or `</strong>` at the beginning.
fn tag(text: &str) -> Option<(usize, Option<char>)> {
    let end = text.strip_prefix('<')?.find('>')? + 2;
    let inside = text[1..end - 1].trim_start_matches('/');
    let is_tag = inside.starts_with(|c: char| c.is_ascii_alphabetic()) && end < 40;
    is_tag.then_some((end, None))
}

fn entity(text: &str) -> Option<(usize, Option<char>)> {
    let end = text.strip_prefix('&')?.find(';').filter(|end| *end < 10)? + 2;
    let letter = match &text[1..end - 1] {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        name => {
            let number = name.strip_prefix('#')?;
            let number = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(number)?
        }
    };
    Some((end, Some(letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_entities_are_taken_out() {
        for (text, expected) in [
            ("<b>서울</b> 날씨 &amp; 기온", "서울 날씨 & 기온"),
            ("a < b and c > d", "a < b and c > d"),
            (
                "&quot;x&quot; &#39;y&#x27; &unknown; &",
                "\"x\" 'y' &unknown; &",
            ),
            ("<strong>Rust</strong>\n  1.95", "Rust 1.95"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn every_engine_is_asked_its_own_way() {
        let query = Query::of(
            &json!({"query": "a b&c", "count": 3, "freshness": "week", "language": "ko"}),
        );
        let asked = |engine: Engine, key: &str| {
            let request = engine.request("https://e.example", key, &query).unwrap();
            (request.method.to_string(), request.url)
        };
        let get = |url: &str| ("GET".to_owned(), url.to_owned());
        let brave =
            "https://e.example/res/v1/web/search?q=a+b%26c&count=3&search_lang=ko&freshness=pw";
        assert_eq!(asked(Engine::Brave, "k"), get(brave));
        let searxng = "https://e.example/search?q=a+b%26c&format=json&language=ko&time_range=week";
        assert_eq!(asked(Engine::Searxng, ""), get(searxng));
        let naver = "https://e.example/v1/search/webkr.json?query=a+b%26c&display=3";
        assert_eq!(asked(Engine::Naver, "id:secret"), get(naver));
        assert_eq!(
            asked(Engine::Exa, "k"),
            ("POST".to_owned(), "https://e.example/search".to_owned())
        );
        assert!(
            Engine::Naver
                .request("https://e.example", "only-one", &query)
                .is_err()
        );
    }

    #[test]
    fn what_is_no_list_of_results_is_not_taken_for_none() {
        for engine in Engine::ALL {
            assert_eq!(engine.read(&json!({"error": "x"})), None, "{engine:?}");
        }
        assert_eq!(
            Engine::Brave.read(&json!({"query": {"original": "x"}})),
            Some(Vec::new())
        );
    }
}
