//! A subschema together with its base, and where its references lead. The validator's own resolver tells: a second
//! one would disagree with it some day.

use jsonschema::{Draft, Registry, Uri};
use referencing::{Error, List, Resolver};
use serde_json::Value;
use std::sync::Arc;

/// The base of a document that names none; the validator takes the same.
const NO_BASE: &str = "json-schema:///";

/// Keywords whose value is a map of schemas.
const MAPS: [&str; 6] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
];

/// Keywords whose value is one schema or a list of them.
const SCHEMAS: [&str; 16] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "prefixItems",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
];

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Learns what the document's `$id`s and anchors name. Nothing is fetched.
pub(super) fn registry(root: &Value) -> Result<Registry<'_>, Error> {
    let draft = Draft::default().detect(root);
    let resource = draft.create_resource_ref(root);
    let base = resource.id().unwrap_or(NO_BASE).to_owned();
    let registry = Registry::new().draft(draft);
    registry.add(base, resource)?.prepare()
}

#[derive(Clone)]
pub(super) struct Subschema<'r> {
    pub value: &'r Value,
    resolver: Resolver<'r>,
    draft: Draft,
}

impl<'r> Subschema<'r> {
    pub(super) fn root(registry: &'r Registry<'r>, value: &'r Value) -> Result<Self, Error> {
        let draft = Draft::default().detect(value);
        let base = draft
            .create_resource_ref(value)
            .id()
            .unwrap_or(NO_BASE)
            .to_owned();
        let resolver = registry.resolver(jsonschema::uri::from_str(&base)?);
        Ok(Subschema {
            value,
            resolver,
            draft,
        })
    }

    /// One of its parts, which may have a base of its own.
    fn part(&self, value: &'r Value) -> Result<Self, Error> {
        let draft = self.draft.detect(value);
        let resource = draft.create_resource_ref(value);
        Ok(Subschema {
            value,
            resolver: self.resolver.in_subresource(resource)?,
            draft,
        })
    }

    /// Calls `visit` with keyword, name or number, and part. Of a part whose base is none there is only the value.
    pub(super) fn each_part(&self, mut visit: impl FnMut(&'r str, &str, Result<Self, Error>)) {
        for (keyword, value) in self.value.as_object().into_iter().flatten() {
            let keyword = keyword.as_str();
            let is_one = SCHEMAS.contains(&keyword);
            match value {
                Value::Object(members) if MAPS.contains(&keyword) => {
                    for (name, member) in members {
                        visit(keyword, name, self.part(member));
                    }
                }
                Value::Array(items) if is_one => {
                    for (i, item) in items.iter().enumerate() {
                        visit(keyword, &i.to_string(), self.part(item));
                    }
                }
                Value::Object(_) if is_one => visit(keyword, "", self.part(value)),
                _ => {}
            }
        }
    }

    /// Its references: keyword and text.
    pub(super) fn references(&self) -> impl Iterator<Item = (&'static str, &'r str)> + use<'r> {
        let schema = self.value;
        let reference = move |keyword| Some((keyword, schema.get(keyword)?.as_str()?));
        REFERENCES.into_iter().filter_map(reference)
    }

    pub(super) fn target(&self, keyword: &str, reference: &str) -> Result<Self, Error> {
        let resolved = match keyword {
            "$recursiveRef" => self.resolver.lookup_recursive_ref()?,
            _ => self.resolver.lookup(reference)?,
        };
        let (value, resolver, draft) = resolved.into_inner();
        Ok(Subschema {
            value,
            resolver,
            draft,
        })
    }

    /// The reference with its base.
    pub(super) fn address(&self, reference: &str) -> Result<Arc<Uri<String>>, Error> {
        let base = self.base();
        self.resolver.resolve_uri(&base.borrow(), reference)
    }

    pub(super) fn base(&self) -> Arc<Uri<String>> {
        self.resolver.base_uri()
    }

    /// The bases that led here.
    pub(super) fn scope(&self) -> List<Uri<String>> {
        self.resolver.dynamic_scope()
    }
}
