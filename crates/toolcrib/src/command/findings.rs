//! What `toolcrib doctor` found, and how it is told.

use crate::context::Context;
use crate::out::{Failure, Out, Paint, Result, SHOWN_MAX, and_more, printable};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Grade {
    Good,
    /// Not looked at.
    Skipped,
    Warning,
    Bad,
}

struct Finding {
    grade: Grade,
    /// Scripts may go by it: what it stands for does not change. The part before the dot is what it is about.
    id: &'static str,
    message: String,
    remedy: String,
}

#[derive(Default)]
pub(super) struct Findings(Vec<Finding>);

impl Finding {
    fn about(&self) -> &'static str {
        self.id.split('.').next().unwrap_or_default()
    }
}

impl Findings {
    pub(super) fn has_bad(&self) -> bool {
        self.0.iter().any(|finding| finding.grade == Grade::Bad)
    }

    /// How many mistakes were found, small ones too.
    pub(super) fn wrong(&self) -> usize {
        let is_wrong = |finding: &&Finding| matches!(finding.grade, Grade::Bad | Grade::Warning);
        self.0.iter().filter(is_wrong).count()
    }

    pub(super) fn good(&mut self, id: &'static str, message: impl Into<String>) {
        self.add(Grade::Good, id, message, "");
    }

    pub(super) fn skipped(&mut self, id: &'static str, message: impl Into<String>) {
        self.add(Grade::Skipped, id, message, "");
    }

    pub(super) fn warning(
        &mut self,
        id: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Grade::Warning, id, message, remedy);
    }

    pub(super) fn bad(
        &mut self,
        id: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Grade::Bad, id, message, remedy);
    }

    fn add(
        &mut self,
        grade: Grade,
        id: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let (message, remedy) = (message.into(), remedy.into());
        self.0.push(Finding {
            grade,
            id,
            message,
            remedy,
        });
    }
}

pub(super) fn report(context: &Context, findings: &Findings) -> Result {
    let out = &context.out;
    let bad = findings
        .0
        .iter()
        .filter(|finding| finding.grade == Grade::Bad)
        .count();
    if out.json {
        let entry = |f: &Finding| json!({"status": word(f.grade), "id": f.id, "about": f.about(), "message": f.message, "remedy": f.remedy});
        let checks: Vec<Value> = findings.0.iter().map(entry).collect();
        out.value(&json!({"ok": bad == 0, "checks": checks}));
    } else {
        for alike in findings
            .0
            .chunk_by(|a, b| (a.grade, a.about()) == (b.grade, b.about()))
        {
            show(out, alike);
        }
    }
    match bad {
        0 => Ok(()),
        1 => Err(Failure::failed("1 check failed").printed()),
        _ => Err(Failure::failed(format!("{bad} checks failed")).printed()),
    }
}

fn word(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "ok",
        Grade::Skipped => "skip",
        Grade::Warning => "warn",
        Grade::Bad => "fail",
    }
}

/// Findings of one grade about one thing, as far as anybody would read them.
fn show(out: &Out, alike: &[Finding]) {
    for finding in alike.iter().take(SHOWN_MAX) {
        let paint = match finding.grade {
            Grade::Good => Paint::Green,
            Grade::Skipped | Grade::Warning => Paint::Yellow,
            Grade::Bad => Paint::Red,
        };
        let label = out.paint(paint, &format!("{:<4}", word(finding.grade)));
        let message = printable(&finding.message);
        out.line(format!("{label}  {:<13}  {message}", finding.about()));
        if !finding.remedy.is_empty() {
            out.line(format!(
                "      remedy: {} [{}]",
                printable(&finding.remedy),
                finding.id
            ));
        }
    }
    if let Some(more) = and_more(alike.len()) {
        out.line(format!("      {more}"));
    }
}
