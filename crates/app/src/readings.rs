//! What upstream servers are asked for beside calls, resources and prompts: whoever is answered stands in the execution log.

use crate::App;
use catalog::caller::Caller;
use executor::{Code, Failure};
use mcp::upstream::UpstreamError;
use serde_json::{Map, Value};

impl App {
    /// Does the work, and writes down that it was done for this caller. `method` stands where calls have their tool. It fails
    /// where that cannot be written.
    pub async fn noted<T>(
        &self,
        caller: &Caller,
        server: &str,
        method: &str,
        params: Map<String, Value>,
        work: impl Future<Output = Result<T, UpstreamError>>,
    ) -> Result<Result<T, UpstreamError>, Failure> {
        let mut what = Map::from_iter([("server".to_owned(), server.into())]);
        what.extend(params);
        let entry = self.executor.begin_beside(method, &Value::Object(what));
        let answer = work.await;
        let failure = answer.as_ref().err().map(|error| {
            let code = code(error);
            Failure::new(code, format!("MCP server '{server}': {error}"))
        });
        self.executor.end_beside(caller, entry, failure).await?;
        Ok(answer)
    }
}

fn code(error: &UpstreamError) -> Code {
    match error {
        UpstreamError::Unavailable { .. } => Code::ServiceUnavailable,
        UpstreamError::AuthRequired { .. } => Code::AuthRequired,
        UpstreamError::Rpc(_) | UpstreamError::Lost { .. } | UpstreamError::Protocol(_) => {
            Code::UpstreamError
        }
        UpstreamError::Late => Code::Timeout,
        UpstreamError::Cancelled => Code::Cancelled,
    }
}
