//! The statements of the log, written once for both engines, and the paging of lists.

use crate::day::TIME_MAX;
use crate::error::LogError;
use crate::record::{Execution, Status, id_time};
use catalog::caller::Transport;
use catalog::tool::Millis;
use uuid::Uuid;

/// The columns in the order of the tables, small ones first: counting calls must not walk through long outputs.
macro_rules! columns {
    () => {
        "id, started_at, status, tool_name, tool_version, tool_hash, caller, key, agent, run, toolset, transport, error_code, elapsed_us, node, arguments, output, error, log_text"
    };
}
/// What `finish` does to the row that `started` left.
macro_rules! replace {
    () => {
        " ON CONFLICT (started_at, id) DO UPDATE SET status = excluded.status, tool_name = excluded.tool_name, tool_version = excluded.tool_version, tool_hash = excluded.tool_hash, caller = excluded.caller, key = excluded.key, agent = excluded.agent, run = excluded.run, toolset = excluded.toolset, transport = excluded.transport, error_code = excluded.error_code, elapsed_us = excluded.elapsed_us, node = excluded.node, arguments = excluded.arguments, output = excluded.output, error = excluded.error, log_text = excluded.log_text, behind = excluded.behind"
    };
}
/// What is written but not read back: only counting asks for it, and older files do not have it.
macro_rules! written {
    () => {
        concat!($crate::query::columns!(), ", behind")
    };
}
pub(crate) use {columns, replace, written};

pub(crate) const GET: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM executions WHERE started_at = $1 AND id = $2"
);

/// Marks what a stopped server left behind; without a node, of every node. `status <> 'success'` names the partial index.
pub(crate) const INTERRUPT: &str = "UPDATE executions SET status = 'interrupted', error_code = 'interrupted', error = $1 \
     WHERE status = 'started' AND status <> 'success' AND ($2 IS NULL OR node = $2)";

const LIMIT_DEFAULT: usize = 50;
const LIMIT_MAX: usize = 1_000;
/// A page ends early when its rows weigh this much.
const PAGE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Lets a wrong cursor be told from a right one, and a later form from this one.
const CURSOR_PREFIX: &str = "c1";

/// Which rows to list; nothing set lists the newest of all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub tool: Option<String>,
    pub status: Option<Status>,
    pub caller: Option<String>,
    /// How they came in: one of these, or any where there are none.
    pub transports: Vec<Transport>,
    /// The earliest `started_at`, included.
    pub since: Option<Millis>,
    /// The first `started_at` that is too late.
    pub until: Option<Millis>,
    /// Rows on a page: 50 unless set, at most 1,000.
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Oldest first, only ids greater than this one. Go on with the id of the last item.
    /// A call that runs long gets its row later than younger calls: who must miss none looks back over that time.
    pub after: Option<Uuid>,
}

/// A page may hold fewer rows than asked for; only `next_cursor` says whether there are more.
#[derive(Debug, Clone)]
pub struct Page {
    pub items: Vec<Execution>,
    pub next_cursor: Option<String>,
}

/// A checked filter.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    tool: Option<String>,
    status: Option<Status>,
    caller: Option<String>,
    transports: Option<String>,
    pub(crate) from: Millis,
    /// Not included.
    pub(crate) to: Millis,
    edge: Option<Uuid>,
    pub(crate) ascending: bool,
    limit: usize,
}

impl Search {
    pub(crate) fn new(filter: Filter) -> Result<Self, LogError> {
        if filter.cursor.is_some() && filter.after.is_some() {
            return Err(LogError::invalid(
                "`cursor` goes back in time and `after` goes forward; give one of them",
            ));
        }
        let mut search = Search {
            tool: filter.tool,
            status: filter.status,
            caller: filter.caller,
            transports: listed(&filter.transports),
            from: filter.since.unwrap_or(0).max(0),
            to: filter.until.unwrap_or(TIME_MAX + 1).min(TIME_MAX + 1),
            edge: None,
            ascending: filter.after.is_some(),
            limit: filter.limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX),
        };
        if let Some(after) = filter.after {
            let time = id_time(after).ok_or_else(|| {
                LogError::invalid(format!(
                    "`after` must be the id of an execution (a UUIDv7), got {after}"
                ))
            })?;
            search.from = search.from.max(time);
            search.edge = Some(after);
        }
        if let Some(cursor) = filter.cursor {
            search.go_on_from(parse_cursor(&cursor)?);
        }
        Ok(search)
    }

    /// Only rows beyond this one, in the direction of the search.
    pub(crate) fn go_on_from(&mut self, id: Uuid) {
        let time = id_time(id).unwrap_or(0);
        if self.ascending {
            self.from = self.from.max(time);
        } else {
            self.to = self.to.min(time + 1);
        }
        self.edge = Some(id);
    }

    pub(crate) fn query(&self, limit: usize) -> Query {
        let mut query = Query {
            sql: concat!("SELECT ", columns!(), " FROM executions").to_owned(),
            values: Vec::new(),
        };
        query.add(" WHERE started_at >= ", Value::Int(self.from));
        query.add(" AND started_at < ", Value::Int(self.to));
        if let Some(tool) = &self.tool {
            query.add(" AND tool_name = ", Value::Text(tool.clone()));
        }
        if let Some(status) = self.status {
            // Written out, not bound: the planner must see that the partial index holds these rows.
            query.sql.push_str(" AND status = '");
            query.sql.push_str(status.as_str());
            query.sql.push_str(if status == Status::Success {
                "'"
            } else {
                "' AND status <> 'success'"
            });
        }
        if let Some(caller) = &self.caller {
            query.add(" AND caller = ", Value::Text(caller.clone()));
        }
        if let Some(transports) = &self.transports {
            query.add(" AND ", Value::Text(transports.clone()));
            query.sql.push_str(" LIKE '%,' || transport || ',%'");
        }
        let (beyond, order) = if self.ascending {
            (">", "ASC")
        } else {
            ("<", "DESC")
        };
        if let Some(edge) = self.edge {
            query.add(
                &format!(" AND (started_at, id) {beyond} ("),
                Value::Int(id_time(edge).unwrap_or(0)),
            );
            query.add(", ", Value::Id(edge));
            query.sql.push(')');
        }
        query
            .sql
            .push_str(&format!(" ORDER BY started_at {order}, id {order}"));
        query.add(
            " LIMIT ",
            Value::Int(i64::try_from(limit).unwrap_or(i64::MAX)),
        );
        query
    }

    pub(crate) fn filling(&self) -> Filling {
        Filling {
            items: Vec::new(),
            bytes: 0,
            limit: self.limit,
            more: false,
            ascending: self.ascending,
        }
    }
}

/// As one text that statements of both engines look into; none where all are meant.
pub(crate) fn listed(transports: &[Transport]) -> Option<String> {
    let names: String = transports
        .iter()
        .map(|it| format!("{},", it.as_str()))
        .collect();
    (!names.is_empty()).then(|| format!(",{names}"))
}

fn parse_cursor(cursor: &str) -> Result<Uuid, LogError> {
    cursor
        .strip_prefix(CURSOR_PREFIX)
        .filter(|hex| hex.len() == 32)
        .and_then(|hex| Uuid::try_parse(hex).ok())
        .filter(|id| id_time(*id).is_some())
        .ok_or_else(|| LogError::BadCursor {
            cursor: cursor.chars().take(80).collect(),
        })
}

/// A statement built from this file's own pieces; everything from outside is a bound value.
pub(crate) struct Query {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

pub(crate) enum Value {
    Int(i64),
    Text(String),
    Id(Uuid),
}

impl Query {
    /// Parameters appear in the order of their numbers, which makes `$1` mean the same to both engines.
    fn add(&mut self, text: &str, value: Value) {
        self.values.push(value);
        self.sql.push_str(&format!("{text}${}", self.values.len()));
    }
}

/// A page while it is being filled.
pub(crate) struct Filling {
    items: Vec<Execution>,
    bytes: usize,
    limit: usize,
    more: bool,
    ascending: bool,
}

impl Filling {
    /// How many rows to ask for: one more than fits, to learn whether there are more.
    pub(crate) fn wanted(&self) -> usize {
        self.limit - self.items.len() + 1
    }

    /// False when the page is full and this row starts the next one.
    pub(crate) fn push(&mut self, row: Execution) -> bool {
        if self.items.len() >= self.limit || self.bytes >= PAGE_BYTES_MAX {
            self.more = true;
            return false;
        }
        self.bytes += row.weight();
        self.items.push(row);
        true
    }

    pub(crate) fn last(&self) -> Option<Uuid> {
        self.items.last().map(|row| row.id)
    }

    pub(crate) fn page(self) -> Page {
        let last = self.items.last().filter(|_| self.more && !self.ascending);
        let next_cursor = last.map(|row| format!("{CURSOR_PREFIX}{}", row.id.simple()));
        Page {
            items: self.items,
            next_cursor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::new_id;

    #[test]
    fn wrong_cursors_are_refused() {
        let good = format!("{CURSOR_PREFIX}{}", new_id(1_000).simple());
        assert!(parse_cursor(&good).is_ok());
        let v4 = format!("{CURSOR_PREFIX}{}", Uuid::new_v4().simple());
        for cursor in [
            "",
            "c1",
            "1",
            &good[1..],
            &good[..20],
            &v4,
            "c1ééééééééééééééé",
        ] {
            assert!(
                matches!(parse_cursor(cursor), Err(LogError::BadCursor { .. })),
                "{cursor}"
            );
        }
    }

    #[test]
    fn values_from_outside_are_bound_in_order() {
        let filter = Filter {
            tool: Some("x' OR 1=1".into()),
            caller: Some("c".into()),
            status: Some(Status::Error),
            transports: vec![Transport::Mcp],
            ..Filter::default()
        };
        let query = Search::new(filter).unwrap().query(10);
        assert!(!query.sql.contains("OR 1=1"));
        let numbers: Vec<_> = query
            .sql
            .split('$')
            .skip(1)
            .map(|rest| rest.as_bytes()[0] - b'0')
            .collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
        assert_eq!(query.values.len(), 6);
    }
}
