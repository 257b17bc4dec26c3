//! Which trace a request belongs to, as W3C Trace Context writes it (`traceparent`, `tracestate`).

use std::sync::Arc;
use uuid::Uuid;

/// Where a request says it, as the names of headers and in `_meta` of MCP.
pub const TRACE_PARENT: &str = "traceparent";
pub const TRACE_STATE: &str = "tracestate";

/// Longer states are not passed on; the standard lets us.
const STATE_CHARS_MAX: usize = 512;

/// One span of a trace, as others are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    /// Whether somebody keeps it.
    pub is_sampled: bool,
    /// What others have written for themselves.
    pub state: Option<Arc<str>>,
}

impl Context {
    /// What a request says it belongs to; none where it says nothing that can be read.
    pub fn read(parent: &str, state: Option<&str>) -> Option<Self> {
        let mut parts = parent.trim().split('-');
        let version: [u8; 1] = bytes(parts.next()?)?;
        let trace_id: [u8; 16] = bytes(parts.next()?)?;
        let span_id: [u8; 8] = bytes(parts.next()?)?;
        let flags: [u8; 1] = bytes(parts.next()?)?;
        // Later versions may have more behind it, this one has not; and all zeros stand for nothing.
        let is_read = match version {
            [0] => parts.next().is_none(),
            [0xff] => false,
            _ => true,
        };
        let is_real = trace_id != [0; 16] && span_id != [0; 8];
        let state = state.map(str::trim);
        let state = state.filter(|it| !it.is_empty() && it.len() <= STATE_CHARS_MAX);
        let state = state.filter(|it| it.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
        (is_read && is_real).then(|| Context {
            trace_id,
            span_id,
            is_sampled: flags[0] & 1 == 1,
            state: state.map(Into::into),
        })
    }

    /// The beginning of a trace.
    pub(crate) fn root(is_sampled: bool) -> Self {
        Context {
            trace_id: *Uuid::new_v4().as_bytes(),
            span_id: span_id(),
            is_sampled,
            state: None,
        }
    }

    /// Another span of the same trace.
    pub(crate) fn child(&self) -> Self {
        Context {
            span_id: span_id(),
            ..self.clone()
        }
    }

    /// As a header, and as a member of `_meta` in MCP.
    pub fn traceparent(&self) -> String {
        let (trace, span) = (hex(&self.trace_id), hex(&self.span_id));
        format!("00-{trace}-{span}-{:02x}", u8::from(self.is_sampled))
    }
}

fn span_id() -> [u8; 8] {
    let random = Uuid::new_v4();
    let mut id = [0; 8];
    // Its first bytes are nothing but chance.
    id[..6].copy_from_slice(&random.as_bytes()[..6]);
    id[6..].copy_from_slice(&random.as_bytes()[14..]);
    id
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lower case only, as the standard has it.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 2 * N || !text.bytes().all(is_hex) {
        return None;
    }
    let mut read = [0; N];
    for (place, byte) in read.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_parent_is_read_and_written_as_it_was() {
        let read = Context::read(PARENT, Some(" vendor=1 ")).expect("it is valid");
        assert!(read.is_sampled);
        assert_eq!(read.state.as_deref(), Some("vendor=1"));
        assert_eq!(read.traceparent(), PARENT);
        let child = read.child();
        assert_eq!(child.trace_id, read.trace_id);
        assert_ne!(child.span_id, read.span_id);
        let later = format!("01{}-more", &PARENT[2..]);
        assert!(Context::read(&later, None).is_some(), "a later version");
    }

    #[test]
    fn what_is_not_a_parent_is_none() {
        for wrong in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Context::read(wrong, None), None, "{wrong}");
        }
        let long = "a=".to_owned() + &"b".repeat(600);
        let read = Context::read(PARENT, Some(&long)).expect("its state is not needed");
        assert_eq!(read.state, None);
    }
}
