//! What is asked of a source itself: whether it works, what is in it, and how a role would look that can only read it.

use super::{not_found, with_path};
use crate::App;
use crate::error::{Error, Result};
use crate::page;
use ::sources::{Call, SchemaFilter, Shape, Source, Table, role_script};
use catalog::source::SourceKind;
use serde::Serialize;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

/// How long a source may take to answer.
const WITHIN: Duration = Duration::from_secs(15);
const BYTES_MAX: usize = 16 << 20;
const ROWS_MAX: u64 = 100_000;
/// What the role of the script is called that nobody has named.
const ROLE: &str = "toolcrib_reader";

/// What a test of a source found.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct SourceTest {
    pub name: String,
    pub works: bool,
    /// Why it does not.
    pub problem: Option<String>,
    /// What the database calls itself.
    pub version: Option<String>,
    /// Whom we are connected as.
    pub role: Option<String>,
    /// How the database refused to write where only reading is allowed.
    pub read_only: Option<String>,
    /// Whether no query that reads can do more: not with a role that a read-only transaction does not bind.
    pub is_bound: bool,
    /// Whether tools with `write` may use it, and so write all the same.
    pub allow_write: bool,
    /// Whether there is anything that they could change: a table that the role has the right to.
    pub may_write: bool,
    /// Whether a role may be used that is not bound to reading.
    pub allow_superuser: bool,
    /// What should be mended although it works.
    pub warnings: Vec<String>,
}

/// Some of the tables and views of a source.
#[derive(Debug, Serialize, ToSchema)]
pub struct SourceSchema {
    #[schema(value_type = Vec<Object>)]
    pub items: Vec<Table>,
    /// How many there are.
    pub total: u64,
    pub next_cursor: Option<String>,
}

/// Which tables to show.
#[derive(Debug, Default)]
pub struct SchemaQuery {
    pub search: Option<String>,
    pub table: Option<String>,
    pub limit: Option<u64>,
    pub cursor: Option<String>,
}

impl App {
    /// Connects, and shows that reading is all that a query can do. A source that does not work is no error of this.
    pub async fn test_source(&self, name_or_id: &str) -> Result<SourceTest> {
        let shown = self.get_source(name_or_id)?;
        let name = shown.name;
        let found = SourceTest {
            allow_write: shown.allow_write,
            allow_superuser: shown.allow_superuser,
            ..SourceTest::default()
        };
        let tested = match self.live_source(&name) {
            Ok(source) => {
                let tested = source.test(&call()).await;
                tested.map_err(|error| error.to_string())
            }
            Err(why) => Err(why),
        };
        Ok(match tested {
            Err(why) => SourceTest {
                name,
                problem: Some(with_path(shown.path.as_deref(), why)),
                warnings: shown.warnings,
                ..found
            },
            Ok(report) => SourceTest {
                name,
                works: true,
                problem: None,
                version: Some(report.version),
                role: report.role,
                read_only: Some(report.read_only),
                is_bound: report.is_bound,
                may_write: report.may_write,
                warnings: [shown.warnings, report.warnings].concat(),
                ..found
            },
        })
    }

    pub async fn source_schema(
        &self,
        name_or_id: &str,
        query: &SchemaQuery,
    ) -> Result<SourceSchema> {
        let name = self.found_source(name_or_id)?.definition.name;
        let limit = page::limit(query.limit)?;
        let cursor = query.cursor.as_deref().unwrap_or("0");
        let offset: u64 = cursor
            .parse()
            .map_err(|_| Error::invalid("cursor: expected the next_cursor of the page before"))?;
        let refused = |why: &str| Error::unusable_source(&name, why);
        let source = self.live_source(&name).map_err(|why| refused(&why))?;
        let filter = SchemaFilter {
            search: query.search.clone().filter(|it| !it.is_empty()),
            table: query.table.clone().filter(|it| !it.is_empty()),
            after: None,
            offset,
            limit,
        };
        let page = source.schema(&filter, &call()).await;
        let page = page.map_err(|error| match error {
            ::sources::Error::Unavailable { .. } | ::sources::Error::Deadline => {
                Error::Unavailable(format!("Source '{name}': {error}"))
            }
            ::sources::Error::Argument { .. } => Error::invalid(error.to_string()),
            other => refused(&other.to_string()),
        })?;
        let next = offset + page.tables.len() as u64;
        let is_more = next < page.total && !page.tables.is_empty();
        Ok(SourceSchema {
            items: page.tables,
            total: page.total,
            next_cursor: is_more.then(|| next.to_string()),
        })
    }

    /// SQL that makes a role which can only read the schemas of a source.
    pub fn source_role_script(
        &self,
        name_or_id: &str,
        role: Option<&str>,
        schemas: &[String],
    ) -> Result<String> {
        let definition = self.found_source(name_or_id)?.definition;
        if definition.kind != SourceKind::Postgres {
            return Err(Error::invalid(format!(
                "Source '{}' is a file, which has no roles; who may read the file is for the system to say",
                definition.name
            )));
        }
        let address = self.kept_sources.opening.address(&definition);
        let address = address.map_err(|why| Error::unusable_source(&definition.name, why))?;
        let database = address.database().or_else(|| address.user.clone());
        let schemas = match (schemas.is_empty(), definition.search_path.is_empty()) {
            (false, _) => schemas,
            (true, false) => &definition.search_path,
            (true, true) => &["public".to_owned()][..],
        };
        let role = role.filter(|role| !role.is_empty()).unwrap_or(ROLE);
        Ok(role_script(role, &database.unwrap_or_default(), schemas))
    }

    /// A source that can be asked, or why it cannot.
    fn live_source(&self, name: &str) -> std::result::Result<Source, String> {
        let found = self.source_in_use(name);
        let found = found.ok_or_else(|| not_found(name).to_string())?;
        found.source.clone()
    }
}

fn call() -> Call {
    Call {
        tool: "toolcrib".into(),
        deadline: Instant::now() + WITHIN,
        cancel: CancellationToken::new(),
        shape: Shape::Records,
        rows_max: ROWS_MAX,
        bytes_max: BYTES_MAX,
    }
}
