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

    pub(crate) fn take_pin(&mut self, row: ServerPinRow) {
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
        let judged = Arc::new(judge(&self.pins, &self.known.lists.tools, pinning));
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

fn judge(pins: &BTreeMap<String, Pin>, tools: &[Value], pinning: Pinning) -> Judged {
    let mut judged = held_to(pins, tools, pinning);
    for listed in &judged.listed {
        let letters = hidden_in(&pinning::held(listed));
        if let Some(tool) = listed["name"].as_str().filter(|_| !letters.is_empty()) {
            judged.hidden_letters.insert(tool.to_owned(), letters);
        }
    }
    judged
}

fn held_to(pins: &BTreeMap<String, Pin>, tools: &[Value], pinning: Pinning) -> Judged {
    if pinning == Pinning::Off {
        return Judged {
            listed: tools.to_vec(),
            ..Judged::default()
        };
    }
    let mut judged = Judged::default();
    let mut approved = HashSet::new();
    // Whoever adds a server means what it offers then.
    let is_first = pins.is_empty();
    let must_wait = pinning == Pinning::Approve;
    for listed in tools {
        let Some(tool) = listed["name"].as_str().filter(|name| is_usable(name)) else {
            continue;
        };
        let held = pinning::held(listed);
        let (hash, pin) = (pinning::hash(&held), pins.get(tool));
        let is_held = pin.is_some_and(|pin| pin.hash == hash);
        let is_fresh = pin.is_none() && (is_first || !must_wait);
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
    name.len() <= NAME_BYTES_MAX && !name.contains(char::is_control)
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
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> Value {
        json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
    }

    fn names(listed: &[Value]) -> Vec<&str> {
        listed
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect()
    }

    fn offers(memory: &mut Memory, tools: &[Value]) {
        let mut known = Known::default();
        known.lists.tools = tools.to_vec();
        memory.take_known("s", "a".to_owned(), known, 1);
    }

    fn first_seen(tools: &[Value]) -> Memory {
        let mut memory = Memory::default();
        offers(&mut memory, tools);
        for (tool, held) in &memory.judge(Pinning::Approve).fresh {
            memory.pin("s", tool, held, 1);
        }
        memory
    }

    #[test]
    fn what_is_seen_first_is_held() {
        for pinning in [Pinning::Flag, Pinning::Approve] {
            let tools = [tool("a", "A"), tool("b", "B")];
            let judged = judge(&BTreeMap::new(), &tools, pinning);
            assert_eq!(judged.fresh.len(), 2);
            assert_eq!(judged.listed, tools);
            assert!(judged.changes.is_empty(), "{:?}", judged.changes);
        }
        let off = judge(&BTreeMap::new(), &[tool("a", "A")], Pinning::Off);
        assert!(off.fresh.is_empty() && off.approved.is_none());
    }

    #[test]
    fn a_change_is_told_or_waits() {
        let mut memory = first_seen(&[tool("a", "A"), tool("b", "B"), tool("gone", "G")]);
        offers(
            &mut memory,
            &[tool("a", "A!"), tool("b", "B"), tool("c", "C")],
        );
        let flagged = memory.judge(Pinning::Flag);
        assert_eq!(flagged.listed, memory.known.lists.tools);
        assert_eq!((flagged.changes.len(), flagged.fresh.len()), (1, 1));
        assert!(flagged.approved.is_none());
        let waits = memory.judge(Pinning::Approve);
        assert_eq!(waits.listed, [tool("a", "A"), tool("b", "B")]);
        assert_eq!(waits.approved, Some(HashSet::from(["b".to_owned()])));
        assert_eq!((waits.changes.len(), waits.fresh.len()), (2, 0));
        let flags = waits.flags();
        assert!(
            flags["a"][0].contains("changed") && flags["c"][0].contains("new"),
            "{flags:?}"
        );
        let off = memory.judge(Pinning::Off);
        assert_eq!(names(&off.listed), ["a", "b", "c"]);
        assert!(off.changes.is_empty());
        // Approved as it is, it is what counts.
        let new = waits.changes[0].new.clone();
        memory.pin("s", "a", &new, 2);
        let again = memory.judge(Pinning::Approve);
        assert_eq!(names(&again.listed), ["a", "b"]);
        assert_eq!(again.listed[0]["description"], "A!");
    }

    #[test]
    fn what_is_too_large_is_held_by_its_hash() {
        let large = tool("a", &"x".repeat(PIN_BYTES_MAX));
        let mut memory = first_seen(std::slice::from_ref(&large));
        assert_eq!(memory.pins["a"].definition, None);
        assert!(memory.judge(Pinning::Approve).changes.is_empty());
        offers(&mut memory, &[tool("a", "small")]);
        let waits = memory.judge(Pinning::Approve);
        assert_eq!(waits.changes.len(), 1);
        assert!(waits.listed.is_empty(), "what it was is not known");
        let much = Known {
            way: Some(Way::Legacy),
            lists: Lists {
                tools: vec![tool("a", &"x".repeat(KNOWN_BYTES_MAX))],
                ..Lists::default()
            },
            ..Known::default()
        };
        let text = known_text("s", &much);
        assert!(
            text.len() < 1000 && text.contains("legacy"),
            "{}",
            text.len()
        );
    }

    #[test]
    fn what_is_known_ends_with_the_address_and_what_is_held_with_the_server() {
        let mut memory = first_seen(&[tool("a", "A")]);
        memory.address = "file 1".to_owned();
        assert!(!memory.is_at("file 1".to_owned()));
        assert_eq!(memory.known.lists.tools.len(), 1);
        assert!(!memory.is_at("file 2".to_owned()));
        assert!(memory.known.lists.tools.is_empty() && !memory.pins.is_empty());
        assert!(memory.is_at("database 2".to_owned()));
        assert!(memory.pins.is_empty());
    }

    #[test]
    fn so_many_are_held_and_no_more() {
        let named = |from: usize, to: usize| -> Vec<Value> {
            (from..to).map(|n| tool(&format!("t{n}"), "T")).collect()
        };
        let mut memory = first_seen(&named(0, PINS_MAX + 3));
        assert_eq!(memory.pins.len(), PINS_MAX);
        let kept: usize = memory.pins.values().map(|it| it.bytes).sum();
        assert_eq!(memory.pin_bytes, kept);
        assert!(kept <= PINS_BYTES_MAX, "{kept}");
        // Others in their place are neither held nor listed; what is held stays.
        for pinning in [Pinning::Flag, Pinning::Approve] {
            offers(&mut memory, &named(PINS_MAX - 1, PINS_MAX + 5));
            let judged = memory.judge(pinning);
            assert_eq!((judged.listed.len(), judged.left_out), (1, 5));
            assert!(judged.fresh.is_empty() && judged.changes.is_empty());
        }
        memory.pin("s", "t0", &tool("t0", "Something longer"), 2);
        let kept: usize = memory.pins.values().map(|it| it.bytes).sum();
        assert_eq!(memory.pin_bytes, kept);
    }

    #[test]
    fn what_one_person_has_is_forgotten() {
        let mut memory = first_seen(&[tool("a", "A")]);
        assert!(memory.keep_common("s", 2).is_none());
        memory.known.lists.resources = vec![json!({"uri": "x://of-alice"})];
        let row = memory.keep_common("s", 2).unwrap();
        assert!(!row.known.contains("alice") && row.known.contains("\"A\""));
        assert!(memory.keep_common("s", 2).is_none());
    }

    #[test]
    fn names_that_nobody_could_write_are_left_out() {
        let long = "n".repeat(NAME_BYTES_MAX + 1);
        let tools = [tool("a\0b", ""), tool(&long, ""), tool("fine", "")];
        let judged = judge(&BTreeMap::new(), &tools, Pinning::Flag);
        assert_eq!(names(&judged.listed), ["fine"]);
    }
}
