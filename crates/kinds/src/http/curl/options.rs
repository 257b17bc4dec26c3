//! The options of a curl command line: which there are, which matter, and what they ask for.

use super::Error;
use super::words::Word;

/// What an option is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// It takes part in the request, and takes a word.
    Takes(Takes),
    Flag(Flag),
    /// It changes what curl prints, or is done anyway.
    Ignored,
    IgnoredWord,
    /// It cannot be had, and why.
    Refused(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Method,
    Header,
    Data,
    DataRaw,
    DataBinary,
    DataUrlencode,
    Json,
    Form,
    FormString,
    User,
    Bearer,
    Cookie,
    UserAgent,
    Referer,
    Url,
    Seconds,
    Retry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    Get,
    Head,
}

/// One thing that the line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    With(Takes, Word),
    Flag(Flag),
}

const FILES: &str = "it reads or writes a file of the machine that curl runs on";
const TLS: &str =
    "it switches off or changes how servers are trusted; mend the server's certificate instead";
const ROUTE: &str = "tools take no detours; the operator decides what may be called";

#[rustfmt::skip]
const OPTIONS: &[(&str, &str, Meaning)] = &[
    ("X", "request", Meaning::Takes(Takes::Method)),
    ("H", "header", Meaning::Takes(Takes::Header)),
    ("d", "data", Meaning::Takes(Takes::Data)),
    ("", "data-ascii", Meaning::Takes(Takes::Data)),
    ("", "data-raw", Meaning::Takes(Takes::DataRaw)),
    ("", "data-binary", Meaning::Takes(Takes::DataBinary)),
    ("", "data-urlencode", Meaning::Takes(Takes::DataUrlencode)),
    ("", "json", Meaning::Takes(Takes::Json)),
    ("F", "form", Meaning::Takes(Takes::Form)),
    ("", "form-string", Meaning::Takes(Takes::FormString)),
    ("u", "user", Meaning::Takes(Takes::User)),
    ("", "oauth2-bearer", Meaning::Takes(Takes::Bearer)),
    ("b", "cookie", Meaning::Takes(Takes::Cookie)),
    ("A", "user-agent", Meaning::Takes(Takes::UserAgent)),
    ("e", "referer", Meaning::Takes(Takes::Referer)),
    ("", "url", Meaning::Takes(Takes::Url)),
    ("m", "max-time", Meaning::Takes(Takes::Seconds)),
    ("", "retry", Meaning::Takes(Takes::Retry)),
    ("G", "get", Meaning::Flag(Flag::Get)),
    ("I", "head", Meaning::Flag(Flag::Head)),
    ("s", "silent", Meaning::Ignored),
    ("S", "show-error", Meaning::Ignored),
    ("v", "verbose", Meaning::Ignored),
    ("i", "include", Meaning::Ignored),
    ("", "show-headers", Meaning::Ignored),
    ("L", "location", Meaning::Ignored),
    ("f", "fail", Meaning::Ignored),
    ("", "fail-with-body", Meaning::Ignored),
    ("g", "globoff", Meaning::Ignored),
    ("N", "no-buffer", Meaning::Ignored),
    ("#", "progress-bar", Meaning::Ignored),
    ("", "compressed", Meaning::Ignored),
    ("", "http1.1", Meaning::Ignored),
    ("", "http2", Meaning::Ignored),
    ("", "basic", Meaning::Ignored),
    ("", "tlsv1.2", Meaning::Ignored),
    ("", "max-redirs", Meaning::IgnoredWord),
    ("", "connect-timeout", Meaning::IgnoredWord),
    ("w", "write-out", Meaning::IgnoredWord),
    ("", "retry-delay", Meaning::IgnoredWord),
    ("", "retry-max-time", Meaning::IgnoredWord),
    ("k", "insecure", Meaning::Refused(TLS)),
    ("", "cacert", Meaning::Refused(TLS)),
    ("E", "cert", Meaning::Refused(TLS)),
    ("", "key", Meaning::Refused(TLS)),
    ("x", "proxy", Meaning::Refused(ROUTE)),
    ("", "socks5", Meaning::Refused(ROUTE)),
    ("", "resolve", Meaning::Refused(ROUTE)),
    ("", "connect-to", Meaning::Refused(ROUTE)),
    ("", "unix-socket", Meaning::Refused(ROUTE)),
    ("", "interface", Meaning::Refused(ROUTE)),
    ("", "location-trusted", Meaning::Refused("credentials stay with the host they are for")),
    ("o", "output", Meaning::Refused(FILES)),
    ("O", "remote-name", Meaning::Refused(FILES)),
    ("T", "upload-file", Meaning::Refused(FILES)),
    ("K", "config", Meaning::Refused(FILES)),
    ("c", "cookie-jar", Meaning::Refused(FILES)),
    ("D", "dump-header", Meaning::Refused(FILES)),
    ("n", "netrc", Meaning::Refused(FILES)),
    (":", "next", Meaning::Refused("a tool is one request")),
];

/// Everything that the words after `curl` ask for, in their order; a bare word is the address.
pub(super) fn read(words: Vec<Word>) -> Result<Vec<Asked>, Error> {
    let mut asked = Vec::new();
    let mut words = words.into_iter();
    let mut only_addresses = false;
    while let Some(word) = words.next() {
        match word.text.as_str() {
            _ if only_addresses => asked.push(Asked::With(Takes::Url, word)),
            "--" => only_addresses = true,
            text if text.starts_with("--") => {
                let name = &text[2..];
                let meaning = meaning(|(_, long, _)| *long == name)
                    .ok_or_else(|| Error::Unknown(text.to_owned()))?;
                take(meaning, text, None, &mut words, &mut asked)?;
            }
            text if text.len() > 1 && text.starts_with('-') => {
                short(&word, &mut words, &mut asked)?
            }
            _ => asked.push(Asked::With(Takes::Url, word)),
        }
    }
    Ok(asked)
}

/// `-sSL`, `-XPOST`: flags in one word, the last of which may have its own word attached.
fn short(
    word: &Word,
    words: &mut impl Iterator<Item = Word>,
    asked: &mut Vec<Asked>,
) -> Result<(), Error> {
    let mut rest = &word.text[1..];
    while let Some(c) = rest.chars().next() {
        let (name, after) = rest.split_at(c.len_utf8());
        let written = format!("-{name}");
        let meaning = meaning(|(short, _, _)| *short == name)
            .ok_or_else(|| Error::Unknown(written.clone()))?;
        let attached = Some(after)
            .filter(|after| !after.is_empty())
            .map(|after| Word {
                text: after.to_owned(),
                has_variable: word.has_variable,
            });
        if take(meaning, &written, attached.as_ref(), words, asked)? {
            return Ok(());
        }
        rest = after;
    }
    Ok(())
}

fn meaning(is: impl Fn(&&(&str, &str, Meaning)) -> bool) -> Option<Meaning> {
    OPTIONS.iter().find(is).map(|(_, _, meaning)| *meaning)
}

/// Takes an option in; whether it has used up a word.
fn take(
    meaning: Meaning,
    written: &str,
    attached: Option<&Word>,
    words: &mut impl Iterator<Item = Word>,
    asked: &mut Vec<Asked>,
) -> Result<bool, Error> {
    let mut word = || {
        attached
            .cloned()
            .or_else(|| words.next())
            .ok_or_else(|| Error::NoWord(written.to_owned()))
    };
    match meaning {
        Meaning::Takes(takes) => asked.push(Asked::With(takes, word()?)),
        Meaning::IgnoredWord => drop(word()?),
        Meaning::Flag(flag) => asked.push(Asked::Flag(flag)),
        Meaning::Ignored => {}
        Meaning::Refused(why) => {
            return Err(Error::Refused {
                option: written.to_owned(),
                why,
            });
        }
    }
    Ok(matches!(meaning, Meaning::Takes(_) | Meaning::IgnoredWord))
}

#[cfg(test)]
mod tests {
    use super::super::words::split;
    use super::*;

    fn asked(line: &str) -> Result<Vec<Asked>, Error> {
        read(split(line).unwrap())
    }

    #[test]
    fn short_options_may_stand_together() {
        let with = |takes, text: &str| {
            let text = text.to_owned();
            Asked::With(
                takes,
                Word {
                    text,
                    has_variable: false,
                },
            )
        };
        let together = asked("-sSLXPOST -Ha:b -m5 -G -d x -- -y").unwrap();
        let expected = [
            with(Takes::Method, "POST"),
            with(Takes::Header, "a:b"),
            with(Takes::Seconds, "5"),
            Asked::Flag(Flag::Get),
            with(Takes::Data, "x"),
            with(Takes::Url, "-y"),
        ];
        assert_eq!(together, expected);
    }

    #[test]
    fn what_cannot_be_had_is_named() {
        assert_eq!(asked("-sZ"), Err(Error::Unknown("-Z".into())));
        assert_eq!(
            asked("--no-such x"),
            Err(Error::Unknown("--no-such".into()))
        );
        assert_eq!(asked("-X"), Err(Error::NoWord("-X".into())));
        for option in [
            "-k",
            "--insecure",
            "-x",
            "--proxy",
            "-o",
            "-T",
            "-K",
            "-c",
            "--next",
            "--unix-socket",
        ] {
            let refused = asked(&format!("{option} x")).unwrap_err();
            assert!(
                matches!(&refused, Error::Refused { option: named, .. } if named == option),
                "{refused}"
            );
        }
    }
}
