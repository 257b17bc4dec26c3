//! The `http` kind: a request made of the config and the call's arguments, each argument written in the way of the place
//! it goes to. Nobody but the author decides which host is called, and the guard has the last word on that.

mod auth;
mod body;
pub mod curl;
mod encode;
mod filling;
mod headers;
mod oauth;
mod response;
mod retry;
mod target;
mod traced;

pub use encode::percent;

use crate::template::check_names;
use auth::Auth;
use catalog::secret::Secret;
use catalog::tool::Definition;
use executor::kind::{CheckFuture, RunFuture};
use executor::{Code, Failure, Kind, Run};
use fetch::{Answer, Error, Fetcher, Limits, Method, Phase, Request};
use filling::{Filling, misconfigured};
use oauth::{Tokens, trust};
use serde_json::{Map, Value};
use std::time::Instant;
use target::Target;

/// Runs `http` tools. One for the whole program: it keeps tokens.
pub struct Http {
    fetcher: Fetcher,
    tokens: Tokens,
}

impl Http {
    pub fn new(fetcher: Fetcher) -> Self {
        Http {
            fetcher,
            tokens: Tokens::default(),
        }
    }
}

impl Kind for Http {
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(async move {
            let config = &run.entry.tool.definition.config;
            let auth = Auth::of(run)?;
            let method = method(config)?;
            let answer = self.answer(run, &auth, &method).await?;
            match answer.status.is_success() {
                true => response::result(config, &method, &answer),
                false => Err(response::refusal(&answer)),
            }
        })
    }

    fn check<'a>(&'a self, definition: &'a Definition) -> CheckFuture<'a> {
        let checked = check_names(&definition.config, &definition.input_schema);
        Box::pin(std::future::ready(checked))
    }
}

impl Http {
    /// The answer, with a new token where the first was refused.
    async fn answer(&self, run: &Run, auth: &Auth, method: &Method) -> Result<Answer, Failure> {
        let Auth::Client(client) = auth else {
            return self.tried(run, auth, method, None).await;
        };
        let token = self.tokens.token(run, &self.fetcher, client, None).await?;
        let answer = self.tried(run, auth, method, Some(&token)).await?;
        if answer.status.as_u16() != 401 {
            return Ok(answer);
        }
        let token = self
            .tokens
            .token(run, &self.fetcher, client, Some(&token))
            .await?;
        self.tried(run, auth, method, Some(&token)).await
    }

    /// The answer, after as many tries as the config allows and the deadline leaves.
    async fn tried(
        &self,
        run: &Run,
        auth: &Auth,
        method: &Method,
        token: Option<&Secret>,
    ) -> Result<Answer, Failure> {
        let config = &run.entry.tool.definition.config;
        let allowed = retry::allowed(config, method);
        let mut tried = 0;
        loop {
            let mut request = request(run, auth, method, token)?;
            let mut step = run.step(|| method.to_string());
            traced::told(&mut step, &mut request);
            let result = self.fetcher.send(request).await;
            traced::answered(step, &result);
            let wait = retry::wait(tried, &result);
            let in_time = Instant::now() + wait < run.deadline;
            if tried >= allowed || !in_time || !retry::is_worthwhile(&result) {
                return result.map_err(|error| unsent(&error));
            }
            tokio::time::sleep(wait).await;
            tried += 1;
        }
    }
}

fn method(config: &Map<String, Value>) -> Result<Method, Failure> {
    let name = config
        .get("method")
        .and_then(Value::as_str)
        .unwrap_or("GET");
    let bad = |_| misconfigured(format_args!("'{name}' is no method"));
    name.parse().map_err(bad)
}

fn request(
    run: &Run,
    auth: &Auth,
    method: &Method,
    token: Option<&Secret>,
) -> Result<Request, Failure> {
    let config = &run.entry.tool.definition.config;
    let none = Map::new();
    let filling = Filling::new(run, run.arguments.as_object().unwrap_or(&none));
    let mut target = Target::new(config, &filling)?;
    let mut headers = headers::headers(config, &filling)?;
    let query = config.get("query").and_then(Value::as_object);
    for (name, value) in query.into_iter().flatten() {
        if let Some(value) = filling.value(value)? {
            target.add(name, &value);
        }
    }
    let has_body = config.contains_key("body") || !is_bodiless(method);
    let body = match has_body {
        true => body::body(config, &filling, &mut headers)?,
        false => fetch::Body::Empty,
    };
    // What stands nowhere else goes where such requests carry what they ask for.
    if !has_body && query.is_none() {
        for (name, value) in filling.unused() {
            target.add(&name, &value);
        }
    }
    auth.apply(run, &mut headers, &mut target, token)?;
    let mut request = Request::new(method.clone(), target.into_url(), trust(run));
    request.headers = headers;
    request.body = body;
    request.limits = Limits {
        total: run.deadline.saturating_duration_since(Instant::now()),
        ..Limits::default()
    };
    Ok(request)
}

fn is_bodiless(method: &Method) -> bool {
    [Method::GET, Method::DELETE, Method::HEAD, Method::OPTIONS].contains(method)
}

/// Why there is no answer, as a failure of the call.
pub(crate) fn unsent(error: &Error) -> Failure {
    let (code, what) = match error {
        Error::Refused { .. }
        | Error::BadUrl { .. }
        | Error::BadHeader { .. }
        | Error::BadAllowed { .. } => (Code::NotConfigured, "Request refused"),
        Error::Timeout {
            phase: Phase::Answer,
            ..
        } => (Code::Timeout, "Timeout"),
        Error::TooLarge { .. } => (Code::OutputTooLarge, "Output too large"),
        _ => (Code::UpstreamError, "Upstream error"),
    };
    let said = match error {
        // What was left of the deadline has nanoseconds that nobody wants to read.
        Error::Timeout {
            place,
            phase,
            after,
        } => {
            let seconds = (after.as_secs_f64() * 10.0).round() / 10.0;
            format!("{place} took too long: {phase} was not done within {seconds} s")
        }
        error => error.to_string(),
    };
    let mut failure = Failure::new(code, format!("{what}: {said}"));
    // What lies behind it is for the log.
    failure.log_text = std::error::Error::source(error).map(chain);
    failure
}

fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
