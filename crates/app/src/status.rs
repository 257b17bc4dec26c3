//! What is wrong with the workspace's files right now, for `/readyz`, `doctor` and the page.

use arc_swap::ArcSwap;
use catalog::problem::Problem;
use serde::Serialize;

#[derive(Debug, Clone, Default, Serialize)]
pub struct ShelfStatus {
    pub tools_problems: Vec<Problem>,
    pub mcp_problems: Vec<Problem>,
    pub mcp_warnings: Vec<Problem>,
    /// Of skills that cannot be used; the others can.
    pub skills_problems: Vec<Problem>,
    /// Database tools whose name a file tool took.
    pub shadowed: Vec<String>,
    /// Stored definitions that this version cannot read.
    pub unreadable: Vec<String>,
}

impl ShelfStatus {
    pub(crate) fn update(cell: &ArcSwap<ShelfStatus>, change: impl Fn(&mut ShelfStatus)) {
        cell.rcu(|status| {
            let mut next = ShelfStatus::clone(status);
            change(&mut next);
            next
        });
    }

    pub fn is_clean(&self) -> bool {
        self.tools_problems.is_empty() && self.mcp_problems.is_empty()
    }
}
