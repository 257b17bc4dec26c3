//! What is remembered of each upstream server: what it offered last, and the definitions that its tools are held to. Both
//! outlive this process.

use catalog::letters::hidden_in;
use catalog::mcp_file::{ServerConfig, Transport};
use catalog::pinning::{self, Pinning};
use catalog::tool::Millis;
use mcp::upstream::{Known, Lists, Way};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use store::servers::{ServerListsRow, ServerPinRow};

/// What a server offers is kept up to this size; of a larger one only how to speak with it.
const KNOWN_BYTES_MAX: usize = 4 << 20;

/// A definition is kept up to this size, and all of a server's together; of a larger one only the hash.
const PIN_BYTES_MAX: usize = 64 << 10;
const PINS_BYTES_MAX: usize = 4 << 20;

/// So many tools of one server are held. One that invents names without end is not listed beyond that.
const PINS_MAX: usize = 20_000;

/// Under the name that no tool has, it is stored that a server's tools have been seen.
const SEEN: &str = "";

/// Longer names are nobody's.
const NAME_BYTES_MAX: usize = 256;

/// After so long an older server is asked again whether it is modern by now.
const ASKED_AGAIN: Millis = 7 * 24 * 3600 * 1000;

/// What is remembered of one server.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The fingerprint of where it is.
    address: String,
    known: Known,
    /// When that was stored.
    known_at: Millis,
    pins: BTreeMap<String, Pin>,
    /// Whether its tools have been seen once, even if there was nothing to hold.
    is_seen: bool,
    /// How long the definitions are that are kept, together.
    pin_bytes: usize,
    /// What was made of all that, as long as it holds.
    judged: Option<(Pinning, Arc<Judged>)>,
}

/// The definition of a tool that was seen first, or approved last.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pin {
    pub(crate) hash: String,
    /// None where it is too large to be kept.
    pub(crate) definition: Option<Value>,
    pub(crate) pinned_at: Millis,
    /// How long the definition is that is kept.
    bytes: usize,
}

/// What to make of a list of tools.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// What is listed: what the server says or, where that waits for approval, what it said before.
    pub(crate) listed: Vec<Value>,
    /// Where tools must be approved, those that may be called.
    pub(crate) approved: Option<HashSet<String>>,
    /// How many are not listed because no more can be held.
    pub(crate) left_out: usize,
    /// What is seen for the first time and held from now on.
    pub(crate) fresh: Vec<(String, Value)>,
    pub(crate) changes: Vec<Change>,
    /// Letters that cannot be seen, by the tool they hide in.
    pub(crate) hidden_letters: BTreeMap<String, Vec<String>>,
}

/// A definition that differs from the one that is held, or that none is held for.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) tool: String,
    pub(crate) hash: String,
    pub(crate) new: Value,
    pub(crate) pin: Option<Pin>,
}

impl Memory {
    /// Where the server is now; what is known belongs to one address. True where it is another server altogether, that
    /// only has the name: then nothing holds it either.
    pub(crate) fn is_at(&mut self, address: String) -> bool {
        if self.address == address {
            return false;
        }
        let source = |address: &str| address.split(' ').next().map(str::to_owned);
        let is_other = !self.address.is_empty() && source(&self.address) != source(&address);
        if is_other {
            self.set_pins(BTreeMap::new());
            self.is_seen = false;
        }
        (self.address, self.known, self.judged) = (address, Known::default(), None);
        is_other
    }

    /// Where it is, if this is what is there: one that was replaced may still tell something.
    pub(crate) fn address_if(&self, config: &ServerConfig) -> Option<String> {
        let (source, _) = self.address.split_once(' ')?;
        let address = address_of(source, config);
        (address == self.address).then_some(address)
    }

    /// Whether what is known is of a server at this address.
    pub(crate) fn is_of(&self, address: &str) -> bool {
        self.address == address
    }

    pub(crate) fn known(&self) -> &Known {
        &self.known
    }

    pub(crate) fn pins(&self) -> &BTreeMap<String, Pin> {
        &self.pins
    }

    /// Takes back what could not be stored.
    pub(crate) fn set_pins(&mut self, pins: BTreeMap<String, Pin>) {
        self.pin_bytes = pins.values().map(|it| it.bytes).sum();
        (self.pins, self.judged) = (pins, None);
    }

    fn put_pin(&mut self, tool: String, pin: Pin) {
        self.pin_bytes += pin.bytes;
        let old = self.pins.insert(tool, pin);
        self.pin_bytes -= old.map_or(0, |old| old.bytes);
        self.judged = None;
    }

    /// Forgets what was offered that is not for everybody; what is to be stored instead, if anything was.
    pub(crate) fn keep_common(&mut self, server: &str, now: Millis) -> Option<ServerListsRow> {
        let lists = &self.known.lists;
        if lists.resources.is_empty() && lists.templates.is_empty() {
            return None;
        }
        let mut known = self.known.clone();
        known.lists.keep_common();
        self.take_known(server, self.address.clone(), known, now)
    }

    pub(crate) fn take_row(&mut self, row: ServerListsRow, now: Millis) {
        let mut known: Known = serde_json::from_str(&row.known).unwrap_or_default();
        if known.way != Some(Way::Modern) && now - row.updated_at > ASKED_AGAIN {
            known.way = None;
        }
        (self.address, self.known, self.known_at) = (row.address, known, row.updated_at);
        self.judged = None;
    }

    /// Notes that its tools have been seen: what it names later is new. What is to be stored of that, the first time.
    pub(crate) fn see(
        &mut self,
        server: &str,
        pinning: Pinning,
        now: Millis,
    ) -> Option<ServerPinRow> {
        if self.is_seen || pinning == Pinning::Off {
            return None;
        }
        (self.is_seen, self.judged) = (true, None);
        Some(ServerPinRow {
            server: server.to_owned(),
            tool: SEEN.to_owned(),
            hash: String::new(),
            definition: None,
            pinned_at: now,
        })
    }

    pub(crate) fn take_pin(&mut self, row: ServerPinRow) {
        if row.tool == SEEN {
            self.is_seen = true;
            return;
        }
        let definition = row.definition.as_deref();
        let pin = Pin {
            definition: definition.and_then(|text| serde_json::from_str(text).ok()),
            bytes: definition.map_or(0, str::len),
            hash: row.hash,
            pinned_at: row.pinned_at,
        };
        self.put_pin(row.tool, pin);
    }

    /// Takes in what is known now; what is to be stored of it, unless it is stored already and not too old.
    pub(crate) fn take_known(
        &mut self,
        server: &str,
        address: String,
        known: Known,
        now: Millis,
    ) -> Option<ServerListsRow> {
        if self.address == address && self.known == known && now - self.known_at <= ASKED_AGAIN {
            return None;
        }
        let row = ServerListsRow {
            server: server.to_owned(),
            address: address.clone(),
            known: known_text(server, &known),
            updated_at: now,
        };
        (self.address, self.known, self.known_at) = (address, known, now);
        self.judged = None;
        Some(row)
    }

    /// Holds a tool to this definition.
    pub(crate) fn pin(
        &mut self,
        server: &str,
        tool: &str,
        held: &Value,
        now: Millis,
    ) -> ServerPinRow {
        let others = self.pin_bytes - self.pins.get(tool).map_or(0, |it| it.bytes);
        let text = held.to_string();
        let fits = text.len() <= PIN_BYTES_MAX && others + text.len() <= PINS_BYTES_MAX;
        let text = Some(text).filter(|_| fits);
        let pin = Pin {
            hash: pinning::hash(held),
            definition: fits.then(|| held.clone()),
            pinned_at: now,
            bytes: text.as_ref().map_or(0, String::len),
        };
        self.put_pin(tool.to_owned(), pin.clone());
        ServerPinRow {
            server: server.to_owned(),
            tool: tool.to_owned(),
            hash: pin.hash,
            definition: text,
            pinned_at: now,
        }
    }

    /// What to make of what the server offered last.
    pub(crate) fn judge(&mut self, pinning: Pinning) -> Arc<Judged> {
        if let Some((held, judged)) = &self.judged
            && *held == pinning
        {
            return Arc::clone(judged);
        }
        // Whoever adds a server means what it offers then.
        let is_first = !self.is_seen && self.pins.is_empty();
        let tools = &self.known.lists.tools;
        let judged = Arc::new(judge(&self.pins, is_first, tools, pinning));
        self.judged = Some((pinning, Arc::clone(&judged)));
        judged
    }
}

/// What is stored of what is known.
fn known_text(server: &str, known: &Known) -> String {
    let text = |known: &Known| serde_json::to_string(known).unwrap_or_else(|_| "{}".to_owned());
    let whole = text(known);
    if whole.len() <= KNOWN_BYTES_MAX {
        return whole;
    }
    tracing::warn!(
        server,
        bytes = whole.len(),
        "what this server offers is too much to be kept for the next start"
    );
    text(&Known {
        way: known.way,
        protocol_version: known.protocol_version.clone(),
        lists: Lists::default(),
        ..Known::default()
    })
}

/// Whose server it is and where. The place is a hash, because an address may hold a secret.
pub(crate) fn address_of(source: &str, config: &ServerConfig) -> String {
    let place = match &config.transport {
        Transport::Stdio {
            command, args, cwd, ..
        } => json!(["stdio", command, args, cwd]),
        Transport::Sse { url, .. } => json!(["sse", url]),
        Transport::Http { url, .. } => json!(["http", url]),
    };
    let place = catalog::hex::hex(&Sha256::digest(place.to_string().as_bytes()));
    format!("{source} {place}")
}

fn judge(
    pins: &BTreeMap<String, Pin>,
    is_first: bool,
    tools: &[Value],
    pinning: Pinning,
) -> Judged {
    let mut judged = held_to(pins, is_first, tools, pinning);
    let mut found = BTreeMap::new();
    // What waits is looked at as well: whoever approves it has to know.
    let waiting = judged.changes.iter().map(|change| change.new.clone());
    for definition in judged.listed.iter().map(pinning::held).chain(waiting) {
        let letters = hidden_in(&definition);
        if let Some(tool) = definition["name"].as_str().filter(|_| !letters.is_empty()) {
            found.insert(tool.to_owned(), letters);
        }
    }
    judged.hidden_letters = found;
    judged
}

fn held_to(
    pins: &BTreeMap<String, Pin>,
    is_first: bool,
    tools: &[Value],
    pinning: Pinning,
) -> Judged {
    if pinning == Pinning::Off {
        return Judged {
            listed: tools.to_vec(),
            ..Judged::default()
        };
    }
    let mut judged = Judged::default();
    let mut approved = HashSet::new();
    let must_wait = pinning == Pinning::Approve;
    for listed in tools {
        let Some(tool) = listed["name"].as_str().filter(|name| is_usable(name)) else {
            continue;
        };
        let held = pinning::held(listed);
        let (hash, pin) = (pinning::hash(&held), pins.get(tool));
        let is_held = pin.is_some_and(|pin| pin.hash == hash);
        // But nobody means what they cannot see.
        let is_meant = || is_first && hidden_in(&held).is_empty();
        let is_fresh = pin.is_none() && (!must_wait || is_meant());
        if pin.is_none() && pins.len() + judged.fresh.len() >= PINS_MAX {
            judged.left_out += 1;
            continue;
        }
        if is_held || is_fresh {
            judged.listed.push(listed.clone());
            approved.insert(tool.to_owned());
            if is_fresh {
                judged.fresh.push((tool.to_owned(), held));
            }
            continue;
        }
        judged.listed.extend(match must_wait {
            true => pin.and_then(|pin| pin.definition.clone()),
            false => Some(listed.clone()),
        });
        judged.changes.push(Change {
            tool: tool.to_owned(),
            hash,
            new: held,
            pin: pin.cloned(),
        });
    }
    judged.approved = must_wait.then_some(approved);
    judged
}

/// One that can be written down, here and in a database.
fn is_usable(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.contains(char::is_control)
}

impl Judged {
    /// What people should know of a tool, by its name at the server.
    pub(crate) fn flags(&self) -> BTreeMap<String, Vec<String>> {
        let mut flags: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for change in &self.changes {
            let told = match (&self.approved, &change.pin) {
                (Some(_), Some(_)) => "its definition was changed and waits for approval",
                (Some(_), None) => "it is new and waits for approval",
                (None, _) => "its definition is another than the one that was seen first",
            };
            flags
                .entry(change.tool.clone())
                .or_default()
                .push(told.to_owned());
        }
        for (tool, letters) in &self.hidden_letters {
            let told = format!("letters that cannot be seen: {}", letters.join(", "));
            flags.entry(tool.clone()).or_default().push(told);
        }
        flags
    }
}

#[cfg(test)]
mod tests;
