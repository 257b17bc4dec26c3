//! Secrets whose names a document has made up. Anybody's document may be called like another and may name any address: what
//! was set for one place is not shown at another unless whoever imports the document says so.

use crate::Needed;
use std::collections::{BTreeMap, BTreeSet};
use url::{Host, Url};

/// What each secret is for by now, by its name: the origins that it is shown to, and others that have it in words.
pub type Uses = BTreeMap<String, BTreeSet<String>>;

/// How many of one list a message names.
const NAMED_MAX: usize = 3;

/// Names below which anybody may have one: two there are not of one site. No list of these is whole; they are those that APIs
/// are found under most.
const SHARED: [&str; 16] = [
    "amazonaws.com",
    "azure-api.net",
    "azurewebsites.net",
    "cloudfunctions.net",
    "firebaseapp.com",
    "fly.dev",
    "github.io",
    "herokuapp.com",
    "netlify.app",
    "ngrok.io",
    "onrender.com",
    "pages.dev",
    "run.app",
    "vercel.app",
    "web.app",
    "workers.dev",
];

/// Scheme, host and port of an address; what is none is told apart by the whole of it.
pub fn origin(url: &str) -> String {
    match Url::parse(url).map(|url| url.origin()) {
        Ok(origin) if origin.is_tuple() => origin.ascii_serialization(),
        _ => url.to_owned(),
    }
}

/// What would be shown to somebody whom it is not for, each with both addresses. A secret that nothing uses yet is taken to be
/// set for this document, as long as all of it is of one site.
pub fn objections(secrets: &[Needed], uses: &Uses) -> Vec<String> {
    let made_up = secrets.iter().filter(|secret| secret.is_made_up);
    made_up
        .filter_map(|secret| match uses.get(&secret.name) {
            Some(known) if !known.is_empty() => elsewhere(secret, known),
            _ => apart(secret),
        })
        .collect()
}

fn elsewhere(secret: &Needed, known: &BTreeSet<String>) -> Option<String> {
    let new: Vec<&String> = secret.shown_to.difference(known).collect();
    let known: Vec<&String> = known.iter().collect();
    (!new.is_empty()).then(|| {
        format!(
            "the secret '{}' is for {} and would be shown to {}",
            secret.name,
            some_of(&known),
            some_of(&new)
        )
    })
}

fn apart(secret: &Needed) -> Option<String> {
    let first = secret.shown_to.first()?;
    let other = secret.shown_to.iter().find(|it| site(it) != site(first))?;
    Some(format!(
        "the secret '{}' would be shown to {first} and to {other}, which is another site",
        secret.name
    ))
}

fn some_of(all: &[&String]) -> String {
    let some: Vec<&str> = all.iter().take(NAMED_MAX).map(|it| it.as_str()).collect();
    match all.len().checked_sub(NAMED_MAX) {
        None | Some(0) => some.join(", "),
        Some(more) => format!("{} and {more} more", some.join(", ")),
    }
}

/// Who is behind an origin: its scheme, and the name that somebody has registered. That is told by its shape, because only a list
/// would know: the last two parts of it, or three where the last is a country's and the one before it short, as in `co.uk`.
fn site(origin: &str) -> (String, String) {
    let Ok(url) = Url::parse(origin) else {
        return (String::new(), origin.to_owned());
    };
    let name = match url.host() {
        Some(Host::Domain(name)) => registered(name.trim_end_matches('.')).to_owned(),
        Some(number) => number.to_string(),
        None => origin.to_owned(),
    };
    (url.scheme().to_owned(), name)
}

fn registered(name: &str) -> &str {
    let last = |count: usize| {
        let dot = name.rmatch_indices('.').nth(count - 1);
        dot.map_or(name, |(at, _)| &name[at + 1..])
    };
    let two = last(2);
    let is_of_country = two
        .split_once('.')
        .is_some_and(|(before, country)| country.len() == 2 && before.len() <= 3);
    match two {
        _ if SHARED.contains(&two) => name,
        _ if is_of_country => last(3),
        _ => two,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(shown_to: &[&str]) -> Needed {
        Needed {
            name: "shop_key".to_owned(),
            what: String::new(),
            is_made_up: true,
            shown_to: shown_to.iter().map(|url| origin(url)).collect(),
        }
    }

    fn told(secret: &Needed, known: &[&str]) -> String {
        let known = known.iter().map(|it| (*it).to_owned()).collect();
        let uses = Uses::from([("shop_key".to_owned(), known)]);
        objections(std::slice::from_ref(secret), &uses).join("")
    }

    #[test]
    fn a_site_is_whoever_has_the_name() {
        for (a, b, same) in [
            ("https://api.shop.com", "https://id.shop.com", true),
            ("https://api.shop.com:8443", "https://API.shop.com", true),
            ("https://shop.com", "https://id.shop.com./", true),
            ("https://shop.com.", "https://evil.com.", false),
            ("https://api.shop.com", "http://api.shop.com", false),
            ("https://shop.com", "https://shop.evil.com", false),
            ("https://shop.com@evil.com", "https://shop.com", false),
            ("https://evil.com\\@shop.com", "https://shop.com", false),
            ("https://a.co.uk", "https://b.co.uk", false),
            ("https://x.a.co.uk", "https://y.a.co.uk", true),
            ("https://a.github.io", "https://b.github.io", false),
            ("http://127.0.0.1:1", "http://127.0.0.1:2", true),
            ("http://10.0.0.1", "http://10.9.0.1", false),
            ("http://localhost:1", "http://localhost:2", true),
        ] {
            let told = told(&needed(&[a, b]), &[]);
            assert_eq!(told.is_empty(), same, "{a} {b}: {told}");
        }
    }

    #[test]
    fn what_is_for_one_place_is_not_shown_at_another() {
        let shop = needed(&["https://shop.com/v1"]);
        assert_eq!(told(&shop, &[]), "", "set for this one");
        assert_eq!(told(&shop, &["https://shop.com"]), "");
        for known in ["https://shop.com:444", "http://shop.com", "the agent 'a'"] {
            let told = told(&shop, &[known]);
            for part in ["'shop_key'", known, "https://shop.com"] {
                assert!(told.contains(part), "{part}: {told}");
            }
        }
        let both = ["https://other.com", "https://shop.com"];
        assert_eq!(told(&needed(&both), &both), "", "agreed to before");
        let chosen = Needed {
            is_made_up: false,
            ..needed(&both)
        };
        assert_eq!(told(&chosen, &["https://else.com"]), "");
        let many = ["http://a", "http://b", "http://c", "http://d", "http://e"];
        let told = told(&needed(&many), &["https://else.com"]);
        assert!(told.ends_with("and 2 more"), "{told}");
    }
}
