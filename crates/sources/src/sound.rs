//! Whether JSON of a database can be read by those who get it: PostgreSQL keeps numbers that no double holds, halves of
//! letters and nesting without an end, which readers refuse together with everything around them.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Of the depth that readers take, some is the answer's own.
const DEPTH_MAX: usize = 100;

pub(crate) fn is_sound(text: &str) -> bool {
    let mut reader = serde_json::Deserializer::from_str(text);
    Sound(0).deserialize(&mut reader).is_ok() && reader.end().is_ok()
}

#[derive(Clone, Copy)]
struct Sound(usize);

impl Sound {
    fn inner<E: Error>(self) -> Result<Sound, E> {
        match self.0 < DEPTH_MAX {
            true => Ok(Sound(self.0 + 1)),
            false => Err(E::custom("nested too deeply")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Sound {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sound {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("any JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while items.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while members.next_key_seed(inner)?.is_some() {
            members.next_value_seed(inner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_readers_refuse_is_not_sound() {
        for text in ["null", "[1, 2.5e3, \"a\"]", "{\"a\": [{}, true]}", " 1 "] {
            assert!(is_sound(text), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(130), "]".repeat(130));
        for text in ["1e400", "\"\\ud800\"", "{", "1 2", deep.as_str()] {
            assert!(!is_sound(text), "{text}");
        }
    }
}
