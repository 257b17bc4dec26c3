//! XML parts as a flat tree: bounded in depth and number, names without their prefixes. Documents have no use for
//! document types, so there are none here, and with them no entities that unfold into gigabytes.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::Limits;
use crate::error::Fault;

const BROKEN: Fault = Fault::Broken("its XML is not well formed");
const NONE: u32 = u32::MAX;
/// Elements have a handful of attributes, and a format a few hundred names. Past these it is an attack on memory.
const ATTRIBUTES_MAX: usize = 1_024;
const NAMES_MAX: usize = 20_000;

/// A parsed part.
pub(crate) struct Tree {
    nodes: Vec<Raw>,
    attributes: Vec<Attribute>,
    text: String,
    names: Vec<Box<str>>,
}

/// An element (`name` set: `from..to` are its attributes) or a text (`from..to` lie in the text).
#[derive(Clone, Copy)]
struct Raw {
    name: u32,
    from: u32,
    to: u32,
    first: u32,
    next: u32,
}

struct Attribute {
    name: u32,
    from: u32,
    to: u32,
}

/// An element or a text of a [`Tree`].
#[derive(Clone, Copy)]
pub(crate) struct Node<'t> {
    tree: &'t Tree,
    id: u32,
}

impl Tree {
    pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Self, Fault> {
        let source = decode(bytes)?;
        let mut builder = Builder::new(limits);
        let mut reader = Reader::from_str(&source);
        loop {
            match reader.read_event().map_err(|_| BROKEN)? {
                Event::Start(start) => begin(&mut builder, &start)?,
                Event::Empty(start) => {
                    begin(&mut builder, &start)?;
                    builder.close();
                }
                Event::End(_) => builder.close(),
                Event::Text(text) => builder.text(&text.xml10_content())?,
                Event::CData(text) => builder.text(&text.xml10_content())?,
                Event::GeneralRef(reference) => {
                    let mut buffer = [0; 4];
                    builder.text(resolve(&reference)?.encode_utf8(&mut buffer))?;
                }
                Event::DocType(_) => {
                    return Err(Fault::Broken(
                        "it declares a document type, which no document of its kind does",
                    ));
                }
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
        builder.finish()
    }

    pub(crate) fn root(&self) -> Node<'_> {
        Node { tree: self, id: 0 }
    }
}

impl<'t> Node<'t> {
    /// The element's name without its prefix; empty for a text.
    pub(crate) fn name(self) -> &'t str {
        let raw = self.raw();
        if raw.name == NONE {
            ""
        } else {
            &self.tree.names[raw.name as usize]
        }
    }

    /// Which node of its tree it is.
    pub(crate) fn id(self) -> u32 {
        self.id
    }

    pub(crate) fn is(self, name: &str) -> bool {
        self.name() == name
    }

    /// An attribute. `val` finds `w:val` too; `r:id` finds that, or an `id` under another prefix, but never a bare `id`.
    pub(crate) fn attribute(self, name: &str) -> Option<&'t str> {
        let raw = self.raw();
        if raw.name == NONE {
            return None;
        }
        let own = &self.tree.attributes[raw.from as usize..raw.to as usize];
        let named = |attribute: &&Attribute| &*self.tree.names[attribute.name as usize] == name;
        let local = name.rsplit(':').next().unwrap_or(name);
        let alike = |attribute: &&Attribute| {
            let full = &*self.tree.names[attribute.name as usize];
            full.split_once(':').is_some_and(|(_, own)| own == local)
        };
        let found = own.iter().find(named).or_else(|| own.iter().find(alike))?;
        Some(&self.tree.text[found.from as usize..found.to as usize])
    }

    pub(crate) fn number<T: std::str::FromStr>(self, name: &str) -> Option<T> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// The children, texts among them.
    pub(crate) fn children(self) -> impl Iterator<Item = Node<'t>> {
        let tree = self.tree;
        let mut next = self.raw().first;
        if self.raw().name == NONE {
            next = NONE;
        }
        std::iter::from_fn(move || {
            let id = next;
            next = tree.nodes.get(id as usize)?.next;
            Some(Node { tree, id })
        })
    }

    pub(crate) fn child(self, name: &str) -> Option<Node<'t>> {
        self.children().find(|child| child.is(name))
    }

    /// Follows one child after another.
    pub(crate) fn path(self, names: &[&str]) -> Option<Node<'t>> {
        names.iter().try_fold(self, |node, name| node.child(name))
    }

    /// The element and everything in it, in the order of the document.
    pub(crate) fn descendants(self) -> impl Iterator<Item = Node<'t>> {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            let at = waiting.len();
            waiting.extend(node.children());
            waiting[at..].reverse();
            Some(node)
        })
    }

    /// The outermost elements of a name within this one. What they hold is not looked at: walking it again for every
    /// level would double the work with each.
    pub(crate) fn outermost(self, name: &'t str) -> impl Iterator<Item = Node<'t>> {
        let mut waiting: Vec<Node<'t>> = self.children().collect();
        waiting.reverse();
        std::iter::from_fn(move || {
            loop {
                let node = waiting.pop()?;
                if node.is(name) {
                    return Some(node);
                }
                let at = waiting.len();
                waiting.extend(node.children());
                waiting[at..].reverse();
            }
        })
    }

    /// The text of a text; empty for an element.
    pub(crate) fn own_text(self) -> &'t str {
        let raw = self.raw();
        if raw.name == NONE {
            &self.tree.text[raw.from as usize..raw.to as usize]
        } else {
            ""
        }
    }

    /// All text within.
    pub(crate) fn text(self) -> String {
        self.descendants().map(Node::own_text).collect()
    }

    fn raw(self) -> Raw {
        self.tree.nodes[self.id as usize]
    }
}

/// Makes a [`Tree`] of openings, texts and closings, whatever language they are read from.
pub(crate) struct Builder {
    tree: Tree,
    known: HashMap<Box<str>, u32>,
    /// The open elements, each with its last child so far.
    open: Vec<(u32, u32)>,
    depth_max: usize,
    nodes_max: usize,
}

impl Builder {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            tree: Tree {
                nodes: Vec::new(),
                attributes: Vec::new(),
                text: String::new(),
                names: Vec::new(),
            },
            known: HashMap::new(),
            open: Vec::new(),
            depth_max: usize::try_from(limits.depth_max).unwrap_or(usize::MAX),
            nodes_max: usize::try_from(limits.nodes_max).unwrap_or(usize::MAX),
        }
    }

    /// Opens an element, attributes with their names in full.
    pub(crate) fn open<'a>(
        &mut self,
        name: &str,
        attributes: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), Fault> {
        if self.is_deep() {
            return Err(Fault::TooLarge {
                what: "depth of nested elements",
                limit: self.depth_max as u64,
            });
        }
        let name = self.name(name)?;
        let from = self.tree.attributes.len() as u32;
        for (name, value) in attributes {
            let name = self.name(name)?;
            self.room(self.tree.attributes.len())?;
            let (from, to) = self.append(value);
            self.tree.attributes.push(Attribute { name, from, to });
        }
        let to = self.tree.attributes.len() as u32;
        let id = self.add(Raw {
            name,
            from,
            to,
            first: NONE,
            next: NONE,
        })?;
        self.open.push((id, NONE));
        Ok(())
    }

    pub(crate) fn close(&mut self) {
        self.open.pop();
    }

    /// Whether one more element would be too deep.
    pub(crate) fn is_deep(&self) -> bool {
        self.open.len() >= self.depth_max
    }

    /// The names of the open elements, innermost first.
    pub(crate) fn open_names(&self) -> impl Iterator<Item = &str> {
        self.open
            .iter()
            .rev()
            .map(|(id, _)| &*self.tree.names[self.tree.nodes[*id as usize].name as usize])
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<(), Fault> {
        let Some(&(_, last)) = self.open.last() else {
            return Ok(());
        };
        // Text comes in pieces when it holds references: grow the piece before, which ends where the text ends.
        if let Some(raw) = self.tree.nodes.get_mut(last as usize)
            && raw.name == NONE
            && raw.to as usize == self.tree.text.len()
        {
            self.tree.text.push_str(text);
            raw.to = self.tree.text.len() as u32;
            return Ok(());
        }
        let (from, to) = self.append(text);
        self.add(Raw {
            name: NONE,
            from,
            to,
            first: NONE,
            next: NONE,
        })?;
        Ok(())
    }

    fn add(&mut self, raw: Raw) -> Result<u32, Fault> {
        self.room(self.tree.nodes.len())?;
        let id = self.tree.nodes.len() as u32;
        self.tree.nodes.push(raw);
        if let Some((parent, last)) = self.open.last_mut() {
            match *last {
                NONE => self.tree.nodes[*parent as usize].first = id,
                last => self.tree.nodes[last as usize].next = id,
            }
            *last = id;
        }
        Ok(id)
    }

    fn append(&mut self, text: &str) -> (u32, u32) {
        let from = self.tree.text.len() as u32;
        self.tree.text.push_str(text);
        (from, self.tree.text.len() as u32)
    }

    fn room(&self, used: usize) -> Result<(), Fault> {
        if used < self.nodes_max {
            return Ok(());
        }
        Err(Fault::TooLarge {
            what: "number of elements in one part",
            limit: self.nodes_max as u64,
        })
    }

    fn name(&mut self, name: &str) -> Result<u32, Fault> {
        if let Some(known) = self.known.get(name) {
            return Ok(*known);
        }
        if self.tree.names.len() >= NAMES_MAX {
            return Err(Fault::TooLarge {
                what: "number of different names in one part",
                limit: NAMES_MAX as u64,
            });
        }
        let id = self.tree.names.len() as u32;
        self.tree.names.push(name.into());
        self.known.insert(name.into(), id);
        Ok(id)
    }

    pub(crate) fn finish(self) -> Result<Tree, Fault> {
        if !self.open.is_empty() || self.tree.nodes.first().is_none_or(|root| root.name == NONE) {
            return Err(BROKEN);
        }
        Ok(self.tree)
    }
}

fn begin(builder: &mut Builder, start: &BytesStart<'_>) -> Result<(), Fault> {
    let mut attributes = Vec::new();
    for attribute in start
        .attributes()
        .with_checks(false)
        .take(ATTRIBUTES_MAX + 1)
    {
        let attribute = attribute.map_err(|_| BROKEN)?;
        attributes.push((
            attribute.key.as_ref().to_owned(),
            unescape(&attribute.value)?.into_owned(),
        ));
    }
    if attributes.len() > ATTRIBUTES_MAX {
        return Err(Fault::TooLarge {
            what: "number of attributes of one element",
            limit: ATTRIBUTES_MAX as u64,
        });
    }
    builder.open(
        start.local_name().as_ref(),
        attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    )
}

/// The bytes of a part as text: UTF-8, or what its byte order mark says.
pub(crate) fn decode(bytes: &[u8]) -> Result<std::borrow::Cow<'_, str>, Fault> {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, skip)) => Ok(encoding.decode_without_bom_handling(&bytes[skip..]).0),
        None => std::str::from_utf8(bytes)
            .map(Into::into)
            .map_err(|_| BROKEN),
    }
}

/// A reference in a text: one of the five that XML has, or a number.
pub(crate) fn resolve(reference: &BytesRef<'_>) -> Result<char, Fault> {
    if let Some(c) = reference.resolve_char_ref().map_err(|_| BROKEN)? {
        return Ok(c);
    }
    named(&reference.xml10_content()).ok_or(BROKEN)
}

fn named(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

pub(crate) fn unescape(value: &str) -> Result<std::borrow::Cow<'_, str>, Fault> {
    quick_xml::escape::unescape(value).map_err(|_| BROKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Tree, Fault> {
        Tree::parse(text.as_bytes(), &Limits::default())
    }

    #[test]
    fn reads_names_attributes_and_text_with_references() {
        let tree = parse("<w:p xmlns:w='x' r:id='9' id='7'><w:t>A&amp;B &#xAC00;<![CDATA[<]]></w:t><e w:val='&lt;'/></w:p>").unwrap();
        let root = tree.root();
        assert_eq!((root.name(), root.text().as_str()), ("p", "A&B 가<"));
        assert_eq!(
            (root.attribute("id"), root.attribute("r:id")),
            (Some("7"), Some("9"))
        );
        assert_eq!(root.child("e").unwrap().attribute("val"), Some("<"));
    }

    #[test]
    fn refuses_document_types_depth_and_what_does_not_end() {
        assert!(matches!(
            parse("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
            Err(Fault::Broken(_))
        ));
        assert!(matches!(
            parse(&"<a>".repeat(1_000)),
            Err(Fault::TooLarge { .. })
        ));
        assert!(matches!(parse("<a><b></b>"), Err(Fault::Broken(_))));
        assert!(matches!(parse("<a>&unknown;</a>"), Err(Fault::Broken(_))));
        assert!(matches!(parse(""), Err(Fault::Broken(_))));
    }
}
