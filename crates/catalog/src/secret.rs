//! A secret in the clear, on its way to where it is needed: nothing prints it by accident.

use std::fmt;
use zeroize::Zeroizing;

/// Wiped from memory when it is dropped. There is no `Serialize`, and both ways to print it show `…`.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    pub fn new(text: impl Into<Zeroizing<String>>) -> Self {
        Secret(text.into())
    }

    /// The text itself. Whoever takes it answers for where it goes.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_printed() {
        let secret = Secret::new("hunter2".to_owned());
        assert_eq!(
            format!("{secret} {secret:?} {:#?}", Some(&secret)),
            "… … Some(\n    …,\n)"
        );
        assert_eq!(secret.expose(), "hunter2");
    }
}
