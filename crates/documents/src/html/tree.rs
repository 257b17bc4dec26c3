//! A tree from HTML as it is found: tags that close themselves, tags that are never closed, tags in the wrong order.
//! A simple cousin of the standard's algorithm. It is linear in the page's length, which the standard's is not.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{HtmlString, StartTag, Token, Tokenizer};

use crate::Limits;
use crate::error::Fault;
use crate::xml::{Builder, Tree};

const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// The attributes that anyone asks for.
const ATTRIBUTES: &[&str] = &[
    "alt",
    "aria-hidden",
    "class",
    "colspan",
    "content",
    "hidden",
    "href",
    "id",
    "name",
    "property",
    "role",
    "rowspan",
    "src",
    "start",
    "style",
];

/// What ends a paragraph that nobody closed.
const ENDS_PARAGRAPH: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "div",
    "dl",
    "dd",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "ul",
];

pub(super) fn parse(html: &str, limits: &Limits) -> Result<Tree, Fault> {
    let mut emitter: DefaultEmitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut maker = Maker {
        builder: Builder::new(limits),
        open_paragraphs: 0,
    };
    maker.builder.open(PAGE, std::iter::empty())?;
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => maker.start(&tag)?,
            Token::EndTag(tag) => maker.end(known_name(&text(&tag.name))),
            Token::String(string) => maker.builder.text(&text(&string))?,
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    while maker.builder.open_names().next().is_some() {
        maker.builder.close();
    }
    maker.builder.finish()
}

/// The element that holds the whole page.
const PAGE: &str = "#page";

struct Maker {
    builder: Builder,
    /// How many paragraphs are open: most often none, and then none has to be looked for.
    open_paragraphs: usize,
}

impl Maker {
    fn start(&mut self, tag: &StartTag<()>) -> Result<(), Fault> {
        let name = text(&tag.name);
        let name = known_name(&name);
        // Past the depth that any real page has, elements are left out and their texts kept.
        if self.builder.is_deep() {
            return Ok(());
        }
        let (closed, within): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "menu"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl"]),
            "td" | "th" => (&["td", "th"], &["tr", "table"]),
            "tr" => (&["tr"], &["table"]),
            "thead" | "tbody" | "tfoot" => (&["thead", "tbody", "tfoot"], &["table"]),
            "option" => (&["option"], &["select"]),
            "body" => (&["head"], &[]),
            _ => (&[], &[]),
        };
        self.close_to(closed, within);
        if self.open_paragraphs > 0 && ENDS_PARAGRAPH.contains(&name) {
            self.close_to(&["p"], &["td", "th", "table", "button", "li", "blockquote"]);
        }
        let attributes = tag
            .attributes
            .iter()
            .map(|(name, value)| (text(name), text(value)));
        let attributes: Vec<(String, String)> = attributes
            .filter(|(name, _)| ATTRIBUTES.contains(&name.as_str()))
            .collect();
        self.builder.open(
            name,
            attributes
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        )?;
        self.open_paragraphs += usize::from(name == "p");
        if tag.self_closing && !is_html(name) || VOID.contains(&name) {
            self.builder.close();
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        // What a cell holds does not reach out of it.
        let within: &[&str] = match name {
            "table" | "tr" | "td" | "th" | "thead" | "tbody" | "tfoot" => &[],
            "body" | "html" => return,
            _ => &["td", "th"],
        };
        self.close_to(&[name], within);
    }

    /// Closes everything up to the innermost element of these names, if there is one before `within` begins.
    fn close_to(&mut self, names: &[&str], within: &[&str]) {
        if names.is_empty() {
            return;
        }
        let (mut steps, mut paragraphs, mut found) = (0, 0, false);
        for open in self.builder.open_names() {
            steps += 1;
            paragraphs += usize::from(open == "p");
            found = names.contains(&open);
            if found || within.contains(&open) || open == PAGE {
                break;
            }
        }
        if found {
            (0..steps).for_each(|_| self.builder.close());
            self.open_paragraphs -= paragraphs;
        }
    }
}

/// Whether `<name/>` opens an element all the same. In the drawings and formulas inside a page it does not.
fn is_html(name: &str) -> bool {
    !matches!(
        name,
        "path"
            | "circle"
            | "rect"
            | "line"
            | "use"
            | "polygon"
            | "polyline"
            | "ellipse"
            | "g"
            | "mspace"
            | "mprescripts"
            | "none"
    )
}

/// A name that could be that of an element: short and of letters. What programs make up stands for no more than a
/// stretch of text, and is kept out of the list of names.
fn known_name(name: &str) -> &str {
    let plain = name.len() <= 16 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain { name } else { "span" }
}

fn text(string: &HtmlString) -> String {
    String::from_utf8_lossy(string).into_owned()
}
