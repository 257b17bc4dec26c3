//! Reads an author's source and turns what the evaluator would compute differently from CPython into calls of our
//! helpers. Text is only put in or exchanged within a line, so that every line stays where its author wrote it.

mod modules;
mod operator;

use crate::bindings::Bindings;
use crate::fault::{Fault, Kind};
use crate::layout::{Edit, Edited};
use crate::words::{
    DATES, OURS, is_math, is_mended, mended_builtin, mended_math, mended_method, refused,
    refused_module, wants_floats,
};
use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_ast::visitor::source_order::{
    SourceOrderVisitor, walk_expr, walk_interpolated_string_element, walk_stmt,
};
use ruff_python_ast::{
    Comprehension, Expr, ExprAttribute, ExprCall, ExprContext, ExprName, InterpolatedStringElement,
    ModModule, Number, Stmt,
};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextRange};
use std::collections::BTreeSet;

/// Deeper than any program that a person writes; the walk calls itself for each level.
const DEPTH_MAX: usize = 200;

/// How a program is made from a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// `+`, `-`, `*` and `sum` are the evaluator's own: right for what they accept, but not for booleans.
    Quick,
    /// Every operation is CPython's.
    Full,
}

/// What the source became and what it needs around it.
pub(crate) struct Mended {
    pub(crate) edited: Edited,
    /// Names of our helpers.
    pub(crate) helpers: BTreeSet<&'static str>,
    /// Lines that import what the author did not.
    pub(crate) imports: BTreeSet<String>,
    /// Arguments that are named.
    pub(crate) arguments: Vec<String>,
    /// Whether all of them are asked for as `args`.
    pub(crate) wants_all: bool,
    /// Names that hide a built-in function from our helpers.
    pub(crate) hidden: BTreeSet<String>,
    /// Whether only the careful program will do: an author may catch what tells us to change to it.
    pub(crate) needs_care: bool,
    /// The variable that is the value.
    pub(crate) value_of: Option<String>,
    /// The first use of a clock.
    pub(crate) clock: Option<usize>,
}

/// Mends a parsed source. A fault's place is a byte of the source.
pub(crate) fn mend(
    source: &str,
    parsed: &Parsed<ModModule>,
    arguments: &[&str],
    care: Care,
) -> Result<Mended, (Fault, usize)> {
    let body = &parsed.syntax().body;
    let module = Bindings::of_module(body);
    let value_of = value_of(body, &module);
    let mut mender = Mender {
        source,
        tokens: parsed.tokens(),
        care,
        given: arguments,
        module,
        scopes: Vec::new(),
        edits: Vec::new(),
        depth: 0,
        named: BTreeSet::new(),
        helpers: BTreeSet::new(),
        imports: BTreeSet::new(),
        wants_all: false,
        needs_care: false,
        clock: None,
        fault: None,
    };
    mender.check_imports();
    let module = std::mem::take(&mut mender.module);
    mender.check_names(&module);
    mender.module = module;
    body.iter().for_each(|stmt| mender.visit_stmt(stmt));
    if let Some(fault) = mender.fault {
        return Err(fault);
    }
    let named = mender.named;
    let used = arguments.iter().filter(|name| named.contains(**name));
    let bound = mender.module.names().map(str::to_owned);
    Ok(Mended {
        edited: Edited::new(source, mender.edits),
        helpers: mender.helpers,
        imports: mender.imports,
        hidden: bound.chain(used.clone().map(|n| (*n).to_owned())).collect(),
        arguments: used.map(|name| (*name).to_owned()).collect(),
        wants_all: mender.wants_all,
        needs_care: mender.needs_care,
        value_of,
        clock: mender.clock,
    })
}

/// `result` if it is assigned, else what the last line assigns.
fn value_of(body: &[Stmt], module: &Bindings<'_>) -> Option<String> {
    if module.has("result") {
        return Some("result".to_owned());
    }
    let target = match body.last()? {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [target] => target,
            _ => return None,
        },
        Stmt::AugAssign(assign) => &assign.target,
        Stmt::AnnAssign(assign) if assign.value.is_some() => &assign.target,
        _ => return None,
    };
    match target {
        Expr::Name(name) => Some(name.id.to_string()),
        _ => None,
    }
}

struct Mender<'a> {
    source: &'a str,
    tokens: &'a Tokens,
    care: Care,
    given: &'a [&'a str],
    module: Bindings<'a>,
    /// Functions, lambdas, comprehensions and classes around us, and which are classes.
    scopes: Vec<(Bindings<'a>, bool)>,
    edits: Vec<Edit>,
    depth: usize,
    named: BTreeSet<&'a str>,
    helpers: BTreeSet<&'static str>,
    imports: BTreeSet<String>,
    wants_all: bool,
    needs_care: bool,
    clock: Option<usize>,
    fault: Option<(Fault, usize)>,
}

impl<'a> Mender<'a> {
    fn refuse(&mut self, range: TextRange, message: impl Into<String>) {
        self.refuse_as(Kind::Unsupported, range, message);
    }

    fn refuse_as(&mut self, kind: Kind, range: TextRange, message: impl Into<String>) {
        if self.fault.is_none() {
            self.fault = Some((Fault::new(kind, message), range.start().to_usize()));
        }
    }

    fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.edits.push(Edit {
            start: at,
            end: at,
            text: text.into(),
        });
    }

    /// Line ends inside the range are kept, escaped: that is right within brackets and without.
    fn replace(&mut self, start: usize, end: usize, text: impl Into<String>) {
        let lines = self.source[start..end].matches('\n').count();
        self.edits.push(Edit {
            start,
            end,
            text: text.into() + &"\\\n".repeat(lines),
        });
    }

    fn careful(&self) -> bool {
        self.care == Care::Full
    }

    fn helper(&mut self, name: &'static str) -> &'static str {
        self.helpers.insert(name);
        name
    }

    /// A word before which another word may end: `return-a/b`.
    fn insert_call(&mut self, at: usize, helper: &'static str) {
        let before = self.source[..at].chars().next_back();
        let apart = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let helper = self.helper(helper);
        self.insert(at, format!("{}{helper}(", if apart { " " } else { "" }));
    }

    fn bound_inside(&self, name: &str) -> bool {
        let innermost = self.scopes.len().wrapping_sub(1);
        self.scopes
            .iter()
            .enumerate()
            .any(|(index, (scope, class))| (!class || index == innermost) && scope.has(name))
    }

    fn bound(&self, name: &str) -> bool {
        self.bound_inside(name) || self.module.has(name) || self.given.contains(&name)
    }

    /// None of the author's names may be one of ours.
    fn check_names(&mut self, scope: &Bindings<'a>) {
        let aliases = scope.imports.iter().map(|import| import.alias);
        if scope
            .names()
            .chain(aliases)
            .any(|name| name.starts_with(OURS))
        {
            let message = format!("names that begin with '{OURS}' are reserved");
            self.refuse(TextRange::default(), message);
        }
    }

    fn in_scope(&mut self, scope: Bindings<'a>, class: bool, walk: impl FnOnce(&mut Self)) {
        self.check_names(&scope);
        self.scopes.push((scope, class));
        walk(self);
        self.scopes.pop();
    }

    fn deeper(&mut self, range: TextRange, walk: impl FnOnce(&mut Self)) {
        if self.fault.is_some() {
            return;
        }
        if self.depth == DEPTH_MAX {
            let message = "SyntaxError: Source is too deeply nested";
            return self.refuse_as(Kind::Syntax, range, message);
        }
        self.depth += 1;
        walk(self);
        self.depth -= 1;
    }

    fn name(&mut self, name: &'a ExprName) {
        let id = name.id.as_str();
        self.named.insert(id);
        if id.starts_with(OURS) {
            let message = format!("names that begin with '{OURS}' are reserved");
            return self.refuse(name.range, message);
        }
        if name.ctx != ExprContext::Load {
            return;
        }
        if self.bound(id) {
            let later = self.module.first(id).unwrap_or(0) > name.range.start().to_usize();
            if is_mended(id) && later && !self.bound_inside(id) && !self.given.contains(&id) {
                let message = format!(
                    "'{id}' is used here as the built-in function and assigned later; choose another name for the variable"
                );
                self.refuse(name.range, message);
            }
            return;
        }
        self.unbound(name.range, id);
    }

    fn unbound(&mut self, range: TextRange, id: &'a str) {
        let (start, end) = (range.start().to_usize(), range.end().to_usize());
        if let Some(module) = self.module_named(id) {
            if module == "math" {
                let message = format!("the module 'math' can only be used as {id}.name");
                return self.refuse(range, message);
            }
            self.import_module(id);
            return;
        }
        let mut imports = self.module.imports.iter();
        let member = match imports.find(|import| import.alias == id) {
            Some(import) if import.module == "math" => import.member.unwrap_or(id),
            Some(_) => return,
            None => id,
        };
        let imported = self.module.imports.iter().any(|import| import.alias == id);
        if let Some(mended) = mended_math(member, self.careful()) {
            let helper = self.helper(mended);
            self.replace(start, end, helper);
        } else if imported {
        } else if let Some(mended) = mended_builtin(id, self.careful()) {
            let helper = self.helper(mended);
            self.replace(start, end, helper);
        } else if is_math(id) {
            self.imports.insert(format!("from math import {id}"));
        } else if DATES.contains(&id) {
            self.imports.insert(format!("from datetime import {id}"));
        } else if id == "args" {
            self.wants_all = true;
        } else if id.starts_with("__") {
            self.refuse(range, format!("the name '{id}' is not available"));
        } else if let Some(message) = refused(id) {
            self.refuse(range, message);
        }
    }

    fn call(&mut self, call: &'a ExprCall, whole: &'a Expr) {
        let member = self.math_member(&call.func).filter(|_| self.careful());
        if member.is_some_and(wants_floats) {
            return self.fit_arguments(call);
        }
        let float =
            matches!(&*call.func, Expr::Name(name) if name.id == "float" && !self.bound("float"));
        let class = match self.careful() {
            true if float => Some("_tc_float"),
            true if self.is_timedelta(&call.func) => Some("_tc_timedelta"),
            _ => None,
        };
        if let Some(helper) = class {
            let helper = self.helper(helper);
            let range = call.func.range();
            self.replace(range.start().to_usize(), range.end().to_usize(), helper);
            return self.visit_arguments(&call.arguments);
        }
        match &*call.func {
            Expr::Attribute(attribute) if mended_method(attribute.attr.as_str()).is_some() => {
                self.method(call, attribute, whole);
            }
            _ => walk_expr(self, whole),
        }
    }

    /// `text.center(9)` becomes `helper(text, 9)`.
    fn method(&mut self, call: &'a ExprCall, attribute: &'a ExprAttribute, whole: &'a Expr) {
        let between = TextRange::new(attribute.value.end(), attribute.attr.start());
        let helper = mended_method(attribute.attr.as_str());
        let (Some(helper), Some(dot)) = (helper, self.token(between, TokenKind::Dot)) else {
            return walk_expr(self, whole);
        };
        self.insert_call(whole.start().to_usize(), helper);
        self.visit_expr(&attribute.value);
        let arguments = &call.arguments;
        let separator = if arguments.is_empty() { "" } else { "," };
        let open = arguments.range().start().to_usize() + 1;
        self.replace(dot.start().to_usize(), open, separator);
        self.visit_arguments(arguments);
    }

    fn token(&self, range: TextRange, kind: TokenKind) -> Option<TextRange> {
        let mut tokens = self.tokens.in_range(range).iter();
        tokens
            .find(|token| token.kind() == kind)
            .map(|token| token.range())
    }

    fn comprehension(&mut self, generators: &'a [Comprehension], expr: &'a Expr) {
        let targets = generators.iter().map(|generator| &generator.target);
        let scope = Bindings::of_targets(targets);
        self.in_scope(scope, false, |mender| walk_expr(mender, expr));
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        const WAITS: &str = "async is not supported here: an expression waits for nothing";
        match stmt {
            Stmt::FunctionDef(function) if function.is_async => self.refuse(stmt.range(), WAITS),
            Stmt::For(statement) if statement.is_async => self.refuse(stmt.range(), WAITS),
            Stmt::With(statement) if statement.is_async => self.refuse(stmt.range(), WAITS),
            Stmt::FunctionDef(function) => {
                for decorator in &function.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.visit_parameters(&function.parameters);
                let scope = Bindings::of_function(&function.parameters, &function.body);
                self.in_scope(scope, false, |mender| mender.visit_body(&function.body));
            }
            Stmt::ClassDef(class) => {
                for decorator in &class.decorator_list {
                    self.visit_decorator(decorator);
                }
                let scope = Bindings::of_body(&class.body);
                self.in_scope(scope, true, |mender| mender.visit_body(&class.body));
            }
            Stmt::AugAssign(assign) => self.augmented(assign),
            Stmt::Delete(delete) => {
                if self.delete(delete).is_none() {
                    self.refuse(
                        stmt.range(),
                        "del is not supported here, but of one item of a dict or list",
                    );
                }
            }
            Stmt::Import(import) => {
                let refused = import.names.iter().find_map(|alias| {
                    refused_module(alias.name.as_str()).map(|message| (alias.range, message))
                });
                if let Some((range, message)) = refused {
                    self.refuse(range, message);
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Try(_) | Stmt::With(_) => {
                self.needs_care = true;
                walk_stmt(self, stmt);
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn expression(&mut self, expr: &'a Expr) {
        match expr {
            Expr::BinOp(operation) => self.binary(operation),
            Expr::Name(name) => self.name(name),
            Expr::Attribute(attribute) => self.attribute(attribute, expr),
            Expr::Call(call) => self.call(call, expr),
            Expr::Lambda(lambda) => {
                let scope = match &lambda.parameters {
                    Some(parameters) => Bindings::of_parameters(parameters),
                    None => Bindings::default(),
                };
                self.in_scope(scope, false, |mender| walk_expr(mender, expr));
            }
            Expr::ListComp(list) => self.comprehension(&list.generators, expr),
            Expr::SetComp(set) => self.comprehension(&set.generators, expr),
            Expr::DictComp(dict) => self.comprehension(&dict.generators, expr),
            Expr::Generator(generator) => self.comprehension(&generator.generators, expr),
            Expr::NumberLiteral(number) => {
                // Past 64 bits, the quick program's `+`, `-` and `*` cannot be trusted beside a float.
                self.needs_care |=
                    matches!(&number.value, Number::Int(int) if int.as_u64().is_none());
            }
            Expr::Await(_) => {
                let message = "await is not supported here: an expression waits for nothing";
                self.refuse(expr.range(), message);
            }
            _ => walk_expr(self, expr),
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Mender<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.deeper(stmt.range(), |mender| mender.statement(stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.deeper(expr.range(), |mender| mender.expression(expr));
    }

    // An annotation is not computed.
    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        let edits = self.edits.len();
        walk_interpolated_string_element(self, element);
        if let InterpolatedStringElement::Interpolation(part) = element
            && part.debug_text.is_some()
            && self.edits.len() > edits
        {
            let message = "f'{…=}' is not supported here for this expression: write the text and the value apart";
            self.refuse(part.range, message);
        }
    }
}
