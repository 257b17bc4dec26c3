//! The same stream in other pieces is the same turn; cut off, it is an error and never half a turn.

use super::recording::Exchange;
use super::summary::Summary;
use providers::wire::Written;
use providers::{Arguments, Delta, Error, Turn};

const EVENT_BYTES_MAX: usize = 16 << 20;

/// Streams up to this length are split at every byte, longer ones at so many places.
const EVERY_BYTE_MAX: usize = 4 << 10;
const PLACES: usize = 500;

/// Events after which nothing more is needed.
const ENDS: [&str; 5] = [
    "message_stop",
    "[DONE]",
    "response.completed",
    "response.incomplete",
    "response.failed",
];

pub(super) fn ends(text: &str) -> bool {
    ENDS.iter().any(|end| text.contains(end))
}

/// The turn of an answer as it was recorded.
pub(super) fn read(written: &Written, exchange: &Exchange) -> Result<Turn, Error> {
    let body = exchange.response.as_bytes();
    match exchange.is_stream() {
        true => streamed(written, [body]),
        false => written.read(body),
    }
}

pub(super) fn check(
    name: &str,
    written: &Written,
    exchange: &Exchange,
    turn: &Turn,
    summary: &mut Summary,
) {
    summary.streams += 1;
    let body = exchange.response.as_bytes();
    let crlf = exchange.response.replace('\n', "\r\n");
    for (way, text) in [("", body), (" with CRLF", crlf.as_bytes())] {
        for size in [1, 2, 3, 7, 64] {
            let read = streamed(written, text.chunks(size));
            expect(
                name,
                &format!("in pieces of {size}{way}"),
                read,
                turn,
                summary,
            );
        }
    }
    for at in places(body.len()) {
        let read = streamed(written, [&body[..at], &body[at..]]);
        expect(name, &format!("split at byte {at}"), read, turn, summary);
    }
    told(name, written, body, turn, summary);
    cut(name, written, exchange, turn, summary);
}

/// Cut off after each byte, and so after each event: an error, or the same turn if nothing is missing but its end.
fn cut(name: &str, written: &Written, exchange: &Exchange, turn: &Turn, summary: &mut Summary) {
    let text = &exchange.response;
    let mut incoming = written.incoming(EVENT_BYTES_MAX);
    for (at, byte) in text.bytes().enumerate() {
        summary.cuts += 1;
        let read = incoming.clone().finish(&mut |_| {});
        match read {
            Err(_) => {}
            Ok(read) if read == *turn && is_ended(&text.as_bytes()[..at]) => {
                summary.cuts_after_the_end += 1;
            }
            Ok(_) => {
                summary.fail(format!("{name}: cut at byte {at} it is taken for a turn"));
                return;
            }
        }
        incoming.take(&[byte], &mut |_| {}).unwrap();
    }
}

/// Whether the last event has come, or what makes a chat whole without it: the reason of its end, and the counts.
fn is_ended(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).replace(' ', "");
    let is_chat = text.contains("\"choices\"");
    ends(&text) || (is_chat && text.contains("\"usage\":{"))
}

fn places(length: usize) -> impl Iterator<Item = usize> {
    let step = match length <= EVERY_BYTE_MAX {
        true => 1,
        false => length.div_ceil(PLACES),
    };
    (0..length).step_by(step)
}

/// What was told on the way is what the turn says.
fn told(name: &str, written: &Written, body: &[u8], turn: &Turn, summary: &mut Summary) {
    let (mut text, mut calls) = (String::new(), Vec::<(String, String, String)>::new());
    let mut incoming = written.incoming(EVENT_BYTES_MAX);
    incoming
        .take(body, &mut |delta| match delta {
            Delta::Text(piece) => text += &piece,
            Delta::CallStarted { index, id, name } => {
                assert_eq!(index, calls.len());
                calls.push((id, name, String::new()));
            }
            Delta::CallArguments { index, text } => calls[index].2 += &text,
            Delta::Thinking(_) | Delta::Again => {}
        })
        .unwrap();
    let same = calls.len() == turn.calls.len()
        && calls
            .iter()
            .zip(&turn.calls)
            .all(|((id, name, told), call)| {
                let is_same = match &call.arguments {
                    Arguments::Bad(text) => text == told,
                    Arguments::Json(_) if told.is_empty() => call.object().unwrap().is_empty(),
                    Arguments::Json(value) => {
                        serde_json::from_str(told).ok().as_ref() == Some(value)
                    }
                };
                *id == call.id && *name == call.name && is_same
            });
    if text != turn.text || !same {
        summary.fail(format!("{name}: what was told on the way is not the turn"));
    }
}

fn expect(name: &str, how: &str, read: Result<Turn, Error>, turn: &Turn, summary: &mut Summary) {
    summary.rechunked += 1;
    match read {
        Ok(read) if read == *turn => {}
        Ok(_) => summary.fail(format!("{name}: {how} it is another turn")),
        Err(error) => summary.fail(format!("{name}: {how} it is no turn: {error}")),
    }
}

fn streamed<'a>(
    written: &Written,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Turn, Error> {
    let mut incoming = written.incoming(EVENT_BYTES_MAX);
    for piece in pieces {
        incoming.take(piece, &mut |_| {})?;
    }
    incoming.finish(&mut |_| {})
}
