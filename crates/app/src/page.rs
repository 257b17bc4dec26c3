//! How much of a list is given at a time.

use crate::error::{Error, Result};
use std::fmt::Display;

const DEFAULT: u16 = 50;
const MAX: u16 = 500;

/// Which part of a list is asked for.
#[derive(Debug, Default)]
pub struct Part {
    /// 1 to 500; 50 unless given.
    pub limit: Option<usize>,
    /// Where the part before ended.
    pub cursor: Option<String>,
}

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

/// The part that is asked for, and where the next one begins. What `place` says of an item is its own, and is the order.
pub(crate) fn cut<T>(
    mut all: Vec<T>,
    part: &Part,
    place: impl Fn(&T) -> String,
) -> Result<(Vec<T>, Option<String>)> {
    let limit = limit(part.limit)?;
    all.sort_by_cached_key(&place);
    if let Some(cursor) = &part.cursor {
        let seen = all.partition_point(|it| place(it) <= *cursor);
        all.drain(..seen);
    }
    let is_more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| is_more).map(place);
    Ok((all, next))
}
