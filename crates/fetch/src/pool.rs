//! Connections, kept for the next request to the same place. Whoever uses one drives it, in their own task: a
//! connection with a task of its own costs two awakenings for every request.

use crate::connect::{Outside, Stream};
use crate::error::{Error, Part};
use crate::request::Trust;
use crate::target::Target;
use bytes::Bytes;
use http::header::HOST;
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// How long a connection is kept that nobody uses, and how often it is looked whether the other side has closed it.
const IDLE: Duration = Duration::from_secs(15);
const SWEEP: Duration = Duration::from_secs(5);

/// What the headers of an answer may be.
const HEADERS_MAX: usize = 128;
pub(crate) const HEADER_BYTES_MAX: usize = 64 << 10;

/// So much of a body that nobody wants is read for the sake of its connection.
const UNREAD_FRAMES_MAX: usize = 4;

pub(crate) type Request = http::Request<Full<Bytes>>;

/// The connections of one kind of trust: a guarded request never rides on a connection that an operator's request has
/// opened to a private address. And a kept connection is one that was judged when it was dialled: it goes on leading
/// there, whatever its name stands for by now.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    trust: Trust,
    outside: Arc<Outside>,
    idle_max: usize,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    places: HashMap<Arc<str>, Vec<Kept>>,
    /// Somebody looks after what is too old.
    is_swept: bool,
}

struct Kept {
    wire: Wire,
    since: Instant,
}

type Driven = Pin<Box<Connection<Stream, Full<Bytes>>>>;

/// One connection.
struct Wire {
    sender: SendRequest<Full<Bytes>>,
    /// None once it has ended.
    connection: Option<Driven>,
}

/// The body of an answer, with the connection that it comes from. Once it has ended the connection is kept; dropped
/// before, it is closed.
pub(crate) struct Reading {
    body: Incoming,
    wire: Option<Wire>,
    place: Arc<str>,
    home: Weak<Shared>,
}

impl Pool {
    pub(crate) fn new(trust: Trust, outside: Arc<Outside>, idle_max: usize) -> Self {
        Pool(Arc::new(Shared {
            trust,
            outside,
            idle_max,
            idle: Mutex::default(),
        }))
    }

    /// Sends a request and returns when the headers of its answer are here. What may have arrived is not sent again.
    pub(crate) async fn request(
        &self,
        mut request: Request,
        target: &Target,
    ) -> Result<http::Response<Reading>, Error> {
        let place = &target.place;
        *request.uri_mut() = target.path.clone();
        let headers = request.headers_mut();
        headers.entry(HOST).or_insert_with(|| target.host.clone());
        loop {
            let (mut wire, is_new) = match self.0.take(place).await {
                Some(wire) => (wire, false),
                // Boxed: it is large, and most requests have no need of it.
                None => (Box::pin(self.0.connect(target)).await?, true),
            };
            match wire.exchange(request).await {
                Ok(response) => return Ok(self.read(response, wire, Arc::clone(place))),
                // It was closed meanwhile, and nothing has gone.
                Err((Some(unsent), _)) if !is_new => request = unsent,
                Err((_, error)) => return Err(told(error, place)),
            }
        }
    }

    fn read(
        &self,
        response: http::Response<Incoming>,
        wire: Wire,
        place: Arc<str>,
    ) -> http::Response<Reading> {
        response.map(|body| Reading {
            body,
            wire: Some(wire),
            place,
            home: Arc::downgrade(&self.0),
        })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that was used last, if it still lives: the others may grow old.
    async fn take(&self, place: &str) -> Option<Wire> {
        loop {
            let kept = self.lock().places.get_mut(place)?.pop()?;
            let mut wire = kept.wire;
            if kept.since.elapsed() < IDLE && poll_fn(|cx| Poll::Ready(wire.is_alive(cx))).await {
                return Some(wire);
            }
        }
    }

    async fn connect(&self, target: &Target) -> Result<Wire, Error> {
        let Target { uri, place, .. } = target;
        let stream = self.outside.connect(uri, place, self.trust).await?;
        let made = Wire::new(stream).await;
        made.map_err(|error| told(error, place))
    }

    fn keep(self: &Arc<Self>, place: &Arc<str>, wire: Wire) {
        let mut idle = self.lock();
        let since = Instant::now();
        let kept = Kept { wire, since };
        match idle.places.get_mut(place) {
            Some(all) if all.len() >= self.idle_max => return,
            Some(all) => all.push(kept),
            None => {
                idle.places.insert(Arc::clone(place), vec![kept]);
            }
        }
        if !idle.is_swept
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            idle.is_swept = true;
            runtime.spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Closes what is too old, and what the other side has closed. Whether anything is left.
    fn prune(&self) -> bool {
        let mut idle = self.lock();
        let mut cx = Context::from_waker(Waker::noop());
        idle.places.retain(|_, kept| {
            kept.retain_mut(|kept| kept.since.elapsed() < IDLE && kept.wire.is_alive(&mut cx));
            !kept.is_empty()
        });
        idle.is_swept = !idle.places.is_empty();
        idle.is_swept
    }
}

async fn sweep(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        match shared.upgrade() {
            Some(shared) if shared.prune() => {}
            _ => return,
        }
    }
}

impl Wire {
    async fn new(stream: Stream) -> hyper::Result<Self> {
        let (sender, connection) = Builder::new()
            .max_headers(HEADERS_MAX)
            .max_buf_size(HEADER_BYTES_MAX)
            .handshake(stream)
            .await?;
        Ok(Wire {
            sender,
            connection: Some(Box::pin(connection)),
        })
    }

    /// Lets the connection do its part.
    fn work(&mut self, cx: &mut Context<'_>) {
        let ended = match &mut self.connection {
            Some(connection) => connection.as_mut().poll(cx).is_ready(),
            None => return,
        };
        if ended {
            // Whoever waits for it hears of that.
            self.connection = None;
        }
    }

    /// Whether it can take a request; hears of the other side's farewell.
    fn is_alive(&mut self, cx: &mut Context<'_>) -> bool {
        self.work(cx);
        self.connection.is_some() && self.sender.is_ready()
    }

    async fn exchange(
        &mut self,
        request: Request,
    ) -> Result<http::Response<Incoming>, (Option<Request>, hyper::Error)> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let answer = poll_fn(|cx| {
            self.work(cx);
            answer.as_mut().poll(cx)
        });
        answer
            .await
            .map_err(|mut error| (error.take_message(), error.into_error()))
    }
}

impl Reading {
    /// The next frame, or `None` at the end. May be dropped and asked again.
    pub(crate) async fn frame(&mut self) -> Option<hyper::Result<Frame<Bytes>>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let mut next = Pin::new(&mut self.body).poll_frame(cx);
        if let (Poll::Pending, Some(wire)) = (&next, &mut self.wire) {
            wire.work(cx);
            next = Pin::new(&mut self.body).poll_frame(cx);
        }
        if let Poll::Ready(None) = next {
            self.keep(cx);
        }
        next
    }

    fn keep(&mut self, cx: &mut Context<'_>) {
        let (Some(mut wire), Some(home)) = (self.wire.take(), self.home.upgrade()) else {
            return;
        };
        if wire.is_alive(cx) {
            home.keep(&self.place, wire);
        } else if let (Some(rest), Ok(runtime)) =
            (wire.connection, tokio::runtime::Handle::try_current())
        {
            // It has answered before it has heard everything; the rest is still to be said.
            runtime.spawn(tokio::time::timeout(IDLE, rest));
        }
    }
}

impl Drop for Reading {
    /// What nobody wants to read is often all there already, as that of an answer that leads elsewhere.
    fn drop(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..UNREAD_FRAMES_MAX {
            if self.wire.is_none() || !matches!(self.poll(&mut cx), Poll::Ready(Some(Ok(_)))) {
                return;
            }
        }
    }
}

/// Why there is no answer.
fn told(error: hyper::Error, place: &str) -> Error {
    if error.is_parse_too_large() {
        return Error::TooLarge {
            place: place.to_owned(),
            part: Part::Headers,
            max: HEADER_BYTES_MAX,
        };
    }
    Error::Protocol {
        place: place.to_owned(),
        why: "there came no answer that could be read",
        source: Some(Arc::new(error)),
    }
}
