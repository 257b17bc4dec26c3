//! What `toolcrib doctor` found, and how it is told.

use crate::context::Context;
use crate::out::{Failure, Out, Paint, Result, SHOWN_MAX, and_more};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Grade {
    Good,
    Warning,
    Bad,
}

struct Finding {
    grade: Grade,
    about: &'static str,
    message: String,
    remedy: String,
}

#[derive(Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn has_bad(&self) -> bool {
        self.0.iter().any(|finding| finding.grade == Grade::Bad)
    }

    pub(super) fn good(&mut self, about: &'static str, message: impl Into<String>) {
        self.add(Grade::Good, about, message, "");
    }

    pub(super) fn warning(
        &mut self,
        about: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Grade::Warning, about, message, remedy);
    }

    pub(super) fn bad(
        &mut self,
        about: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Grade::Bad, about, message, remedy);
    }

    fn add(
        &mut self,
        grade: Grade,
        about: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let (message, remedy) = (message.into(), remedy.into());
        self.0.push(Finding {
            grade,
            about,
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
        let entry = |f: &Finding| json!({"status": word(f.grade), "about": f.about, "message": f.message, "remedy": f.remedy});
        let checks: Vec<Value> = findings.0.iter().map(entry).collect();
        out.value(&json!({"ok": bad == 0, "checks": checks}));
    } else {
        for alike in findings
            .0
            .chunk_by(|a, b| (a.grade, a.about) == (b.grade, b.about))
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
        Grade::Warning => "warn",
        Grade::Bad => "fail",
    }
}

/// Findings of one grade about one thing, as far as anybody would read them.
fn show(out: &Out, alike: &[Finding]) {
    for finding in alike.iter().take(SHOWN_MAX) {
        let paint = match finding.grade {
            Grade::Good => Paint::Green,
            Grade::Warning => Paint::Yellow,
            Grade::Bad => Paint::Red,
        };
        let label = out.paint(paint, &format!("{:<4}", word(finding.grade)));
        out.line(format!(
            "{label}  {:<13}  {}",
            finding.about, finding.message
        ));
        if !finding.remedy.is_empty() {
            out.line(format!("      remedy: {}", finding.remedy));
        }
    }
    if let Some(more) = and_more(alike.len()) {
        out.line(format!("      {more}"));
    }
}
