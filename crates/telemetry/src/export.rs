//! Sending: spans and log records are queued, and one task sends them in batches. A collector that does not answer costs
//! nobody anything but what it would have been told.

use crate::otlp;
use fetch::{Body, Fetcher, HeaderMap, HeaderName, HeaderValue, Method, Request, Trust};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// What waits to be sent at most; more is dropped.
const QUEUE_MAX: usize = 16_384;
const BATCH_MAX: usize = 512;
/// How long the first of a batch waits for others.
const BATCH_WAIT: Duration = Duration::from_secs(1);
const SEND_WITHIN: Duration = Duration::from_secs(10);
/// How often a batch is sent that a collector could not take just then.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// Where to, and of what.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address of a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318.
    pub endpoint: String,
    /// Such as those that authenticate.
    pub headers: Vec<(String, String)>,
    pub service_name: String,
    /// Of traces that begin here, how many are kept; those that others began are as they say.
    pub ratio: f64,
    /// What tells this process from others of the same service.
    pub instance: String,
}

pub(crate) enum Item {
    Span(Value),
    Log(Value),
    /// Everything before it is sent.
    Flush(oneshot::Sender<()>),
}

/// What spans and log records are given to.
pub struct Telemetry {
    queue: mpsc::Sender<Item>,
    ratio: f64,
    dropped: Arc<AtomicU64>,
}

impl std::fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telemetry").finish_non_exhaustive()
    }
}

impl Telemetry {
    /// Starts the task that sends, on the runtime that this is called on.
    pub fn start(settings: Settings, fetcher: Fetcher) -> Arc<Self> {
        let (queue, items) = mpsc::channel(QUEUE_MAX);
        let dropped = Arc::new(AtomicU64::new(0));
        let telemetry = Telemetry {
            queue,
            ratio: settings.ratio,
            dropped: Arc::clone(&dropped),
        };
        let sending = Sending {
            headers: headers(&settings.headers),
            resource: otlp::attributes([
                ("service.name", settings.service_name.into()),
                ("service.version", env!("CARGO_PKG_VERSION").into()),
                ("service.instance.id", settings.instance.into()),
            ]),
            endpoint: settings.endpoint.trim_end_matches('/').to_owned(),
            fetcher,
            dropped,
            told: BTreeSet::new(),
        };
        tokio::spawn(sending.run(items));
        Arc::new(telemetry)
    }

    pub(crate) fn put(&self, item: Item) {
        if self.queue.try_send(item).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many spans and log records were never sent.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Whether a trace that begins here is kept.
    pub(crate) fn is_chosen(&self) -> bool {
        // 53 bits of chance, as a fraction.
        let chance = (uuid::Uuid::new_v4().as_u128() >> 75) as u64;
        (chance as f64) / ((1_u64 << 53) as f64) < self.ratio
    }

    /// Sends what is there, as far as that goes within the time.
    pub async fn flush(&self, within: Duration) {
        let (done, sent) = oneshot::channel();
        let flushed = async {
            if self.queue.send(Item::Flush(done)).await.is_ok() {
                let _ = sent.await;
            }
        };
        let _ = tokio::time::timeout(within, flushed).await;
    }
}

fn headers(written: &[(String, String)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in written {
        let name = HeaderName::try_from(name.as_str());
        let value = HeaderValue::try_from(value.as_str());
        if let (Ok(name), Ok(mut value)) = (name, value) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    headers
}

struct Sending {
    endpoint: String,
    headers: HeaderMap,
    resource: Value,
    fetcher: Fetcher,
    dropped: Arc<AtomicU64>,
    /// Of what it was said already that the collector does not take it.
    told: BTreeSet<&'static str>,
}

impl Sending {
    async fn run(mut self, mut items: mpsc::Receiver<Item>) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while let Some(first) = items.recv().await {
            batch.push(first);
            let fill = async {
                while batch.len() < BATCH_MAX && !matches!(batch.last(), Some(Item::Flush(_))) {
                    match items.recv().await {
                        Some(item) => batch.push(item),
                        None => return,
                    }
                }
            };
            let _ = tokio::time::timeout(BATCH_WAIT, fill).await;
            self.send_all(std::mem::take(&mut batch)).await;
        }
    }

    async fn send_all(&mut self, batch: Vec<Item>) {
        let (mut spans, mut logs, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for item in batch {
            match item {
                Item::Span(span) => spans.push(span),
                Item::Log(log) => logs.push(log),
                Item::Flush(done) => waiting.push(done),
            }
        }
        let of_spans = ("resourceSpans", "scopeSpans", "spans");
        let of_logs = ("resourceLogs", "scopeLogs", "logRecords");
        self.send("/v1/traces", of_spans, spans).await;
        self.send("/v1/logs", of_logs, logs).await;
        for done in waiting {
            let _ = done.send(());
        }
    }

    async fn send(&mut self, path: &'static str, members: (&str, &str, &str), items: Vec<Value>) {
        if items.is_empty() {
            return;
        }
        let count = items.len() as u64;
        let body = otlp::envelope(members, &self.resource, &items);
        let mut why = String::new();
        for number in 0..TRIES {
            let url = format!("{}{path}", self.endpoint);
            let mut request = Request::new(Method::POST, url, Trust::Operator);
            request.headers = self.headers.clone();
            request.body = Body::Json(body.clone());
            request.limits.total = SEND_WITHIN;
            request.limits.redirects_max = 0;
            match self.fetcher.send(request).await {
                Ok(answer) if answer.status.is_success() => {
                    self.told.remove(path);
                    return;
                }
                Ok(answer) => {
                    why = format!("it answers {}", answer.status);
                    let passes = matches!(answer.status.as_u16(), 429 | 502 | 503 | 504);
                    if !passes {
                        break;
                    }
                }
                Err(error) => why = error.to_string(),
            }
            if number + 1 < TRIES {
                tokio::time::sleep(PAUSE * 2_u32.pow(number)).await;
            }
        }
        self.dropped.fetch_add(count, Ordering::Relaxed);
        if self.told.insert(path) {
            tracing::warn!(
                endpoint = self.endpoint,
                path,
                why,
                "telemetry cannot be sent; it is dropped until the collector takes it again"
            );
        }
    }
}
