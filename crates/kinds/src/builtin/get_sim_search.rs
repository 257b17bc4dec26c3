//! `get_sim_search`: the documents that are nearest in meaning to each query, from the collection that the
//! configuration names.

use super::get_text_embedding::texts;
use super::{About, Builtin, looks_up};
use crate::parts::Parts;
use crate::retrieval::failure;
use executor::kind::RunFuture;
use executor::{Failure, Output, Run};
use serde_json::{Value, json};
use std::sync::Arc;
use vectors::retrieval::RESULTS_DEFAULT;
use vectors::{QUERIES_MAX, RESULTS_MAX};

pub(super) struct GetSimSearch(pub(super) Arc<Parts>);

impl GetSimSearch {
    async fn search(&self, run: &Run) -> Result<Output, Failure> {
        let retrieval = self.0.vectors.retrieval(None)?;
        let queries = texts(run.arguments.get("query_list"));
        let asked = run.arguments.get("n_results").and_then(Value::as_f64);
        // Its schema knows whole numbers from 1 to 10,000 only; 3.0 is one of them.
        let count = asked.map_or(RESULTS_DEFAULT, |asked| asked as usize);
        let found = retrieval.documents(&queries, count, run.deadline).await;
        let found = found.map_err(|error| failure(&error))?;
        Ok(json!(found).into())
    }
}

impl Builtin for GetSimSearch {
    fn about(&self) -> About {
        About {
            name: "get_sim_search",
            description: "Finds the documents that are nearest in meaning to each query, nearest first, such as the columns of a database that a question is about. Use it before writing SQL, to learn which tables and columns there are; the answer has one list of documents for each query.",
            description_user: "Finds the documents, such as descriptions of columns, that are nearest in meaning to each query.",
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query_list": {
                        "type": "array", "items": {"type": "string"}, "maxItems": QUERIES_MAX,
                        "description": "What to look for, each text by itself"
                    },
                    "n_results": {
                        "type": "integer", "minimum": 1, "maximum": RESULTS_MAX, "default": RESULTS_DEFAULT,
                        "description": "How many documents for each query"
                    }
                },
                "required": ["query_list"],
                "additionalProperties": false
            }),
            output_schema: Some(json!({
                "type": "array",
                "items": {"type": "array", "items": {"type": ["string", "null"]}}
            })),
            annotations: looks_up(),
            parallel_capable: true,
            examples: &[
                "which columns hold the e-mail address of a user",
                "what table would I join to get the shipping date of an order?",
                "Before I write the SQL: where in the schema are payment amounts kept",
                "look for stored column descriptions close in meaning to 'churn date' and 'last login'",
                "is there a field for the birthday of members in our database, what's it called",
                "사용자 이메일 칼럼을 찾아줘",
                "주문 날짜 필드가 어느 테이블에 있어?",
                "매출이랑 관련된 컬럼이 DB에 뭐뭐 있는지 알려주세요",
                "'탈퇴 사유'랑 의미가 비슷한 칼럼 설명 다섯 개만 찾아줘",
                "쿼리 짜기 전에 회원 등급 저장하는 테이블이 뭔지부터 봐줄래",
            ],
        }
    }

    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(self.search(run))
    }
}
