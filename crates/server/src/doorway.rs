//! The pages before one is in: to log in on, behind a link, and after a sign-in elsewhere. In English and Korean.

use crate::document::document;
use axum::http::StatusCode;
use axum::response::Response;

/// A sentence of ours in both languages.
struct Said(&'static str, &'static str);

impl Said {
    fn html(&self) -> String {
        let Said(en, ko) = self;
        format!(r#"<span lang="en">{en}</span><span lang="ko">{ko}</span>"#)
    }
}

const NAME: Said = Said("Name", "이름");
const PASSWORD: Said = Said("Password", "비밀번호");
const LOG_IN: Said = Said("Log in", "로그인");
const ORGANISATION: Said = Said(
    "Log in with your organisation's account",
    "조직 계정으로 로그인",
);
const LINK: Said = Said(
    "This link opens a session in this browser. It works once.",
    "이 링크는 이 브라우저에 세션을 엽니다. 한 번만 쓸 수 있습니다.",
);
const NOT_IN: Said = Said("", "로그인하지 못했습니다.");
const NOT_SIGNED_IN: Said = Said("", "로그인이 끝나지 않았습니다.");
const CLOSE: Said = Said("You can close this page.", "이 페이지는 닫아도 됩니다.");
const WRONG: Said = Said(
    "There is no user with this name and password",
    "이름이나 비밀번호가 맞지 않습니다",
);
const TOO_OFTEN: Said = Said(
    "Too many attempts. Wait a little, then try again.",
    "시도가 너무 많았습니다. 잠시 뒤에 다시 해 보세요.",
);
const SILENT: Said = Said(
    "The server does not answer. Try again.",
    "서버가 응답하지 않습니다. 다시 해 보세요.",
);

/// Sends name and password as JSON, so that no other site's form can, and goes to the page, which knows where one wanted to go.
const SCRIPT: &str = r#"<script nonce="__NONCE__">
const form = document.getElementById("login");
const button = form.querySelector("button");
const problem = document.getElementById("problem");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (button.disabled) return;
  const tell = (which) => problem.replaceChildren(document.getElementById(which).content.cloneNode(true));
  problem.replaceChildren();
  button.disabled = true;
  try {
    const body = JSON.stringify(Object.fromEntries(new FormData(form)));
    const answer = await fetch("/api/v1/login", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (answer.ok) { location.href = "/"; return; }
    if (answer.status === 401) tell("wrong");
    else if (answer.status === 429) tell("too-often");
    else problem.textContent = (await answer.json()).error.message;
  } catch {
    tell("silent");
  }
  button.disabled = false;
  form.elements.password.select();
});
</script>"#;

/// To log in on; `problem` is why it did not work before.
pub(crate) fn login(status: StatusCode, has_oidc: bool, problem: Option<&str>) -> Response {
    let other = match has_oidc {
        true => format!(
            r#"<a class="other" href="/login/oidc">{}</a>"#,
            ORGANISATION.html()
        ),
        false => String::new(),
    };
    let problem = problem.map_or(String::new(), |text| told(&NOT_IN, text));
    let kept: String = [
        ("wrong", WRONG),
        ("too-often", TOO_OFTEN),
        ("silent", SILENT),
    ]
    .iter()
    .map(|(id, said)| format!(r#"<template id="{id}">{}</template>"#, said.html()))
    .collect();
    let (name, password, log_in) = (NAME.html(), PASSWORD.html(), LOG_IN.html());
    let main = format!(
        r#"<p role="alert" id="problem">{problem}</p>
{other}
<form id="login" method="post">
<label>{name} <input name="name" autocomplete="username" required autofocus></label>
<label>{password} <input name="password" type="password" autocomplete="current-password" required></label>
<button>{log_in}</button>
</form>
{kept}
{SCRIPT}"#
    );
    framed(status, &main)
}

/// Behind a link. It asks before it lets in: whatever fetches links ahead of people must not use them up.
pub(crate) fn link() -> Response {
    let (about, log_in) = (LINK.html(), LOG_IN.html());
    let main =
        format!(r#"<p>{about}</p><form method="post"><button autofocus>{log_in}</button></form>"#);
    framed(StatusCode::OK, &main)
}

/// After a sign-in at an upstream server's own authorization server.
pub(crate) fn signed_in(server: &str) -> Response {
    let server = escaped(server);
    let main = format!(
        r#"<p role="status"><span lang="en">You are signed in to {server}.</span><span lang="ko">{server}에 로그인했습니다.</span></p>
<p>{}</p>"#,
        CLOSE.html()
    );
    framed(StatusCode::OK, &main)
}

pub(crate) fn not_signed_in(status: StatusCode, why: &str) -> Response {
    let main = format!(
        r#"<p role="alert">{}</p><p>{}</p>"#,
        told(&NOT_SIGNED_IN, why),
        CLOSE.html()
    );
    framed(status, &main)
}

/// The server's own sentence, which is English, below one that everybody can read.
fn told(what: &Said, why: &str) -> String {
    format!("{} {}", what.html(), escaped(why))
}

fn framed(status: StatusCode, main: &str) -> Response {
    let text = include_str!("doorway.html").replace("<!--main-->", main);
    document(status, &text)
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
