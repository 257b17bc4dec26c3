//! Operators as calls of helpers.

use super::{Care, Mender};
use crate::layout::{Edit, Edited};
use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{
    Expr, ExprBinOp, ExprSubscript, Number, Operator, StmtAugAssign, StmtDelete,
};
use ruff_text_size::{Ranged, TextRange};

/// Integers up to this size become floats without loss.
const EXACT_MAX: u64 = 1 << 53;

impl<'a> Mender<'a> {
    pub(super) fn binary(&mut self, operation: &'a ExprBinOp) {
        let between = TextRange::new(operation.left.end(), operation.right.start());
        let (sign, _) = signs(operation.op);
        let helper = self.operator_helper(operation);
        if let (Some(helper), Some(token)) = (helper, self.token(between, sign)) {
            self.insert_call(operation.range.start().to_usize(), helper);
            self.replace(token.start().to_usize(), token.end().to_usize(), ",");
            self.visit_expr(&operation.left);
            self.visit_expr(&operation.right);
            self.insert(operation.range.end().to_usize(), ")");
        } else {
            self.visit_expr(&operation.left);
            self.visit_expr(&operation.right);
        }
    }

    fn operator_helper(&self, operation: &ExprBinOp) -> Option<&'static str> {
        let full = self.care == Care::Full;
        match operation.op {
            Operator::Div => {
                let (left, right) = (&*operation.left, &*operation.right);
                let exact = is_small(left) && is_small(right);
                let float = !full && (is_float(left) || is_float(right));
                (!exact && !float).then_some("_tc_div")
            }
            Operator::FloorDiv => Some("_tc_floordiv"),
            Operator::Pow => Some("_tc_power"),
            Operator::LShift => Some("_tc_shift"),
            Operator::RShift => (!is_small(&operation.right)).then_some("_tc_rshift"),
            Operator::Mod => (full || is_text(&operation.left)).then_some("_tc_mod"),
            Operator::Add => full.then_some("_tc_add"),
            Operator::Sub => full.then_some("_tc_sub"),
            Operator::Mult => full.then_some("_tc_mul"),
            _ => None,
        }
    }

    /// `a[i] /= b` becomes `a[i] = helper(a[i], b)`.
    pub(super) fn augmented(&mut self, assign: &'a StmtAugAssign) {
        let full = self.care == Care::Full;
        let helper = match assign.op {
            Operator::Div => Some("_tc_div"),
            Operator::FloorDiv => Some("_tc_floordiv"),
            Operator::Pow => Some("_tc_power"),
            Operator::LShift => Some("_tc_shift"),
            Operator::RShift => Some("_tc_rshift"),
            Operator::Mod => full.then_some("_tc_mod"),
            Operator::Add => full.then_some("_tc_iadd"),
            Operator::Sub => full.then_some("_tc_isub"),
            Operator::Mult => full.then_some("_tc_imul"),
            _ => None,
        };
        let between = TextRange::new(assign.target.end(), assign.value.start());
        let token = self.token(between, signs(assign.op).1);
        let (Some(helper), Some(token)) = (helper, token) else {
            self.visit_expr(&assign.target);
            return self.visit_expr(&assign.value);
        };
        let token = (token.start().to_usize(), token.end().to_usize());
        let bare = matches!(&*assign.value, Expr::Tuple(tuple) if !tuple.parenthesized);
        let (open, close) = if bare { ("(", "))") } else { ("", ")") };
        let helper = self.helper(helper);
        match &*assign.target {
            target if repeats(target) && !self.source[target.range()].contains('\n') => {
                let before = self.edits.len();
                self.visit_expr(target);
                let again = self.rendered(target.range(), before);
                self.replace(token.0, token.1, format!("= {helper}({again}, {open}"));
            }
            Expr::Subscript(item) if !matches!(*item.slice, Expr::Slice(_)) => {
                self.item(item, helper);
                self.replace(token.0, token.1, open);
            }
            target => {
                let message = "this assignment is not supported here: put what stands before its operator into a variable first";
                return self.refuse(target.range(), message);
            }
        }
        self.visit_expr(&assign.value);
        self.insert(assign.range.end().to_usize(), close);
    }

    /// `a[key()]` before an assignment becomes the beginning of a call that computes the key once.
    fn item(&mut self, item: &'a ExprSubscript, helper: &'static str) {
        let between = TextRange::new(item.value.end(), item.slice.start());
        let bracket = self.token(between, TokenKind::Lsqb);
        let bare = matches!(&*item.slice, Expr::Tuple(tuple) if !tuple.parenthesized);
        let (open, close) = if bare { (",(", "),") } else { (",", ",") };
        self.insert_call(item.range.start().to_usize(), "_tc_set_item");
        self.visit_expr(&item.value);
        if let Some(bracket) = bracket {
            self.replace(bracket.start().to_usize(), bracket.end().to_usize(), open);
        }
        self.visit_expr(&item.slice);
        let end = item.range.end().to_usize();
        self.replace(end - 1, end, format!("{close}{helper},"));
    }

    /// `del items[key]`, which the evaluator lacks, becomes a call.
    pub(super) fn delete(&mut self, delete: &'a StmtDelete) -> Option<()> {
        let [Expr::Subscript(item)] = delete.targets.as_slice() else {
            return None;
        };
        if matches!(*item.slice, Expr::Slice(_) | Expr::Tuple(_)) {
            return None;
        }
        let between = TextRange::new(item.value.end(), item.slice.start());
        let bracket = self.token(between, TokenKind::Lsqb)?;
        let (start, end) = (delete.start().to_usize(), item.end().to_usize());
        self.replace(start, start + "del".len(), "");
        self.insert_call(item.start().to_usize(), "_tc_delete");
        self.visit_expr(&item.value);
        self.replace(bracket.start().to_usize(), bracket.end().to_usize(), ",");
        self.visit_expr(&item.slice);
        self.replace(end - 1, end, ")");
        // The blank after `del` must not indent the line.
        self.replace(start + "del".len(), item.start().to_usize(), "");
        Some(())
    }

    /// A part of the source with the edits that were made in it since.
    fn rendered(&self, range: TextRange, since: usize) -> String {
        let start = range.start().to_usize();
        let edits = self.edits[since..].iter().map(|edit| Edit {
            start: edit.start - start,
            end: edit.end - start,
            text: edit.text.clone(),
        });
        Edited::new(&self.source[range], edits.collect()).text
    }
}

/// The tokens of an operator and of its assignment.
fn signs(operator: Operator) -> (TokenKind, TokenKind) {
    match operator {
        Operator::Div => (TokenKind::Slash, TokenKind::SlashEqual),
        Operator::FloorDiv => (TokenKind::DoubleSlash, TokenKind::DoubleSlashEqual),
        Operator::Pow => (TokenKind::DoubleStar, TokenKind::DoubleStarEqual),
        Operator::LShift => (TokenKind::LeftShift, TokenKind::LeftShiftEqual),
        Operator::RShift => (TokenKind::RightShift, TokenKind::RightShiftEqual),
        Operator::Mod => (TokenKind::Percent, TokenKind::PercentEqual),
        Operator::Add => (TokenKind::Plus, TokenKind::PlusEqual),
        Operator::Sub => (TokenKind::Minus, TokenKind::MinusEqual),
        Operator::Mult => (TokenKind::Star, TokenKind::StarEqual),
        _ => (TokenKind::Unknown, TokenKind::Unknown),
    }
}

fn is_small(expr: &Expr) -> bool {
    match expr {
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(int) => int.as_u64().is_some_and(|int| int <= EXACT_MAX),
            Number::Float(_) => true,
            Number::Complex { .. } => false,
        },
        _ => false,
    }
}

fn is_float(expr: &Expr) -> bool {
    matches!(expr, Expr::NumberLiteral(number) if matches!(number.value, Number::Float(_)))
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::StringLiteral(_) | Expr::FString(_))
}

/// Whether computing it twice is the same as once.
fn repeats(target: &Expr) -> bool {
    struct Effects(bool);
    impl<'a> SourceOrderVisitor<'a> for Effects {
        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= matches!(
                expr,
                Expr::Call(_) | Expr::Named(_) | Expr::Await(_) | Expr::Yield(_)
            );
            walk_expr(self, expr);
        }
    }
    let mut effects = Effects(false);
    effects.visit_expr(target);
    !effects.0
}
