//! Both ends of the talk with the worker process that reads documents.
//!
//! A question is one line of JSON (`{"filename":…,"page":…,"limits":…}`), a line feed, and the document's bytes. The answer is one
//! JSON value: `{"ok":{"markdown":…,"metadata":…,"warnings":…}}` or `{"error":{"code":…,"message":…}}`.

use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::error::{Code, Error};
use crate::{Document, Limits};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<PageOf>,
    #[serde(default)]
    limits: Limits,
}

/// Where a web page was fetched from: only its content is wanted, with absolute links.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageOf {
    url: String,
    /// As the server called it.
    charset: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Ok(Document),
    Error(Refusal),
}

/// Why there is no Markdown, as it came over the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What to do about it.
    pub code: Code,
    /// The same in words.
    pub message: String,
}

/// What is sent to the worker.
pub fn question(bytes: &[u8], filename: Option<&str>, limits: &Limits) -> Vec<u8> {
    let header = Header {
        filename: filename.map(str::to_owned),
        page: None,
        limits: limits.clone(),
    };
    asked(&header, bytes)
}

/// The same for a web page. `charset` is what the server said of it.
pub fn page_question(html: &[u8], url: &str, charset: Option<&str>, limits: &Limits) -> Vec<u8> {
    let header = Header {
        filename: None,
        page: Some(PageOf {
            url: url.to_owned(),
            charset: charset.map(str::to_owned),
        }),
        limits: limits.clone(),
    };
    asked(&header, html)
}

fn asked(header: &Header, bytes: &[u8]) -> Vec<u8> {
    let mut question = serde_json::to_vec(header).expect("names and numbers are always JSON");
    question.push(b'\n');
    question.extend_from_slice(bytes);
    question
}

/// What the worker makes of a question: always an answer, whatever the question.
pub fn answer(question: &[u8]) -> Vec<u8> {
    let answer = match split(question) {
        Some((header, bytes)) => match made(&header, bytes) {
            Ok(document) => Answer::Ok(document),
            Err(error) => Answer::Error(Refusal {
                code: error.code(),
                message: error.to_string(),
            }),
        },
        None => Answer::Error(protocol(
            "the question to the document reader has no header",
        )),
    };
    serde_json::to_vec(&answer).expect("texts and numbers are always JSON")
}

fn made(header: &Header, bytes: &[u8]) -> Result<Document, Error> {
    let Some(page) = &header.page else {
        return crate::parse(bytes, header.filename.as_deref(), &header.limits);
    };
    let charset = page.charset.as_deref();
    let page = crate::page_to_markdown(bytes, charset, Some(&page.url), &header.limits)?;
    Ok(Document {
        markdown: page.markdown,
        metadata: Map::from_iter([("title".to_owned(), page.title.into())]),
        warnings: page.warnings,
    })
}

/// What the worker answered.
///
/// # Errors
/// The worker's refusal, or [`Code::Protocol`] if this is no answer of a worker.
pub fn read(answer: &[u8]) -> Result<Document, Refusal> {
    match serde_json::from_slice(answer) {
        Ok(Answer::Ok(document)) => Ok(document),
        Ok(Answer::Error(refusal)) => Err(refusal),
        Err(_) => Err(protocol(
            "the document reader gave no answer that could be read",
        )),
    }
}

fn split(question: &[u8]) -> Option<(Header, &[u8])> {
    let end = question.iter().position(|byte| *byte == b'\n')?;
    let header = serde_json::from_slice(&question[..end]).ok()?;
    Some((header, &question[end + 1..]))
}

fn protocol(message: &str) -> Refusal {
    Refusal {
        code: Code::Protocol,
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_comes_back_as_markdown() {
        let question = question("첫 줄\n".as_bytes(), Some("메모.txt"), &Limits::default());
        let document = read(&answer(&question)).unwrap();
        assert_eq!(document.markdown, "첫 줄\n");
        assert_eq!(document.metadata["format"], "text");
    }

    #[test]
    fn refusals_keep_their_code() {
        let refusal = read(&answer(&question(b"", None, &Limits::default()))).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.message.as_str()),
            (Code::Empty, "the document is empty")
        );
    }

    #[test]
    fn what_is_no_question_or_answer_is_said_to_be_none() {
        assert_eq!(
            read(&answer(b"no header")).unwrap_err().code,
            Code::Protocol
        );
        assert_eq!(
            read(&answer(b"{\"limits\":{\"pages\":1}}\nx"))
                .unwrap_err()
                .code,
            Code::Protocol
        );
        assert_eq!(read(b"").unwrap_err().code, Code::Protocol);
    }

    #[test]
    fn the_header_may_leave_everything_out() {
        assert_eq!(read(&answer(b"{}\nx")).unwrap().markdown, "x\n");
    }
}
