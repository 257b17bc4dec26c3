//! The same exchanges once more with the client itself, from a server on this machine.

use super::recording::Exchange;
use super::summary::Summary;
use crate::{World, server};
use providers::wire::Written;
use providers::{Api, Class, Error, Request, Turn};

/// An exchange with what was read of it without a network.
pub(super) struct Asked<'a> {
    pub(super) name: String,
    pub(super) api: Api,
    pub(super) request: Request,
    pub(super) exchange: &'a Exchange,
    pub(super) read: Result<Turn, Error>,
}

pub(super) async fn ask(asked: &[Asked<'_>], summary: &mut Summary) {
    for one in asked {
        let reply = one.exchange.reply();
        let status = format!("{} Recorded", one.exchange.status);
        let answer = move |_: &server::Seen| {
            let headers: Vec<(&str, &str)> = reply
                .0
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            server::answer(&status, &headers, &reply.1)
        };
        let mut world = World::new(one.api, answer).await;
        world.target.tries_max = 1;
        let heard = world.ask(&one.request).await;
        summary.over_http += 1;
        if world.sent() != Written::new(one.api, &one.request).body {
            summary.fail(format!("{}: the client sent something else", one.name));
        }
        if !is_same(&heard, &one.read) {
            summary.fail(format!(
                "{}: the client heard something else: {heard:?}",
                one.name
            ));
        }
    }
}

/// The client knows more: an id from the headers.
fn is_same(heard: &Result<Turn, Error>, read: &Result<Turn, Error>) -> bool {
    match (heard, read) {
        (Ok(heard), Ok(read)) => {
            let heard = Turn {
                request_id: read.request_id.clone(),
                ..heard.clone()
            };
            heard == *read
        }
        (Err(heard), Err(read)) => {
            heard.class == read.class
                && (heard.message == read.message || read.class == Class::Network)
        }
        _ => false,
    }
}
