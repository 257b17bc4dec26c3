//! The immutable snapshot of every tool there is. A write makes a new one that shares all unchanged
//! entries, so a reader never waits and a call never pays for the number of tools.

use crate::fixed;
use crate::names::PlainName;
use crate::pace::{Pace, Spans};
use crate::schema::Schema;
use crate::tool::{Definition, Shelf, Tool};
use serde_json::{Map, Value};
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::{Semaphore, SemaphorePermit};
use uuid::Uuid;

/// One tool, with what is derived from it once and used by every call.
#[derive(Debug)]
pub struct Entry {
    pub tool: Tool,
    /// Fingerprint of the definition.
    pub hash: Arc<str>,
    pub name: Arc<str>,
    /// What it is called where names have no dots; none where its own name has none.
    pub plain: Option<PlainName>,
    /// The tool that this one is another name for, where its calls count as that one's, too: its name and its id.
    pub behind: Option<(Arc<str>, Uuid)>,
    /// Lower-cased name and descriptions, for the list's search.
    pub search_text: String,
    /// Calls of a serial tool pass here one at a time; handed on to the tool's next version.
    pub gate: Arc<Gate>,
    /// Where the tool has a `rate_limit`, what it is measured by; handed on like the gate.
    pub pace: Option<Arc<Pace>>,
    schemas: OnceLock<Result<Schemas, String>>,
    made: OnceLock<Box<dyn Any + Send + Sync>>,
    repeats_arguments: bool,
    /// What its schema fixes, by name.
    fixed: Map<String, Value>,
}

/// Both schemas of one tool version.
#[derive(Debug)]
pub struct Schemas {
    pub input: Schema,
    pub output: Option<Schema>,
}

impl Schemas {
    pub fn compile(input: &Value, output: Option<&Value>) -> Result<Self, String> {
        Ok(Schemas {
            input: Schema::compile(input).map_err(|e| format!("input_schema: {e}"))?,
            output: output
                .map(Schema::compile)
                .transpose()
                .map_err(|e| format!("output_schema: {e}"))?,
        })
    }
}

impl Entry {
    pub fn new(tool: Tool, gate: Arc<Gate>) -> Self {
        let definition = &tool.definition;
        let mut search_text = definition.name.to_lowercase();
        for text in [
            Some(&definition.description),
            definition.description_user.as_ref(),
        ] {
            search_text.push('\n');
            search_text.push_str(&text.map(|t| t.to_lowercase()).unwrap_or_default());
        }
        Entry {
            hash: Arc::clone(&tool.hash),
            name: definition.name.as_str().into(),
            plain: plain_of(&tool),
            behind: (tool.stands_for().behind).map(|it| (it.name().into(), it.id())),
            search_text,
            gate,
            pace: None,
            schemas: OnceLock::new(),
            made: OnceLock::new(),
            repeats_arguments: repeats(&definition.input_schema),
            // What a server says of its own tools is passed on as it is.
            fixed: match tool.shelf {
                Shelf::Server => Map::new(),
                _ => fixed::fixed(&definition.input_schema),
            },
            tool,
        }
    }

    /// Whether MCP clients repeat some of the arguments in headers, as the schema may want it.
    pub fn repeats_arguments(&self) -> bool {
        self.repeats_arguments
    }

    /// The schema that agents are shown: without what it fixes.
    pub fn offered_schema(&self) -> Cow<'_, Value> {
        let schema = &self.tool.definition.input_schema;
        match self.fixed.is_empty() {
            true => Cow::Borrowed(schema),
            false => Cow::Owned(fixed::without(schema, &self.fixed)),
        }
    }

    /// Adds what the schema fixes to a caller's arguments.
    pub fn fill(&self, arguments: &mut Value) {
        fixed::fill(&self.fixed, arguments);
    }

    /// The schemas, compiled by whoever asks first.
    pub fn schemas(&self) -> Result<&Schemas, &str> {
        self.schemas
            .get_or_init(|| {
                let definition = &self.tool.definition;
                Schemas::compile(&definition.input_schema, definition.output_schema.as_ref())
            })
            .as_ref()
            .map_err(String::as_str)
    }
}

impl Entry {
    /// What the tool's kind makes of its definition, once for all calls.
    pub fn made<T: Any + Send + Sync>(&self, make: impl FnOnce(&Definition) -> T) -> &T {
        let made = self
            .made
            .get_or_init(|| Box::new(make(&self.tool.definition)));
        made.downcast_ref()
            .expect("a tool is of one kind, which makes one thing of it")
    }
}

fn plain_of(tool: &Tool) -> Option<PlainName> {
    let definition = &tool.definition;
    let told = |name: &str| definition.config.get(name).and_then(Value::as_str);
    match (tool.shelf, told("server_name"), told("tool_name")) {
        (Shelf::Server, Some(server), Some(own)) => Some(PlainName::of_server(server, own)),
        _ => PlainName::of(&definition.name),
    }
}

fn repeats(schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut all = properties.into_iter().flat_map(serde_json::Map::values);
    all.any(|property| property.get("x-mcp-header").is_some() || repeats(property))
}

/// One-at-a-time passage with a bounded queue before it (B6).
#[derive(Debug)]
pub struct Gate {
    turn: Semaphore,
    waiting: AtomicUsize,
}

impl Default for Gate {
    fn default() -> Self {
        Gate {
            turn: Semaphore::new(1),
            waiting: AtomicUsize::new(0),
        }
    }
}

/// Too many calls are already waiting for this tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueFull;

impl Gate {
    /// Waits for this call's turn; at most `queue_max` calls wait at a time.
    pub async fn pass(&self, queue_max: usize) -> Result<SemaphorePermit<'_>, QueueFull> {
        if let Ok(permit) = self.turn.try_acquire() {
            return Ok(permit);
        }
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= queue_max {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(QueueFull);
        }
        let _leave = LeaveQueue(&self.waiting);
        let permit = self.turn.acquire().await.expect("the gate is never closed");
        Ok(permit)
    }
}

/// Gives the place in the queue back, also when the waiting call is dropped.
struct LeaveQueue<'a>(&'a AtomicUsize);

impl Drop for LeaveQueue<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a write does to the snapshot.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "a short list of changes lives for one write"
)]
pub enum Change {
    /// Adds a tool or replaces the one with its id.
    Put(Tool),
    Remove(Uuid),
}

/// What names lead to that are no tool's own: to one tool, or to several that would have it.
#[derive(Debug, Default)]
struct OtherNames(HashMap<Arc<str>, Vec<Arc<Entry>>>);

impl OtherNames {
    fn add(&mut self, name: Arc<str>, entry: &Arc<Entry>) {
        self.0.entry(name).or_default().push(Arc::clone(entry));
    }

    fn all(&self, name: &str) -> &[Arc<Entry>] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    fn only(&self, name: &str) -> Option<&Arc<Entry>> {
        match self.all(name) {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// Every tool, by name, by id and in order.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Counts up with every change.
    pub epoch: u64,
    by_name: HashMap<Arc<str>, Arc<Entry>>,
    by_id: HashMap<Uuid, Arc<Entry>>,
    /// Tools by their names without dots, the short ones and those with a hash.
    by_plain_name: OtherNames,
    /// Tools of upstream servers by what those call them.
    by_their_name: OtherNames,
    sorted: Vec<Arc<Entry>>,
}

impl Catalogue {
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(name)
    }

    pub fn by_id(&self, id: Uuid) -> Option<&Arc<Entry>> {
        self.by_id.get(&id)
    }

    /// The one tool that has this name without dots.
    pub fn by_plain_name(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_plain_name.only(name)
    }

    /// By id where the text is one, else by name: nobody can take another tool's id as a name. A tool is also found by
    /// its name without dots, and one of an upstream server by its name there, while no other has it.
    pub fn find(&self, name_or_id: &str) -> Option<&Arc<Entry>> {
        let id = Uuid::parse_str(name_or_id).ok();
        id.and_then(|id| self.by_id(id))
            .or_else(|| self.get(name_or_id))
            .or_else(|| self.by_plain_name.only(name_or_id))
            .or_else(|| self.by_their_name.only(name_or_id))
    }

    /// The tools that a name could mean which `find` knows no one tool for.
    pub fn alike(&self, name: &str) -> &[Arc<Entry>] {
        match self.by_plain_name.all(name) {
            [] => self.by_their_name.all(name),
            several => several,
        }
    }

    /// All tools in the order of their names, after the given one.
    pub fn after<'a>(&'a self, name: Option<&str>) -> impl Iterator<Item = &'a Arc<Entry>> {
        let start = name.map_or(0, |name| {
            self.sorted.partition_point(|entry| *entry.name <= *name)
        });
        self.sorted[start..].iter()
    }

    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The next snapshot. Entries that did not change are shared with this one.
    pub fn with(&self, changes: Vec<Change>) -> Catalogue {
        let mut by_name = self.by_name.clone();
        let mut by_id = self.by_id.clone();
        for change in changes {
            match change {
                Change::Remove(id) => {
                    if let Some(old) = by_id.remove(&id) {
                        by_name.remove(&old.name);
                    }
                }
                Change::Put(tool) => {
                    let (gate, pace) = match by_id.get(&tool.id) {
                        Some(old) => {
                            by_name.remove(&old.name);
                            (Arc::clone(&old.gate), old.pace.clone())
                        }
                        None => (Arc::default(), None),
                    };
                    let spans = tool.definition.rate_limit.as_ref().map(Spans::of);
                    let mut entry = Entry::new(tool, gate);
                    // Dropped with the limit: what is called unlimited is not measured.
                    entry.pace = spans.map(|spans| {
                        let pace = pace.unwrap_or_default();
                        pace.keep(spans);
                        pace
                    });
                    let entry = Arc::new(entry);
                    by_id.insert(entry.tool.id, Arc::clone(&entry));
                    by_name.insert(Arc::clone(&entry.name), entry);
                }
            }
        }
        let mut sorted: Vec<Arc<Entry>> = by_name.values().cloned().collect();
        sorted.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let mut by_plain_name = OtherNames::default();
        for entry in &sorted {
            if let Some(PlainName { short, hashed }) = &entry.plain {
                by_plain_name.add(Arc::clone(hashed), entry);
                if short != hashed {
                    by_plain_name.add(Arc::clone(short), entry);
                }
            }
        }
        let mut by_their_name = OtherNames::default();
        let of_servers = sorted.iter().filter(|it| it.tool.shelf == Shelf::Server);
        for entry in of_servers {
            let name = entry.tool.definition.config.get("tool_name");
            if let Some(name) = name.and_then(Value::as_str) {
                by_their_name.add(name.into(), entry);
            }
        }
        Catalogue {
            epoch: self.epoch + 1,
            by_name,
            by_id,
            by_plain_name,
            by_their_name,
            sorted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::SYSTEM_USER;
    use crate::tool::tests::tool;

    fn names(catalogue: &Catalogue, after: Option<&str>) -> Vec<String> {
        catalogue.after(after).map(|e| e.name.to_string()).collect()
    }

    fn of_server(server: &str, theirs: &str) -> Change {
        let mut tool = tool(&format!("{server}.{theirs}"), SYSTEM_USER);
        tool.shelf = Shelf::Server;
        let config = &mut tool.definition.config;
        config.insert("server_name".to_owned(), server.into());
        config.insert("tool_name".to_owned(), theirs.into());
        Change::Put(tool)
    }

    #[test]
    fn a_tool_is_found_by_its_name_without_dots() {
        let found = |catalogue: &Catalogue, name: &str| {
            let found = catalogue.find(name);
            found.map_or_else(String::new, |it| it.name.to_string())
        };
        let first = Catalogue::default().with(vec![
            of_server("a", "b__c"),
            of_server("files", "read file"),
            Change::Put(tool("my.own", SYSTEM_USER)),
        ]);
        assert_eq!(found(&first, "a__b__c"), "a.b__c");
        assert_eq!(found(&first, "files__read_file"), "files.read file");
        assert_eq!(found(&first, "my_own"), "my.own");
        // Of two that would have it neither does, but each keeps the one with its hash.
        let second = first.with(vec![of_server("a__b", "c")]);
        assert_eq!(found(&second, "a__b__c"), "");
        let alike = second.alike("a__b__c").iter().map(|it| &*it.name);
        assert_eq!(alike.collect::<Vec<_>>(), ["a.b__c", "a__b.c"]);
        for name in ["a.b__c", "a__b.c"] {
            let hashed = second.get(name).unwrap().plain.clone().unwrap().hashed;
            assert_eq!(found(&second, &hashed), name);
        }
        // Whoever has the name itself comes first, whatever servers call theirs.
        let own = first.with(vec![Change::Put(tool("files__read_file", SYSTEM_USER))]);
        assert_eq!(found(&own, "files__read_file"), "files__read_file");
        let bare = first.with(vec![of_server("z", "files__read_file")]);
        assert_eq!(found(&bare, "files__read_file"), "files.read file");
    }

    #[test]
    fn a_tool_of_a_server_is_found_by_its_name_there_while_no_other_has_it() {
        let one = Catalogue::default().with(vec![of_server("a", "echo"), of_server("a", "add")]);
        assert_eq!(&*one.find("echo").unwrap().name, "a.echo");
        let two = one.with(vec![of_server("b", "echo")]);
        assert!(two.find("echo").is_none(), "two have it");
        let alike = two.alike("echo").iter().map(|it| &*it.name);
        assert_eq!(alike.collect::<Vec<_>>(), ["a.echo", "b.echo"]);
        assert_eq!(&*two.find("add").unwrap().name, "a.add");
        let own = two.with(vec![Change::Put(tool("add", SYSTEM_USER))]);
        assert_eq!(&*own.find("add").unwrap().name, "add", "ours comes first");
    }

    #[test]
    fn a_write_shares_what_it_did_not_change() {
        let tools = ["b", "a", "c"].map(|n| Change::Put(tool(n, SYSTEM_USER)));
        let first = Catalogue::default().with(tools.into());
        assert_eq!(names(&first, None), ["a", "b", "c"]);
        assert_eq!(names(&first, Some("a")), ["b", "c"]);
        assert_eq!(names(&first, Some("aa")), ["b", "c"]);

        let mut changed = tool("b", SYSTEM_USER);
        changed.version = 2;
        let second = first.with(vec![Change::Put(changed)]);
        assert!(Arc::ptr_eq(
            first.get("a").unwrap(),
            second.get("a").unwrap()
        ));
        assert_eq!(second.get("b").unwrap().tool.version, 2);
        assert_eq!(
            first.get("b").unwrap().tool.version,
            1,
            "the old snapshot stays as it was"
        );
        let gates = [&first, &second].map(|c| Arc::clone(&c.get("b").unwrap().gate));
        assert!(
            Arc::ptr_eq(&gates[0], &gates[1]),
            "a new version queues with the old one"
        );
    }

    #[test]
    fn a_limited_tool_keeps_its_pace_as_long_as_it_is_limited() {
        let limited = |limit: Option<u32>| {
            let mut tool = tool("a", SYSTEM_USER);
            tool.definition.rate_limit = limit.map(|limit| crate::tool::RateLimit {
                requests_per_minute: Some(limit),
                ..Default::default()
            });
            vec![Change::Put(tool)]
        };
        let pace = |catalogue: &Catalogue| catalogue.get("a").unwrap().pace.clone();
        let first = Catalogue::default().with(limited(Some(5)));
        let second = first.with(limited(Some(9)));
        let kept = Arc::ptr_eq(&pace(&first).unwrap(), &pace(&second).unwrap());
        assert!(kept, "a new version goes on where the old one was");
        let third = second.with(limited(None));
        assert!(pace(&third).is_none(), "an unlimited tool is not measured");
        let fourth = pace(&third.with(limited(Some(9)))).unwrap();
        assert!(!Arc::ptr_eq(&fourth, &pace(&first).unwrap()));
    }

    #[test]
    fn a_renamed_tool_is_found_by_its_new_name_only() {
        let first = Catalogue::default().with(vec![Change::Put(tool("old", SYSTEM_USER))]);
        let mut renamed = tool("old", SYSTEM_USER);
        renamed.definition.name = "new".into();
        let id = renamed.id;
        let second = first.with(vec![Change::Put(renamed)]);
        assert!(second.get("old").is_none());
        assert_eq!(*second.find(&id.to_string()).unwrap().name, *"new");
        assert!(second.with(vec![Change::Remove(id)]).is_empty());
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_dropped_waiter_leaves_it() {
        let gate = Gate::default();
        let first = gate.pass(1).await.unwrap();
        let mut waiter = Box::pin(gate.pass(1));
        assert!(futures_poll(waiter.as_mut()).is_none());
        assert_eq!(gate.pass(1).await.unwrap_err(), QueueFull);
        drop(waiter);
        let mut waiter = Box::pin(gate.pass(1));
        assert!(futures_poll(waiter.as_mut()).is_none());
        drop(first);
        assert!(waiter.await.is_ok());
    }

    fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.poll(&mut context) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        }
    }
}
