//! `query_bga_database`: runs a query that a model wrote on the source `bga`, and answers in the shape that agents of
//! old know. That it only reads is held by the database.

use super::serialize_for_cell::without_no_break_spaces;
use super::{About, Builtin, looks_up};
use crate::parts::Parts;
use executor::kind::RunFuture;
use executor::{Code, Data, Failure, Output, Run};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sources::{Answer, Call, Error, Shape};
use std::sync::Arc;

pub(super) struct QueryBgaDatabase {
    parts: Arc<Parts>,
}

/// Which source is asked.
pub const SOURCE: &str = "bga";
/// More rows than this help no model; the bytes of an answer mostly end it before.
const ROWS_MAX: u64 = 10_000;

impl QueryBgaDatabase {
    pub(super) fn new(parts: &Arc<Parts>) -> Self {
        QueryBgaDatabase {
            parts: Arc::clone(parts),
        }
    }

    async fn query(&self, run: &Run) -> Result<Output, Failure> {
        let asked = run.arguments.get("generated_sql").and_then(Value::as_str);
        let sql = without_no_break_spaces(asked.unwrap_or_default());
        let named = self.parts.sources.get(SOURCE).map_err(missing)?;
        // `get` gives none that cannot be used.
        let source = named
            .source
            .as_ref()
            .map_err(|why| missing(Failure::new(Code::NotConfigured, why)))?;
        let frame = framed(&sql, "[]", true).len();
        let call = Call {
            tool: Arc::clone(&run.entry.name),
            deadline: run.deadline.into(),
            cancel: run.cancel.clone(),
            shape: Shape::Records,
            rows_max: ROWS_MAX,
            bytes_max: run.output_bytes_max.saturating_sub(frame),
        };
        let answer = source.ask(&sql, &call).await.map_err(failed)?;
        answered(&sql, &answer)
    }
}

fn answered(sql: &str, answer: &Answer) -> Result<Output, Failure> {
    let data = RawValue::from_string(framed(sql, &answer.json, answer.truncated));
    let data = data.map_err(|error| {
        Failure::new(Code::InvalidOutput, "The rows could not be written as JSON")
            .with_details(json!({"error": error.to_string()}))
    })?;
    Ok(Output {
        data: Data::Written(data),
        message: Some("SQL executed.".to_owned()),
        truncated: answer.truncated,
        is_whole: true,
        ..Output::default()
    })
}

/// The table as it is answered. Whether rows were cut is said only where they were.
fn framed(sql: &str, records: &str, is_cut: bool) -> String {
    let cut = if is_cut { r#","truncated":true"# } else { "" };
    let sql = Value::from(sql);
    format!(r#"{{"type":"csv_table","content":{{"sql":{sql},"records":{records}{cut}}}}}"#)
}

fn missing(failure: Failure) -> Failure {
    let message = format!(
        "{}. The database of query_bga_database is the source '{SOURCE}'; POSTGRESQL_DB_USER, POSTGRESQL_DB_PASS, POSTGRESQL_DB_NAME, POSTGRESQL_DB_HOST and POSTGRESQL_DB_PORT in the environment of the server make one, unless there is another of that name",
        failure.message
    );
    told(Failure { message, ..failure })
}

/// In the words of the database, and of nobody else.
fn failed(error: Error) -> Failure {
    let code = match &error {
        Error::Deadline => Code::Timeout,
        Error::Cancelled => Code::Cancelled,
        Error::Unavailable { .. } => Code::ServiceUnavailable,
        Error::Source { .. } => Code::NotConfigured,
        _ => Code::ToolExecutionError,
    };
    let failure = Failure::new(code, format!("Error while querying DB: {error}"));
    told(match error {
        Error::Database { code, hint, .. } => {
            let mut details = json!({"sqlstate": code});
            // Apart from the message, which is the database's first line and nothing else.
            if let Some(hint) = hint {
                details["hint"] = hint.into();
            }
            failure.with_details(details)
        }
        _ => failure,
    })
}

fn told(failure: Failure) -> Failure {
    Failure {
        is_whole: true,
        ..failure
    }
}

impl Builtin for QueryBgaDatabase {
    fn about(&self) -> About {
        About {
            name: "query_bga_database",
            description: "Runs one SQL query (PostgreSQL) on the BGA database and returns its rows as records. Only reading is possible. Find out which tables and columns there are with get_sim_search first, name the columns that are needed, and use LIMIT.",
            description_user: "Runs a PostgreSQL query that only reads on the BGA database and returns the rows.",
            input_schema: json!({
                "type": "object",
                "properties": {
                    "generated_sql": {"type": "string", "minLength": 1, "description": "One complete query, such as SELECT order_id, order_date FROM orders LIMIT 3"}
                },
                "required": ["generated_sql"],
                "additionalProperties": false
            }),
            // Over MCP the object holds status, message and data, over REST it is the data: this is what both are.
            output_schema: Some(json!({"type": "object"})),
            annotations: looks_up(),
            parallel_capable: true,
            examples: &[
                "how many users signed up last month, per country",
                "SELECT status, count(*) FROM orders GROUP BY status",
                "run this SQL on the BGA database: select user_id, created_at from users order by created_at desc limit 10",
                "Get the ten best selling categories of 2026 out of BGA",
                "what was the average basket per week this quarter? query the database",
                "지난달 주문 건수를 일별로 조회해줘",
                "BGA DB에서 올해 월별 매출 합계 뽑아주세요",
                "select * from products where price > 100000 limit 5 이 쿼리 실행해줘",
                "가입하고 한 번도 로그인 안 한 회원이 몇 명인지 디비에서 세어줘",
                "비지에이 데이터베이스 orders 테이블 최근 3건만 보여줄래",
            ],
        }
    }

    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(self.query(run))
    }
}
