//! What the three Office formats share: parts that point to each other, and properties.

use std::collections::HashMap;

use crate::Limits;
use crate::error::{Fault, Format};
use crate::metadata::Metadata;
use crate::xml::{Node, Tree};
use crate::zip::Archive;

/// Where a part points to: relationship id → target.
#[derive(Default)]
pub(crate) struct Relations(HashMap<String, Relation>);

struct Relation {
    kind: String,
    target: String,
    external: bool,
}

impl Relations {
    /// The relations of a part; none if it has none.
    pub(crate) fn of(archive: &Archive<'_>, part: &str, limits: &Limits) -> Result<Self, Fault> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let path = if folder.is_empty() {
            format!("_rels/{name}.rels")
        } else {
            format!("{folder}/_rels/{name}.rels")
        };
        let Some(tree) = read(archive, &path, limits)? else {
            return Ok(Self::default());
        };
        let found = tree.root().children().filter_map(|node| {
            let target = node.attribute("Target")?;
            let external = node
                .attribute("TargetMode")
                .is_some_and(|mode| mode.eq_ignore_ascii_case("external"));
            let target = if external {
                target.to_owned()
            } else {
                resolve(folder, target)
            };
            let kind = node
                .attribute("Type")
                .unwrap_or("")
                .rsplit('/')
                .next()
                .unwrap_or("")
                .to_owned();
            Some((
                node.attribute("Id")?.to_owned(),
                Relation {
                    kind,
                    target,
                    external,
                },
            ))
        });
        Ok(Self(found.collect()))
    }

    /// The part that an id stands for.
    pub(crate) fn part(&self, id: &str) -> Option<&str> {
        self.0
            .get(id)
            .filter(|relation| !relation.external)
            .map(|relation| relation.target.as_str())
    }

    /// The address that an id stands for.
    pub(crate) fn address(&self, id: &str) -> Option<&str> {
        self.0
            .get(id)
            .filter(|relation| relation.external)
            .map(|relation| relation.target.as_str())
    }

    /// The part of a kind, such as `styles`.
    pub(crate) fn of_kind(&self, kind: &str) -> Option<&str> {
        self.0
            .values()
            .find(|relation| relation.kind == kind && !relation.external)
            .map(|relation| relation.target.as_str())
    }
}

/// A part as a tree; `None` if there is no such part.
pub(crate) fn read(
    archive: &Archive<'_>,
    path: &str,
    limits: &Limits,
) -> Result<Option<Tree>, Fault> {
    archive
        .read(path)?
        .map(|bytes| Tree::parse(&bytes, limits))
        .transpose()
}

/// The main part, which a package may put anywhere; by default it is where every program puts it.
pub(crate) fn main_part(
    archive: &Archive<'_>,
    usual: &str,
    limits: &Limits,
) -> Result<String, Fault> {
    if archive.has(usual) {
        return Ok(usual.to_owned());
    }
    let relations = Relations::of(archive, "", limits)?;
    relations
        .of_kind("officeDocument")
        .map(str::to_owned)
        .ok_or(Fault::Broken("its main part is missing"))
}

/// Which format a package is, when its main part is not in the usual place.
pub(crate) fn main_format(archive: &Archive<'_>, limits: &Limits) -> Option<Format> {
    let types = read(archive, "[Content_Types].xml", limits).ok()??;
    let main = types
        .root()
        .children()
        .filter_map(|node| node.attribute("ContentType"))
        .find(|kind| kind.ends_with(".main+xml"))?;
    let known = [
        ("wordprocessingml", Format::Docx),
        ("spreadsheetml", Format::Xlsx),
        ("presentationml", Format::Pptx),
    ];
    known
        .iter()
        .find(|(name, _)| main.contains(name))
        .map(|(_, format)| *format)
}

/// Title, author and dates. They are never worth an error.
pub(crate) fn properties(archive: &Archive<'_>, metadata: &mut Metadata, limits: &Limits) {
    let Ok(Some(core)) = read(archive, "docProps/core.xml", limits) else {
        return;
    };
    let root = core.root();
    let names = [
        ("title", "title"),
        ("creator", "author"),
        ("subject", "subject"),
        ("created", "created"),
        ("modified", "modified"),
    ];
    for (element, key) in names {
        metadata.text(
            key,
            &root.child(element).map(Node::text).unwrap_or_default(),
        );
    }
}

/// The choices of `mc:AlternateContent`: what newer programs show, or else what older ones do.
pub(crate) fn alternate(node: Node<'_>) -> Option<Node<'_>> {
    node.child("Choice").or_else(|| node.child("Fallback"))
}

/// Whether a switch such as `<w:b/>` is on: it is unless it says otherwise.
pub(crate) fn is_on(node: Option<Node<'_>>) -> bool {
    node.is_some_and(|node| !matches!(node.attribute("val"), Some("0" | "false" | "off" | "none")))
}

fn resolve(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut path: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in target.split('/') {
        match step {
            ".." => drop(path.pop()),
            "." | "" => {}
            step => path.push(step),
        }
    }
    path.join("/")
}
