//! Server-sent events, from pieces of whatever size.

/// One event. Of what is not said, its text is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    pub name: String,
    pub data: String,
    pub id: Option<String>,
}

/// An event that is longer than may be.
#[derive(Debug, PartialEq)]
pub struct TooLong;

/// A stream of them, read piece by piece.
#[derive(Debug, Clone)]
pub struct Events {
    /// The line that has not ended yet.
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    after_return: bool,
    is_first: bool,
    bytes_max: usize,
    /// Milliseconds until a broken stream is to be opened again, if the server has said so.
    pub retry_ms: Option<u64>,
}

impl Events {
    pub fn new(bytes_max: usize) -> Self {
        Events {
            line: Vec::new(),
            event: Event::default(),
            has_data: false,
            after_return: false,
            is_first: true,
            bytes_max,
            retry_ms: None,
        }
    }

    /// The events that this piece ends.
    pub fn take(&mut self, mut piece: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut ended = Vec::new();
        if std::mem::take(&mut self.after_return) && piece.first() == Some(&b'\n') {
            piece = &piece[1..];
        }
        while let Some(at) = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&piece[..at]);
            let is_return = piece[at] == b'\r';
            piece = &piece[at + 1..];
            if is_return {
                match piece.first() {
                    Some(b'\n') => piece = &piece[1..],
                    Some(_) => {}
                    None => self.after_return = true,
                }
            }
            let line = std::mem::take(&mut self.line);
            ended.extend(self.end_line(&line));
            self.check()?;
        }
        self.line.extend_from_slice(piece);
        self.check()?;
        Ok(ended)
    }

    /// The event that was being written when the stream ended. By the book it counts for nothing; whoever can tell a whole
    /// one from half of one may think otherwise.
    pub fn unended(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line);
        }
        self.end_line(b"")
    }

    fn check(&self) -> Result<(), TooLong> {
        match self.line.len() + self.event.data.len() > self.bytes_max {
            true => Err(TooLong),
            false => Ok(()),
        }
    }

    fn end_line(&mut self, line: &[u8]) -> Option<Event> {
        let line = match std::mem::take(&mut self.is_first) {
            true => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
            false => line,
        };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            // One that has only an id still moves the place to go on from.
            let says = std::mem::take(&mut self.has_data) || event.id.is_some();
            return Some(event).filter(|_| says);
        }
        let text = String::from_utf8_lossy(line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.name),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.retry_ms = value.parse().ok().or(self.retry_ms),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{FEFF}: hello\r\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\nid: 7\r\nretry: 30\r\n\r\n\
         data\rdata: 가\r\rid: 8\n\nevent: only\n\n:\n\ndata: half\n";

    fn event(name: &str, data: &str, id: Option<&str>) -> Event {
        Event {
            name: name.to_owned(),
            data: data.to_owned(),
            id: id.map(str::to_owned),
        }
    }

    /// In pieces of every size the same comes out.
    #[test]
    fn events_do_not_depend_on_the_pieces() {
        for size in 1..=STREAM.len() {
            let mut events = Events::new(100);
            let pieces = STREAM.as_bytes().chunks(size);
            let all: Vec<Event> = pieces
                .flat_map(|piece| events.take(piece).unwrap())
                .collect();
            let expected = [
                event("message", "{\"a\":\n1}", Some("7")),
                event("", "\n가", None),
                event("", "", Some("8")),
            ];
            assert_eq!(all, expected, "pieces of {size}");
            assert_eq!(events.retry_ms, Some(30));
        }
    }

    #[test]
    fn an_event_that_does_not_end_can_be_asked_for() {
        let unended = |text: &str| {
            let mut events = Events::new(100);
            events.take(text.as_bytes()).unwrap();
            events.unended()
        };
        assert_eq!(unended("data: 1\n\n"), None);
        assert_eq!(unended(""), None);
        for text in [
            "event: a\ndata: 1",
            "event: a\ndata: 1\n",
            "event: a\r\ndata: 1\r",
        ] {
            assert_eq!(unended(text), Some(event("a", "1", None)), "{text:?}");
        }
    }

    #[test]
    fn an_event_ends_at_its_limit() {
        let mut events = Events::new(10);
        assert_eq!(events.take(b"data: 12345678901"), Err(TooLong));
        let mut events = Events::new(10);
        assert_eq!(events.take(b"data: 123\ndata: 123456789\n"), Err(TooLong));
        let mut events = Events::new(10);
        assert_eq!(events.take(b"data: 1\n\n").unwrap().len(), 1);
    }
}
