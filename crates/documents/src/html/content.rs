//! Which part of a page is what it is about.

use std::collections::HashMap;

use crate::xml::Node;

/// A part that holds this share of the page's text is taken for the page.
const ENOUGH: f64 = 0.75;
const MAIN_TEXT_MIN: usize = 140;

/// The element that holds the content: `<main>`, an article, or the innermost one that still has most of the text.
pub(super) fn of(body: Node<'_>) -> Node<'_> {
    let mut weights = HashMap::new();
    let total = weigh(body, &mut weights);
    let weight = |node: Node<'_>| weights.get(&node.id()).copied().unwrap_or(0);
    let marked = |node: &Node<'_>| node.is("main") || node.attribute("role") == Some("main");
    let main = body
        .descendants()
        .filter(marked)
        .max_by_key(|node| weight(*node));
    if let Some(main) = main.filter(|main| weight(*main) >= MAIN_TEXT_MIN.min(total / 3)) {
        return main;
    }
    // Going down keeps at least `ENOUGH` of the whole, however many steps it takes.
    let wanted = (total as f64 * ENOUGH) as usize;
    let mut node = body;
    while let Some(inner) = node
        .children()
        .find(|child| is_container(*child) && weight(*child) >= wanted.max(1))
    {
        node = inner;
    }
    node
}

fn is_container(node: Node<'_>) -> bool {
    matches!(
        node.name(),
        "div"
            | "section"
            | "article"
            | "center"
            | "form"
            | "table"
            | "tbody"
            | "tr"
            | "td"
            | "span"
            | "main"
    )
}

/// How much text an element holds that is no link: navigation is all links.
fn weigh(node: Node<'_>, weights: &mut HashMap<u32, usize>) -> usize {
    if is_beside(node) || is_unseen(node) || node.is("a") {
        return 0;
    }
    let own = node.own_text().trim().chars().count();
    let weight = own
        + node
            .children()
            .map(|child| weigh(child, weights))
            .sum::<usize>();
    if !node.name().is_empty() {
        weights.insert(node.id(), weight);
    }
    weight
}

/// What stands beside the content on every page of a site.
pub(super) fn is_beside(node: Node<'_>) -> bool {
    let by_role = || {
        node.attribute("role").is_some_and(|role| {
            matches!(
                role,
                "navigation" | "banner" | "contentinfo" | "complementary" | "search" | "dialog"
            )
        })
    };
    match node.name() {
        "nav" | "footer" | "aside" | "dialog" => true,
        "" => false,
        // A page's header holds its menu; an article's holds its title.
        "header" => !node.descendants().any(|inner| inner.is("h1")),
        _ => by_role() || named_so(node),
    }
}

fn named_so(node: Node<'_>) -> bool {
    if !matches!(node.name(), "div" | "section" | "ul" | "form") {
        return false;
    }
    let names = [node.attribute("class"), node.attribute("id")];
    let mut words = names
        .iter()
        .flatten()
        .flat_map(|text| text.split_whitespace());
    words.any(|word| {
        matches!(
            word.to_ascii_lowercase().as_str(),
            "nav"
                | "navbar"
                | "navigation"
                | "menu"
                | "gnb"
                | "lnb"
                | "snb"
                | "sidebar"
                | "side-bar"
                | "footer"
                | "breadcrumb"
                | "breadcrumbs"
                | "cookie"
                | "cookie-banner"
                | "cookie-consent"
                | "advertisement"
                | "ads"
                | "share"
                | "social"
                | "skip-link"
                | "skip"
        )
    })
}

/// What a reader of the page does not see.
pub(super) fn is_unseen(node: Node<'_>) -> bool {
    match node.name() {
        "" => return false,
        "script" | "style" | "template" | "noscript" | "head" | "svg" | "iframe" | "object"
        | "canvas" | "button" | "select" | "textarea" | "input" | "audio" | "video" | "link"
        | "meta" | "title" => return true,
        _ => {}
    }
    let styled = || {
        let style: String = node
            .attribute("style")
            .unwrap_or("")
            .to_ascii_lowercase()
            .split_whitespace()
            .collect();
        [
            "display:none",
            "visibility:hidden",
            "font-size:0;",
            "font-size:0px",
            "opacity:0;",
        ]
        .iter()
        .any(|unseen| style.contains(unseen))
            || style.ends_with("opacity:0")
            || style.ends_with("font-size:0")
    };
    node.attribute("hidden").is_some() || node.attribute("aria-hidden") == Some("true") || styled()
}
