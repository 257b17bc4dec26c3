//! What keeps an upstream connected: it is tried, tried again later, given up for a while, closed when nobody uses it,
//! and its lists are read when they change.

use super::connection::Connection;
use super::exchange::Answer;
use super::fault::Fault;
use super::handshake::{Target, discover};
use super::hooks::Changed;
use super::listen::listen;
use super::lists;
use super::locked;
use super::params::Params;
use super::server::{Tried, Upstream, cause};
use super::status::{State, Status};
use super::talk::Talk;
use crate::wire::Era;
use serde_json::Map;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How long the server that this one takes the place of may take to end.
const PREDECESSOR: Duration = Duration::from_secs(5);

/// How long a modern server may take to open its stream of notifications.
const LISTEN: Duration = Duration::from_secs(1);

/// Why a connection is not served any longer.
enum Why {
    End,
    Lost,
    Renew,
    Idle,
}

/// Runs until the upstream is closed.
pub(super) async fn supervise(upstream: Arc<Upstream>, predecessor: Option<CancellationToken>) {
    if let Some(predecessor) = predecessor {
        // Both may want the same port or file.
        let _ = timeout(PREDECESSOR, predecessor.cancelled()).await;
    }
    let up = &*upstream;
    let _ended = up.ended.clone().drop_guard();
    let mut failures = 0;
    loop {
        let began = Instant::now();
        let shown = up.bearer();
        let tried = tokio::select! {
            tried = connect(up) => tried,
            () = up.end.cancelled() => break,
        };
        match tried {
            Ok(connection) => {
                let why = serve(up, &connection).await;
                up.current.store(None);
                let held = began.elapsed() >= up.options.settings.stable;
                let lost = connection.why_gone();
                leave(up, &connection, &why).await;
                failures = match why {
                    Why::Lost if held => 1,
                    Why::Lost => failures + 1,
                    Why::End | Why::Renew | Why::Idle => 0,
                };
                match why {
                    Why::End => break,
                    Why::Idle => {
                        if !rest(up).await {
                            break;
                        }
                    }
                    // The first try after a good connection need not wait.
                    Why::Lost if held => enter(up, failures, Some(lost)),
                    Why::Lost => {
                        enter(up, failures, Some(lost));
                        if !pause(up, failures, began).await {
                            break;
                        }
                    }
                    Why::Renew => enter(up, 0, None),
                }
            }
            Err(fault) => {
                failures += 1;
                let refused = matches!(fault, Fault::Auth(_) | Fault::Forbidden(_));
                failed(up, fault, failures);
                // Whoever's token was refused, the lists may be read with somebody else's.
                let is_last = !up.is_of_many() || up.bearer().is(&shown);
                if refused && !is_last {
                    failures = 1;
                }
                let pauses = if refused && is_last {
                    u32::MAX
                } else {
                    failures
                };
                if !pause(up, pauses, began).await {
                    break;
                }
            }
        }
    }
    up.current.store(None);
}

/// Ends a connection. What is under way over HTTP has streams of its own, and may still come to an end.
async fn leave(up: &Upstream, connection: &Connection, why: &Why) {
    let is_used = || up.use_.calls.load(Ordering::SeqCst) > 0;
    let goes_on = match why {
        Why::Lost => true,
        Why::End => up.is_replaced.load(Ordering::Relaxed) && is_used(),
        Why::Renew | Why::Idle => false,
    };
    match goes_on {
        true => connection.part().await,
        false => connection.close().await,
    }
}

/// Shows what a try came to that failed, and tells whoever waits for it.
fn failed(up: &Upstream, fault: Fault, failures: u32) {
    let refused = matches!(fault, Fault::Auth(_) | Fault::Forbidden(_));
    match refused {
        true => {
            let words = up.told(fault.clone()).to_string();
            settle(up, State::AuthRequired, words, failures);
        }
        false => {
            let words = cause(fault.clone(), &State::Failed);
            enter(up, failures, Some(words));
        }
    }
    let is_settled = refused || failures > up.options.settings.retries;
    if is_settled {
        heed(&up.needed);
    }
    publish(up, Some(fault), is_settled);
}

/// One try, from the first byte to the lists.
async fn connect(up: &Upstream) -> Result<Arc<Connection>, Fault> {
    let settings = &up.options.settings;
    let known = *locked(&up.known);
    let config = up.config();
    let target = Target {
        config: &config,
        options: &up.options,
        hooks: &up.hooks,
        tail: &up.tail,
        known,
        bearer: up.bearer(),
    };
    let connected = timeout(settings.connect_timeout, target.connect()).await;
    let connected = connected.unwrap_or_else(|_| {
        let seconds = settings.connect_timeout.as_secs_f64();
        let words = locked(&up.hooks.noise).clone();
        let words = words.or_else(|| up.tail.last_line());
        let words = words.map_or_else(String::new, |words| format!("; it says: {words}"));
        Err(Fault::NotSent(format!(
            "it did not answer within {seconds} s{words}"
        )))
    });
    let (connection, way) = connected.inspect_err(|fault| {
        // What was known may have been the reason.
        if !matches!(fault, Fault::NotSent(_) | Fault::Auth(_)) {
            *locked(&up.known) = None;
        }
    })?;
    // Whoever listens holds the connection: were this given up now, it would end with nobody.
    let unless_kept = connection.end.clone().drop_guard();
    *locked(&up.known) = Some(way);
    up.hooks.changed.take();
    let ears = Arc::downgrade(&connection);
    connection.keep(async move {
        if let Some(connection) = ears.upgrade() {
            listen(connection).await;
        }
    });
    if connection
        .peer
        .get()
        .is_some_and(|peer| peer.era == Era::Modern)
    {
        // A change between the lists and the first notification would be missed.
        let _ = timeout(LISTEN, up.hooks.listens.notified()).await;
    }
    let fault = refresh(up, &connection, Changed::ALL).await;
    if connection.is_gone() {
        return Err(connection.loss.fault(connection.why_gone()));
    }
    up.current.store(Some(Arc::clone(&connection)));
    connected_status(up, &connection, fault.as_deref());
    heed(&up.needed);
    publish(up, None, true);
    unless_kept.disarm();
    Ok(connection)
}

fn connected_status(up: &Upstream, connection: &Connection, fault: Option<&str>) {
    let Some(peer) = connection.peer.get() else {
        return;
    };
    up.change(|status| {
        *status = Status {
            cause: fault.map(str::to_owned),
            era: Some(peer.era),
            protocol_version: Some(peer.version.clone()),
            server_info: peer.info.clone(),
            capabilities: Some(peer.capabilities.clone()),
            instructions: peer.instructions.clone(),
            connected_at: Some(Instant::now()),
            attempts: status.attempts,
            pid: connection.pid(),
            ..Status::new(match fault {
                Some(_) => State::Degraded,
                None => State::Connected,
            })
        };
    });
}

/// Whoever needed a connection so far is told next what became of it. Left as it is, it would end the next rest at once.
fn heed(needed: &Notify) {
    pin!(needed.notified()).as_mut().enable();
}

/// Tells whoever waits what a try came to.
fn publish(up: &Upstream, fault: Option<Fault>, is_settled: bool) {
    up.tries.send_modify(|tried| {
        *tried = Tried {
            count: tried.count + 1,
            fault,
            at: Some(Instant::now()),
            is_settled,
        };
    });
}

/// The state between two connections.
fn enter(up: &Upstream, failures: u32, why: Option<String>) {
    let of = up.options.settings.retries;
    let state = match failures {
        0 => State::Starting,
        n if n <= of => State::Reconnecting { n, of },
        _ => State::Failed,
    };
    up.change(|status| {
        status.state = state;
        status.cause = why.or(status.cause.take());
        (status.attempts, status.pid, status.connected_at) = (failures, None, None);
    });
}

fn settle(up: &Upstream, state: State, why: String, failures: u32) {
    up.change(|status| {
        (status.state, status.cause) = (state, Some(why));
        (status.attempts, status.pid, status.connected_at) = (failures, None, None);
    });
}

/// Waits before the next try: a while that grows, however many need it meanwhile; of one that is given up, until
/// somebody needs it. False where there is no next.
async fn pause(up: &Upstream, failures: u32, began: Instant) -> bool {
    let settings = &up.options.settings;
    let waited = async {
        if failures <= settings.retries {
            return sleep(backoff(up, failures)).await;
        }
        up.needed.notified().await;
        // However many need it, one that ends at once is not started without a pause.
        sleep_until((began + settings.backoff_base).into()).await;
    };
    tokio::select! {
        () = waited => true,
        () = up.renew.notified() => true,
        () = up.end.cancelled() => false,
    }
}

fn backoff(up: &Upstream, failures: u32) -> Duration {
    let wait = up.options.settings.backoff(failures);
    // Between half and all of it, so that many servers do not come back at one moment.
    let chance = getrandom::u32().unwrap_or(u32::MAX / 2);
    wait / 2 + (wait / 2).mul_f64(f64::from(chance) / f64::from(u32::MAX))
}

/// Closed until somebody needs it again. False where nobody ever will.
async fn rest(up: &Upstream) -> bool {
    up.change(|status| {
        status.cause = Some("it rests until somebody needs it".to_owned());
        (status.pid, status.connected_at) = (None, None);
    });
    tokio::select! {
        () = up.needed.notified() => true,
        () = up.renew.notified() => true,
        () = up.end.cancelled() => false,
    }
}

/// Looks after a connection for as long as it lasts.
async fn serve(up: &Upstream, connection: &Arc<Connection>) -> Why {
    let settings = &up.options.settings;
    let mut read_at: Option<Instant> = None;
    let mut last_read = Instant::now();
    let mut read_once = false;
    loop {
        let reading = async {
            match read_at {
                Some(at) => sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = up.end.cancelled() => return Why::End,
            () = connection.loss.token.cancelled() => return Why::Lost,
            () = up.renew.notified() => return Why::Renew,
            () = up.doubt.notified() => {
                if !is_there(up, connection).await {
                    connection.loss.say("it does not answer any more".to_owned());
                }
            }
            () = up.hooks.changed.told.notified() => {
                // A list that changes whenever it is read must not keep us busy.
                let gap = if read_once { settings.refresh_gap } else { Duration::ZERO };
                read_at = read_at.or(Some(last_read + gap));
            }
            () = reading => {
                (read_at, read_once) = (None, true);
                let which = up.hooks.changed.take();
                let read = tokio::select! {
                    fault = refresh(up, connection, which) => Some(fault),
                    () = up.end.cancelled() => None,
                };
                if let Some(fault) = read {
                    judge(up, fault);
                }
                last_read = Instant::now();
            }
            () = idle(up, connection) => {
                up.current.store(None);
                if up.use_.calls.load(Ordering::SeqCst) == 0 {
                    return Why::Idle;
                }
                // Somebody came at the last moment, with this connection or without.
                up.current.store(Some(Arc::clone(connection)));
                publish(up, None, true);
            }
        }
    }
}

/// Reads lists, and tells if they are others than before.
async fn refresh(up: &Upstream, connection: &Connection, which: u8) -> Option<String> {
    let before = up.lists.load_full();
    // What somebody has is not for others to see: everybody reads theirs over their own connection.
    let which = match up.is_of_many() {
        true => which & !Changed::RESOURCES,
        false => which,
    };
    let (now, fault) = lists::read(connection, &before, which, &up.options).await;
    if now != *before {
        up.lists.store(Arc::new(now));
        let name = Arc::clone(&up.name);
        let _ = up.options.notices.send(super::Notice::Lists(name));
    }
    fault
}

fn judge(up: &Upstream, fault: Option<String>) {
    up.change(|status| match fault {
        Some(_) => (status.state, status.cause) = (State::Degraded, fault),
        None => (status.state, status.cause) = (State::Connected, None),
    });
}

/// Whether a server over HTTP still answers.
async fn is_there(up: &Upstream, connection: &Connection) -> bool {
    let limit = up.options.settings.connect_timeout;
    let era = connection.peer.get().map(|peer| peer.era);
    let asked = async {
        match era {
            Some(Era::Modern) => discover(connection).await,
            _ => ping(connection, limit).await,
        }
    };
    let answer = tokio::select! {
        answer = timeout(limit, asked) => answer,
        () = up.end.cancelled() => return true,
    };
    // Whatever it says, it is there.
    match answer {
        Ok(Ok(_) | Err(Fault::Rpc(_) | Fault::Status { .. } | Fault::Protocol(_))) => true,
        Ok(Err(_)) | Err(_) => false,
    }
}

async fn ping(connection: &Connection, limit: Duration) -> Answer {
    let talk = Talk::until(Instant::now() + limit);
    connection
        .ask("ping", Params::Of(&Map::new()), &talk, 1)
        .await
}

/// Until nobody has used it for as long as may be. Of what all share, only programs cost anything while nobody does.
async fn idle(up: &Upstream, connection: &Connection) {
    let may_rest = up.user.is_some() || connection.is_program();
    let Some(limit) = up.options.settings.idle.filter(|_| may_rest) else {
        return std::future::pending().await;
    };
    loop {
        let last = *locked(&up.use_.last);
        sleep_until((last + limit).into()).await;
        let since = locked(&up.use_.last).elapsed();
        // Whoever follows a resource uses it without a word.
        let is_followed = !locked(&up.hooks.watched.uris).is_empty();
        if up.use_.calls.load(Ordering::SeqCst) == 0 && since >= limit && !is_followed {
            return;
        }
        sleep(limit / 4).await;
    }
}
