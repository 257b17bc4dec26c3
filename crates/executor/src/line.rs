//! A short queue to whoever follows a call. Nearly every call has one and says nothing on it, so an empty one costs a
//! single small allocation; a general channel makes room for dozens at once.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::sync::Notify;

/// A queue that takes so many before its senders have to wait.
pub fn line<T>(places: usize) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            waiting: VecDeque::new(),
            reader: None,
            is_closed: false,
        }),
        places,
        room: Notify::new(),
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

#[derive(Debug)]
pub struct Sender<T>(Arc<Shared<T>>);

/// The other end. Once it is dropped, nobody listens.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    places: usize,
    /// There is room again, or nobody listens any more.
    room: Notify,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    reader: Option<Waker>,
    is_closed: bool,
}

/// What was not taken, and why.
#[derive(Debug, PartialEq, Eq)]
pub enum Unsent<T> {
    Full(T),
    Closed(T),
}

impl<T> Unsent<T> {
    pub fn into_inner(self) -> T {
        match self {
            Unsent::Full(it) | Unsent::Closed(it) => it,
        }
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Sender<T> {
    /// Puts it in line, or gives it back.
    pub fn try_send(&self, it: T) -> Result<(), Unsent<T>> {
        let mut state = self.0.lock();
        if state.is_closed {
            return Err(Unsent::Closed(it));
        }
        if state.waiting.len() >= self.0.places {
            return Err(Unsent::Full(it));
        }
        state.waiting.push_back(it);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        Ok(())
    }

    /// Waits for room. Gives it back where nobody listens any more.
    pub async fn send(&self, it: T) -> Result<(), T> {
        let mut it = it;
        loop {
            // Listened to before it is looked: what happens between is not missed.
            let mut room = std::pin::pin!(self.0.room.notified());
            room.as_mut().enable();
            match self.try_send(it) {
                Ok(()) => return Ok(()),
                Err(Unsent::Closed(back)) => return Err(back),
                Err(Unsent::Full(back)) => it = back,
            }
            room.await;
        }
    }
}

impl<T> Receiver<T> {
    /// The next one. May be dropped and asked again. It does not tell when there are no senders any more: whoever
    /// waits here waits for their end as well.
    pub async fn recv(&mut self) -> T {
        poll_fn(|context| self.poll_recv(context)).await
    }

    fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.0.lock();
        match state.waiting.pop_front() {
            Some(it) => {
                drop(state);
                self.0.room.notify_waiters();
                Poll::Ready(it)
            }
            None => {
                match &mut state.reader {
                    Some(known) => known.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }

    pub fn try_recv(&mut self) -> Option<T> {
        let next = self.0.lock().waiting.pop_front();
        if next.is_some() {
            self.0.room.notify_waiters();
        }
        next
    }

    pub fn is_empty(&self) -> bool {
        self.0.lock().waiting.is_empty()
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let left = {
            let mut state = self.0.lock();
            state.is_closed = true;
            state.reader = None;
            std::mem::take(&mut state.waiting)
        };
        self.0.room.notify_waiters();
        // Outside the lock: what is dropped may have something to say itself.
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_said_comes_in_order_and_waits_for_room() {
        let (sender, mut receiver) = line(2);
        sender.send(1).await.unwrap();
        sender.try_send(2).unwrap();
        assert_eq!(sender.try_send(3), Err(Unsent::Full(3)));
        let more = sender.clone();
        let third = tokio::spawn(async move { more.send(3).await });
        assert_eq!(receiver.recv().await, 1);
        third.await.unwrap().unwrap();
        assert_eq!((receiver.recv().await, receiver.try_recv()), (2, Some(3)));
        assert!(receiver.is_empty() && receiver.try_recv().is_none());
    }

    #[tokio::test]
    async fn a_reader_is_woken() {
        let (sender, mut receiver) = line(1);
        let read = tokio::spawn(async move { receiver.recv().await });
        tokio::task::yield_now().await;
        sender.send("a").await.unwrap();
        assert_eq!(read.await.unwrap(), "a");
    }

    #[tokio::test]
    async fn who_waits_for_room_hears_that_nobody_listens() {
        let (sender, receiver) = line(1);
        sender.try_send(1).unwrap();
        let more = sender.clone();
        let second = tokio::spawn(async move { more.send(2).await });
        tokio::task::yield_now().await;
        drop(receiver);
        assert_eq!(second.await.unwrap(), Err(2));
        assert_eq!(sender.try_send(3), Err(Unsent::Closed(3)));
    }
}
