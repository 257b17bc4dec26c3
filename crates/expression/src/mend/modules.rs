//! Modules: which name stands for one, what is taken from it, and `math`, of which some functions are ours.

use super::Mender;
use crate::words::{MODULES, is_math, is_str_method, mended_math, refused_module};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{Expr, ExprAttribute, ExprCall, StmtImportFrom};
use ruff_text_size::{Ranged, TextRange};

impl<'a> Mender<'a> {
    /// The module that a name stands for.
    pub(super) fn module_named(&self, name: &str) -> Option<&str> {
        if self.bound(name) {
            return None;
        }
        let mut imports = self.module.imports.iter();
        match imports.find(|import| import.alias == name) {
            Some(import) => import.member.is_none().then_some(import.module),
            None => MODULES.iter().find(|module| **module == name).copied(),
        }
    }

    pub(super) fn check_imports(&mut self) {
        let mixed = self.module.imports.iter().find(|import| {
            import.module == "math"
                && (self.module.has(import.alias) || self.given.contains(&import.alias))
        });
        if let Some(import) = mixed {
            let message = format!(
                "the name '{}' is both imported and a variable; choose another",
                import.alias
            );
            self.refuse(TextRange::default(), message);
        }
    }

    /// A module that is used without having been imported.
    pub(super) fn import_module(&mut self, id: &str) {
        if !self.module.imports.iter().any(|import| import.alias == id) {
            self.imports.insert(format!("import {id}"));
        }
    }

    pub(super) fn attribute(&mut self, attribute: &'a ExprAttribute, whole: &'a Expr) {
        let attr = attribute.attr.as_str();
        if matches!(attr, "now" | "utcnow" | "today") {
            self.clock.get_or_insert(attribute.range.start().to_usize());
        }
        if let Expr::Name(name) = &*attribute.value
            && self.module_named(name.id.as_str()) == Some("math")
        {
            if let Some(mended) = mended_math(attr, self.careful()) {
                let helper = self.helper(mended);
                let range = attribute.range;
                return self.replace(range.start().to_usize(), range.end().to_usize(), helper);
            }
            return self.import_module(name.id.as_str());
        }
        if let Expr::Name(name) = &*attribute.value
            && name.id == "str"
            && !self.bound("str")
            && is_str_method(attr)
        {
            let range = attribute.range;
            let text = format!("(lambda _tc_text, *_tc_rest: _tc_text.{attr}(*_tc_rest))");
            return self.replace(range.start().to_usize(), range.end().to_usize(), text);
        }
        walk_expr(self, whole);
    }

    /// Whether what is called is `datetime.timedelta`.
    pub(super) fn is_timedelta(&self, called: &'a Expr) -> bool {
        match called {
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(name) => {
                    attribute.attr.as_str() == "timedelta"
                        && self.module_named(name.id.as_str()) == Some("datetime")
                }
                _ => false,
            },
            Expr::Name(name) if !self.bound(name.id.as_str()) => {
                let id = name.id.as_str();
                let mut imports = self.module.imports.iter();
                match imports.find(|import| import.alias == id) {
                    Some(import) => import.member == Some("timedelta"),
                    None => id == "timedelta",
                }
            }
            _ => false,
        }
    }

    /// The name in `math` of what is called.
    pub(super) fn math_member(&self, called: &'a Expr) -> Option<&'a str> {
        match called {
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(name) if self.module_named(name.id.as_str()) == Some("math") => {
                    Some(attribute.attr.as_str())
                }
                _ => None,
            },
            Expr::Name(name) if !self.bound(name.id.as_str()) => {
                let id = name.id.as_str();
                let mut imports = self.module.imports.iter();
                match imports.find(|import| import.alias == id) {
                    Some(import) if import.module == "math" => import.member,
                    Some(_) => None,
                    None => is_math(id).then_some(id),
                }
            }
            _ => None,
        }
    }

    /// Makes floats of the arguments of functions that take no large integers.
    pub(super) fn fit_arguments(&mut self, call: &'a ExprCall) {
        self.visit_expr(&call.func);
        for argument in &call.arguments.args {
            if argument.is_starred_expr() || argument.is_generator_expr() {
                self.visit_expr(argument);
                continue;
            }
            self.insert_call(argument.start().to_usize(), "_tc_fit");
            self.visit_expr(argument);
            self.insert(argument.end().to_usize(), ")");
        }
        for keyword in &call.arguments.keywords {
            self.visit_keyword(keyword);
        }
    }

    pub(super) fn import_from(&mut self, import: &'a StmtImportFrom) {
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        if import.level > 0 || module.is_empty() {
            let message = "ImportError: attempted relative import with no known parent package";
            return self.refuse(import.range, message);
        }
        if let Some(message) = refused_module(module) {
            return self.refuse(import.range, message);
        }
        let careful = self.careful();
        let ours = |name: &str| module == "math" && mended_math(name, careful).is_some();
        if !import.names.iter().any(|alias| ours(alias.name.as_str())) {
            return;
        }
        let left: Vec<&str> = import
            .names
            .iter()
            .filter(|alias| !ours(alias.name.as_str()))
            .map(|alias| &self.source[alias.range])
            .collect();
        let text = match left.as_slice() {
            [] => "pass ".to_owned(),
            left => format!("from math import {} ", left.join(", ")),
        };
        let range = import.range;
        self.replace(range.start().to_usize(), range.end().to_usize(), text);
    }
}
