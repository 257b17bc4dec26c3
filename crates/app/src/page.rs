//! How much of a list is given at a time.

use crate::error::{Error, Result};
use std::fmt::Display;

const DEFAULT: u16 = 50;
const MAX: u16 = 500;

/// The items of a page: as many as asked for, within bounds.
pub(crate) fn limit<N: From<u16> + PartialOrd + Display>(asked: Option<N>) -> Result<N> {
    let limit = asked.unwrap_or(N::from(DEFAULT));
    if (N::from(1)..=N::from(MAX)).contains(&limit) {
        return Ok(limit);
    }
    Err(Error::invalid(format!(
        "limit: expected 1 to {MAX}, got {limit}"
    )))
}
