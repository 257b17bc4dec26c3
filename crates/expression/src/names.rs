//! Names that nothing gives a meaning to, found without running anything. It errs on the side of silence: what is bound
//! anywhere counts as bound everywhere.

use crate::depth;
use crate::layout::Layout;
use crate::words::{MODULES, is_math};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameter, Stmt};
use ruff_python_parser::parse_module;
use std::collections::BTreeSet;

/// Python's own, whether or not the evaluator has them: it says itself what it lacks.
const BUILTINS: &str = "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod \
    compile complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset \
    getattr globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max \
    memoryview min next object oct open ord pow print property quit range repr reversed round set setattr slice sorted \
    staticmethod str sum super tuple type vars zip True False None NotImplemented Ellipsis";

#[derive(Default)]
struct Names<'a> {
    bound: BTreeSet<&'a str>,
    used: Vec<&'a str>,
}

/// The first name of a source that is neither an argument nor bound nor Python's.
pub(crate) fn unknown(source: &str, arguments: &[&str]) -> Option<String> {
    let layout = Layout::new(source);
    if depth::too_deep(&layout.text) {
        return None;
    }
    let parsed = parse_module(&layout.text).ok()?;
    let mut names = Names::default();
    for stmt in &parsed.syntax().body {
        names.visit_stmt(stmt);
    }
    let is_known = |name: &str| {
        arguments.contains(&name)
            || names.bound.contains(name)
            || name == "args"
            || name.starts_with("__")
            || MODULES.contains(&name)
            || is_math(name)
            || BUILTINS.split_whitespace().any(|known| known == name)
            // Exceptions.
            || ["Error", "Exception", "Warning", "Exit", "Interrupt", "Iteration", "Group"]
                .iter()
                .any(|end| name.ends_with(end))
    };
    let unknown = names.used.iter().find(|name| !is_known(name));
    unknown.map(|name| (*name).to_owned())
}

impl<'a> SourceOrderVisitor<'a> for Names<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => drop(self.bound.insert(function.name.as_str())),
            Stmt::ClassDef(class) => drop(self.bound.insert(class.name.as_str())),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr {
            match name.ctx {
                ExprContext::Load => self.used.push(name.id.as_str()),
                _ => drop(self.bound.insert(name.id.as_str())),
            }
        }
        walk_expr(self, expr);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bound.insert(parameter.name.as_str());
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
        self.bound.insert(name.split('.').next().unwrap_or(name));
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(handled) = handler;
        self.bound
            .extend(handled.name.as_ref().map(|name| name.as_str()));
        ruff_python_ast::visitor::source_order::walk_except_handler(self, handler);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_means_nothing_is_told() {
        for fine in [
            "round(price * (1 + percent / 100), 2)",
            "sum(x for x in args['items'] if x > math.pi)",
            "import re as r\nresult = r.sub('a', 'b', price)",
            "def f(a, *b, c=1):\n    d = a\n    return d + c\nresult = f(price)",
            "try:\n    result = 1 / price\nexcept ZeroDivisionError as e:\n    result = str(e)",
            "(lambda y: y + sqrt(price))(1)",
            "f'{price:.2f} {percent}'",
            "[z := price, z]",
            "not python at all",
        ] {
            assert_eq!(unknown(fine, &["price", "percent"]), None, "{fine}");
        }
        for (wrong, name) in [("price * percnt", "percnt"), ("f'{prise}'", "prise")] {
            let found = unknown(wrong, &["price", "percent"]);
            assert_eq!(found.as_deref(), Some(name), "{wrong}");
        }
    }
}
