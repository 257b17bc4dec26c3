//! Which names an author binds, scope by scope: only a name that is not bound may get a meaning from us.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{ExceptHandler, Expr, ExprContext, Parameters, Stmt};
use ruff_text_size::Ranged;
use std::collections::HashMap;

/// A name that an import binds.
pub(crate) struct Import<'a> {
    pub(crate) alias: &'a str,
    pub(crate) module: &'a str,
    /// What is taken from the module; nothing if it is the module itself.
    pub(crate) member: Option<&'a str>,
}

/// The names that one scope binds, and where each is bound first.
#[derive(Default)]
pub(crate) struct Bindings<'a> {
    names: HashMap<&'a str, usize>,
    /// Of the module: every import, at whatever depth.
    pub(crate) imports: Vec<Import<'a>>,
    /// Declared `global` here, so bound in the module.
    globals: Vec<&'a str>,
    /// How many comprehensions we are in: their targets are their own.
    comprehensions: usize,
    /// Whether functions are looked into, for what they declare `global`.
    module: bool,
    inside: usize,
}

impl<'a> Bindings<'a> {
    pub(crate) fn of_module(body: &'a [Stmt]) -> Self {
        let mut bindings = Bindings {
            module: true,
            ..Bindings::default()
        };
        body.iter().for_each(|stmt| bindings.visit_stmt(stmt));
        let globals = std::mem::take(&mut bindings.globals);
        for name in globals {
            bindings.names.entry(name).or_insert(0);
        }
        bindings
    }

    pub(crate) fn of_function(parameters: &'a Parameters, body: &'a [Stmt]) -> Self {
        let mut bindings = Bindings::of_parameters(parameters);
        body.iter().for_each(|stmt| bindings.visit_stmt(stmt));
        for name in &bindings.globals {
            bindings.names.remove(name);
        }
        bindings
    }

    pub(crate) fn of_parameters(parameters: &'a Parameters) -> Self {
        let mut bindings = Bindings::default();
        for parameter in parameters.iter() {
            bindings.bind(parameter.name().as_str(), 0);
        }
        bindings
    }

    pub(crate) fn of_body(body: &'a [Stmt]) -> Self {
        let mut bindings = Bindings::default();
        body.iter().for_each(|stmt| bindings.visit_stmt(stmt));
        bindings
    }

    /// The targets of a comprehension.
    pub(crate) fn of_targets(targets: impl Iterator<Item = &'a Expr>) -> Self {
        let mut bindings = Bindings::default();
        targets.for_each(|target| bindings.visit_expr(target));
        bindings
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// The byte at which a name is bound first.
    pub(crate) fn first(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.names.keys().copied()
    }

    fn bind(&mut self, name: &'a str, offset: usize) {
        if self.inside == 0 {
            self.names.entry(name).or_insert(offset);
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Bindings<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let offset = stmt.start().to_usize();
        match stmt {
            Stmt::FunctionDef(function) => {
                self.bind(function.name.as_str(), offset);
                if self.module {
                    self.inside += 1;
                    function.body.iter().for_each(|stmt| self.visit_stmt(stmt));
                    self.inside -= 1;
                }
            }
            Stmt::ClassDef(class) => {
                self.bind(class.name.as_str(), offset);
                if self.module {
                    self.inside += 1;
                    class.body.iter().for_each(|stmt| self.visit_stmt(stmt));
                    self.inside -= 1;
                }
            }
            Stmt::Global(global) => self
                .globals
                .extend(global.names.iter().map(|name| name.as_str())),
            // Imports are known by what they import, not as variables.
            Stmt::Import(import) => {
                self.imports.extend(import.names.iter().map(|name| Import {
                    alias: name.asname.as_ref().unwrap_or(&name.name).as_str(),
                    module: name.name.as_str(),
                    member: None,
                }));
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                self.imports.extend(import.names.iter().map(|name| Import {
                    alias: name.asname.as_ref().unwrap_or(&name.name).as_str(),
                    module,
                    member: Some(name.name.as_str()),
                }));
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(handler) = handler;
        if let Some(name) = &handler.name {
            self.bind(name.as_str(), handler.range.start().to_usize());
        }
        handler.body.iter().for_each(|stmt| self.visit_stmt(stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Store && self.comprehensions == 0 => {
                self.bind(name.id.as_str(), name.range.start().to_usize());
            }
            Expr::Named(named) => {
                if let Expr::Name(name) = &*named.target {
                    self.bind(name.id.as_str(), name.range.start().to_usize());
                }
                self.visit_expr(&named.value);
            }
            Expr::Lambda(_) => {}
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.comprehensions += 1;
                walk_expr(self, expr);
                self.comprehensions -= 1;
            }
            _ => walk_expr(self, expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruff_python_parser::parse_module;

    #[test]
    fn names_are_bound_where_python_binds_them() {
        let source = "a = [b for b in c if (d := b)]\nfor e, (f, *g) in a: pass\ndef h(i):\n    global j\n    k = j = 1\n\
                      try: pass\nexcept ValueError as l: pass\nwith m() as n: pass\nimport math\no: int = 1\np += 1\nf = lambda q: q";
        let parsed = parse_module(source).unwrap();
        let bindings = Bindings::of_module(&parsed.syntax().body);
        let mut names: Vec<_> = bindings.names().collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["a", "d", "e", "f", "g", "h", "j", "l", "n", "o", "p"]
        );
        assert_eq!(bindings.first("a"), Some(0));
        let Stmt::FunctionDef(function) = &parsed.syntax().body[2] else {
            panic!()
        };
        let local = Bindings::of_function(&function.parameters, &function.body);
        assert!(local.has("i") && local.has("k") && !local.has("j") && !local.has("a"));
    }
}
