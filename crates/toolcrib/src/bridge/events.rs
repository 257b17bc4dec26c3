//! Messages out of a stream of events, however the stream is cut into pieces.

/// What has come and is no whole event yet.
#[derive(Default)]
pub(crate) struct Events {
    rest: Vec<u8>,
}

impl Events {
    /// The messages that are whole with these bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Vec<String> {
        self.rest.extend_from_slice(bytes);
        let mut messages = Vec::new();
        let mut taken = 0;
        let mut data: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(length) = self.rest[at..].iter().position(|&byte| byte == b'\n') {
            let line = String::from_utf8_lossy(&self.rest[at..at + length]);
            let line = line.trim_end_matches('\r');
            at += length + 1;
            if line.is_empty() {
                taken = at;
                if !data.is_empty() {
                    messages.push(std::mem::take(&mut data).join("\n"));
                }
            } else if let Some(text) = line.strip_prefix("data:") {
                data.push(text.strip_prefix(' ').unwrap_or(text).to_owned());
            }
        }
        self.rest.drain(..taken);
        messages.retain(|message| !message.trim().is_empty());
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_whole_wherever_the_stream_is_cut() {
        let stream = b": hello\n\nevent: message\r\ndata: {\"a\":1}\r\n\r\ndata: {\"b\":\ndata: 2}\n\nid: 1\ndata:\n\n";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let all: Vec<String> = stream.chunks(size).flat_map(|it| events.add(it)).collect();
            assert_eq!(all, ["{\"a\":1}", "{\"b\":\n2}"], "{size}");
        }
    }
}
