//! Web pages: as a document (all of it) or as a page that was fetched (what it is about, without the navigation).

mod blocks;
mod content;
mod tree;

use url::Url;

use crate::error::{Error, Fault, Format};
use crate::inline::tidy;
use crate::markdown::Writer;
use crate::metadata::Metadata;
use crate::xml::{Node, Tree};
use crate::{Document, Limits};

/// A web page as Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What the page calls itself; empty if it does not.
    pub title: String,
    /// What it says.
    pub markdown: String,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

/// The content of a page that was fetched from `base_url`: links absolute, navigation and hidden text left out.
///
/// # Errors
/// Only [`Error::TooLarge`] and [`Error::Empty`]; HTML that is not well formed is read as browsers do.
pub fn html_to_markdown(
    html: &str,
    base_url: Option<&str>,
    limits: &Limits,
) -> Result<Page, Error> {
    let page =
        convert(html, base_url, Scope::Content, limits).map_err(|fault| fault.of(Format::Html))?;
    if page.markdown.is_empty() && page.title.is_empty() {
        return Err(Error::Empty);
    }
    Ok(Page {
        title: page.title,
        markdown: page.markdown,
        warnings: page.warnings,
    })
}

/// The same for a page as it came: `charset` is what the server said of it, if it did.
///
/// # Errors
/// Those of [`html_to_markdown`], and [`Error::Unsupported`] for what is no text.
pub fn page_to_markdown(
    bytes: &[u8],
    charset: Option<&str>,
    base_url: Option<&str>,
    limits: &Limits,
) -> Result<Page, Error> {
    let decoded = crate::text::decode_page(bytes, charset);
    let decoded = decoded.ok_or_else(|| Error::unsupported("a page that is no text"))?;
    html_to_markdown(&decoded.text, base_url, limits)
}

/// A single tag may fill a page with its attributes, which take many times their length in memory.
const PAGE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How much of a page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Whole,
    Content,
}

struct Converted {
    title: String,
    author: Option<String>,
    description: Option<String>,
    markdown: String,
    warnings: Vec<String>,
}

pub(crate) fn parse(html: &str, limits: &Limits) -> Result<Document, Error> {
    let page = convert(html, None, Scope::Whole, limits).map_err(|fault| fault.of(Format::Html))?;
    let mut metadata = Metadata::new(Format::Html);
    metadata.text("title", &page.title);
    metadata.text("author", page.author.as_deref().unwrap_or(""));
    metadata.text("description", page.description.as_deref().unwrap_or(""));
    Ok(Document {
        markdown: page.markdown,
        metadata: metadata.finish(),
        warnings: page.warnings,
    })
}

fn convert(
    html: &str,
    base_url: Option<&str>,
    scope: Scope,
    limits: &Limits,
) -> Result<Converted, Fault> {
    let bytes_max = limits.input_bytes_max.min(PAGE_BYTES_MAX);
    if html.len() as u64 > bytes_max {
        return Err(Fault::TooLarge {
            what: "bytes of the page",
            limit: bytes_max,
        });
    }
    let tree = tree::parse(html, limits)?;
    let root = tree.root();
    let base = base(root, base_url);
    let whole = root
        .descendants()
        .find(|node| node.is("body"))
        .unwrap_or(root);
    let content = if scope == Scope::Content {
        content::of(whole)
    } else {
        whole
    };
    let blocks = blocks::of(
        content,
        base.as_ref(),
        scope == Scope::Content && content.is("body"),
    );
    let mut writer = Writer::new(limits.markdown_bytes_max);
    writer.blocks(&blocks);
    let warnings = if writer.is_full() {
        vec![crate::cut_warning(limits)]
    } else {
        Vec::new()
    };
    Ok(Converted {
        title: title(&tree),
        author: meta(root, "author"),
        description: meta(root, "description").or_else(|| meta(root, "og:description")),
        markdown: writer.finish(),
        warnings,
    })
}

/// What relative links are relative to: the page may say so itself.
fn base(root: Node<'_>, base_url: Option<&str>) -> Option<Url> {
    let own = base_url.and_then(|text| Url::parse(text).ok());
    let named = root
        .descendants()
        .find(|node| node.is("base"))
        .and_then(|node| node.attribute("href"));
    match (named, own) {
        (Some(named), Some(own)) => own.join(named).ok().or(Some(own)),
        (Some(named), None) => Url::parse(named).ok(),
        (None, own) => own,
    }
}

fn title(tree: &Tree) -> String {
    let root = tree.root();
    // An `svg` may have a title too, and stands in the body.
    let own = root
        .descendants()
        .find(|node| node.is("title"))
        .map(Node::text)
        .filter(|text| !text.trim().is_empty());
    let heading = || {
        root.descendants()
            .find(|node| node.is("h1"))
            .map(Node::text)
    };
    let title = own
        .or_else(|| meta(root, "og:title"))
        .or_else(heading)
        .unwrap_or_default();
    tidy(&title).replace('\n', " ")
}

fn meta(root: Node<'_>, name: &str) -> Option<String> {
    let found = root.descendants().find(|node| {
        let named = |attribute: &str| {
            node.attribute(attribute)
                .is_some_and(|value| value.eq_ignore_ascii_case(name))
        };
        node.is("meta") && (named("name") || named("property"))
    })?;
    found
        .attribute("content")
        .map(str::to_owned)
        .filter(|text| !text.trim().is_empty())
}
