//! Taking in a body: decompressed as it comes, and never more of it than is wanted, neither on the wire nor in memory.

use flate2::write::MultiGzDecoder;
use std::io::{self, Write};

/// What we can undo, as we tell servers. `deflate` is left out: servers do not agree on what it is.
pub(crate) const ACCEPTED: &str = "gzip";

/// A body on its way in.
pub(crate) struct Intake {
    decoder: Decoder,
    wire_bytes: usize,
    bytes_max: usize,
}

enum Decoder {
    Plain(Bounded),
    Gzip(Box<MultiGzDecoder<Bounded>>),
}

/// What became of a piece.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    All,
    /// There was more than is wanted.
    Full,
    /// It is not what the server says it is.
    Garbled,
}

/// Takes so many bytes and refuses the next.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    bytes_max: usize,
    is_full: bool,
}

impl Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let room = self.bytes_max - self.bytes.len();
        self.bytes
            .extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            self.is_full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Intake {
    /// `None` where nobody here knows the encoding.
    pub(crate) fn new(encoding: &str, bytes_max: usize) -> Option<Self> {
        let room = Bounded {
            bytes_max,
            ..Bounded::default()
        };
        let decoder = match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Decoder::Plain(room),
            "gzip" | "x-gzip" => Decoder::Gzip(Box::new(MultiGzDecoder::new(room))),
            _ => return None,
        };
        Some(Intake {
            decoder,
            wire_bytes: 0,
            bytes_max,
        })
    }

    pub(crate) fn take(&mut self, piece: &[u8]) -> Taken {
        if piece.is_empty() {
            return Taken::All;
        }
        // Compressed nothing can be endless too.
        self.wire_bytes = self.wire_bytes.saturating_add(piece.len());
        let taken = match &mut self.decoder {
            Decoder::Plain(room) => room.write_all(piece),
            Decoder::Gzip(decoder) => decoder.write_all(piece),
        };
        self.seen(&taken)
    }

    /// After the last piece: whether it was all there.
    pub(crate) fn finish(&mut self) -> Taken {
        if self.wire_bytes == 0 {
            return Taken::All;
        }
        let ended = match &mut self.decoder {
            Decoder::Plain(_) => Ok(()),
            Decoder::Gzip(decoder) => decoder.try_finish(),
        };
        self.seen(&ended)
    }

    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        std::mem::take(&mut self.room().bytes)
    }

    fn seen(&mut self, result: &io::Result<()>) -> Taken {
        // What cannot be compressed becomes a little longer by it.
        let wire_bytes_max = self.bytes_max.saturating_add(self.bytes_max / 8 + 1024);
        let wire_full = self.wire_bytes > wire_bytes_max;
        match result {
            _ if self.room().is_full || wire_full => Taken::Full,
            Ok(()) => Taken::All,
            Err(_) => Taken::Garbled,
        }
    }

    fn room(&mut self) -> &mut Bounded {
        match &mut self.decoder {
            Decoder::Plain(room) => room,
            Decoder::Gzip(decoder) => decoder.get_mut(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    const TEXT: &[u8] = b"a body of some length, a body of some length";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Fed in pieces of one byte.
    fn taken(encoding: &str, wire: &[u8], bytes_max: usize) -> (Taken, Vec<u8>) {
        let mut intake = Intake::new(encoding, bytes_max).unwrap();
        for byte in wire {
            let taken = intake.take(std::slice::from_ref(byte));
            if taken != Taken::All {
                return (taken, intake.into_bytes());
            }
        }
        (intake.finish(), intake.into_bytes())
    }

    #[test]
    fn every_encoding_is_undone() {
        let twice = [gzip(TEXT), gzip(TEXT)].concat();
        for (encoding, wire, expected) in [
            ("", TEXT.to_vec(), TEXT.to_vec()),
            ("identity", TEXT.to_vec(), TEXT.to_vec()),
            (" GZip", gzip(TEXT), TEXT.to_vec()),
            ("gzip", twice, [TEXT, TEXT].concat()),
            ("gzip", Vec::new(), Vec::new()),
        ] {
            assert_eq!(
                taken(encoding, &wire, 1000),
                (Taken::All, expected),
                "{encoding}"
            );
        }
        assert!(Intake::new("deflate", 1).is_none() && Intake::new("gzip, gzip", 1).is_none());
    }

    #[test]
    fn a_body_ends_at_its_limit() {
        for (encoding, wire) in [("", TEXT.to_vec()), ("gzip", gzip(TEXT))] {
            assert_eq!(
                taken(encoding, &wire, TEXT.len() - 1),
                (Taken::Full, TEXT[..TEXT.len() - 1].to_vec())
            );
        }
        assert_eq!(taken("", TEXT, TEXT.len()), (Taken::All, TEXT.to_vec()));
        // Members of gzip that hold nothing would go on for ever.
        assert_eq!(taken("gzip", &gzip(b"").repeat(200), 1000).0, Taken::Full);
    }

    #[test]
    fn half_and_garbled_bodies_are_not_taken_for_whole() {
        assert_eq!(taken("gzip", &gzip(TEXT)[..30], 1000).0, Taken::Garbled);
        assert_eq!(taken("gzip", TEXT, 1000).0, Taken::Garbled);
        let mut broken = gzip(TEXT);
        let end = broken.len() - 6;
        broken[end] ^= 1;
        assert_eq!(taken("gzip", &broken, 1000).0, Taken::Garbled);
    }
}
