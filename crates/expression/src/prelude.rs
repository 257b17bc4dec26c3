//! The lines that go before an author's source: imports that he left out, and our helpers that his source calls.

use crate::mend::{Care, Mended};
use monty_types::{MontyObject, MontyType};
use std::collections::{BTreeMap, BTreeSet};

const HELPERS: [&str; 3] = [
    include_str!("python/arithmetic.py"),
    include_str!("python/math.py"),
    include_str!("python/text.py"),
];

/// Lines, and the built-in functions that must be handed in because the author's names hide them.
pub(crate) struct Prelude {
    pub(crate) text: String,
    pub(crate) handed: Vec<(String, MontyObject)>,
}

pub(crate) fn prelude(mended: &Mended, care: Care) -> Prelude {
    let blocks: BTreeMap<&str, &str> = HELPERS
        .iter()
        .flat_map(|file| file.split("\n\n"))
        .filter_map(|block| {
            let name = block.strip_prefix("def ")?.split_once('(')?.0;
            Some((name, block))
        })
        .collect();
    let mut wanted: Vec<&str> = mended.helpers.iter().copied().collect();
    let (mut taken, mut builtins) = (BTreeSet::new(), BTreeSet::new());
    while let Some(name) = wanted.pop() {
        if let Some(builtin) = name.strip_prefix("_tc_b_") {
            builtins.insert(builtin);
        } else if !name.starts_with("_tc_m_")
            && !name.starts_with("_tc_d_")
            && taken.insert(name)
            && let Some(block) = blocks.get(name)
        {
            wanted.extend(ours(block));
        }
    }
    let mut text = String::new();
    for import in &mended.imports {
        text.push_str(import);
        text.push('\n');
    }
    for name in &taken {
        match blocks.get(name) {
            Some(block) => text.push_str(&with_imports(block.trim_end())),
            None => text.push_str(grown(care)),
        }
        text.push('\n');
    }
    let mut handed = Vec::new();
    for builtin in builtins.into_iter().rev() {
        match object(builtin).filter(|_| mended.hidden.contains(builtin)) {
            Some(object) => handed.push((format!("_tc_b_{builtin}"), object)),
            None => {
                text = text
                    .replace(&format!("_tc_b_{builtin}("), &format!("{builtin}("))
                    .replace(&format!("_tc_b_{builtin})"), &format!("{builtin})"))
            }
        }
    }
    Prelude { text, handed }
}

/// What an integer that may be past the range of floats goes through. The quick program cannot go on with it: its
/// `+`, `-` and `*` would take it for infinity beside a float.
fn grown(care: Care) -> &'static str {
    match care {
        Care::Quick => {
            "def _tc_grown(a):\n    if -10**300 < a < 10**300:\n        return a\n    raise RuntimeError('_tc_grown')"
        }
        Care::Full => "def _tc_grown(a):\n    return a",
    }
}

/// A block that imports what it uses when it is called: most calls of most helpers do not come that far.
fn with_imports(block: &str) -> String {
    let Some((head, body)) = block.split_once('\n') else {
        return block.to_owned();
    };
    let mut text = format!("{head}\n");
    let names: BTreeSet<&str> = ours(body).collect();
    for name in names {
        let taken = [("_tc_m_", "math"), ("_tc_d_", "datetime")];
        for (prefix, module) in taken {
            if let Some(member) = name.strip_prefix(prefix) {
                text.push_str(&format!("    from {module} import {member} as {name}\n"));
            }
        }
    }
    text + body
}

/// The names of ours in a block.
fn ours(block: &str) -> impl Iterator<Item = &str> {
    let words = block.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("_tc_"))
}

fn object(builtin: &str) -> Option<MontyObject> {
    let kind = match builtin {
        "int" => MontyType::Int,
        "float" => MontyType::Float,
        "str" => MontyType::Str,
        "dict" => MontyType::Dict,
        "tuple" => MontyType::Tuple,
        "range" => MontyType::Range,
        function => return MontyObject::builtin_function_from_name(function),
    };
    Some(MontyObject::Type(kind))
}
