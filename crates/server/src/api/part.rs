//! Which part of a list a request asks for.

use app::page::Part;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PartQuery {
    /// 1 to 500; 50 unless given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

impl From<PartQuery> for Part {
    fn from(query: PartQuery) -> Self {
        Part {
            limit: query.limit,
            cursor: query.cursor,
        }
    }
}
