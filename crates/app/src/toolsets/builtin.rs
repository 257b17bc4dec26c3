//! The toolset that is part of the program: the tools that search data, at an address of their own.

use super::{Stored, row_of};
use crate::error::{Error, Result};
use crate::kept::{Kept, Thing};
use catalog::tool::{SYSTEM_USER, id_from_name};
use catalog::toolset::{Pick, ToolsetDefinition};
use store::toolsets::ToolsetRow;

/// In the order of the specification that they come from.
const TOOLS: [&str; 4] = [
    "get_text_embedding",
    "get_sim_search",
    "query_bga_database",
    "serialize_for_cell",
];

fn data_search() -> ToolsetDefinition {
    let pick = |tool: &str| Pick {
        tool: tool.to_owned(),
        ..Pick::default()
    };
    ToolsetDefinition {
        name: "data-search".to_owned(),
        description: Some("Finds columns by meaning and queries the database".to_owned()),
        tools: TOOLS.iter().copied().map(pick).collect(),
        server_name: Some("BGA Data Search Tools".to_owned()),
        is_public: true,
        ..ToolsetDefinition::default()
    }
}

/// The same toolsets with the one that is built in, unless somebody kept one of its name before there was one.
pub(super) fn with_builtin(kept: &Kept<Stored>) -> Result<Kept<Stored>> {
    let definition = data_search();
    if kept.live().any(|it| it.row.name == definition.name) {
        return Ok(kept.with([]));
    }
    let row = ToolsetRow {
        id: id_from_name(&format!("toolset:{}", definition.name)),
        owner_id: SYSTEM_USER,
        version: 1,
        ..row_of(&definition)?
    };
    Ok(kept.with([Stored::new(row, definition)]))
}

/// What is built in is nobody's to change.
pub(super) fn check_changeable(stored: &Stored) -> Result<()> {
    if stored.row.owner_id != SYSTEM_USER {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "The toolset '{}' is built in and cannot be changed or removed; make one of your own under another name",
        stored.head().name
    )))
}
