//! The words that a tool has itself, those that name what it is about, and how the keys of its things look.

use crate::item::Item;
use crate::words::words;

/// Words of the name and of what the tool says of itself; of its examples only those that stand in several.
#[must_use]
pub fn own_words(item: &Item) -> Vec<u32> {
    let mut own: Vec<u32> = Vec::new();
    let mut add = |text: &str| own.extend(words(text).into_iter().map(|it| it.key));
    add(&item.name);
    for text in [&item.title, &item.description_user].into_iter().flatten() {
        add(text);
    }
    add(&item.description);
    for parameter in &item.parameters {
        add(&parameter.name);
        let about = parameter.description.as_str();
        let end = ["e.g.", "예:", "such as", "for example", "예 :", "예시"]
            .iter()
            .filter_map(|it| about.find(it))
            .min();
        add(&about[..end.unwrap_or(about.len())]);
    }
    let mut seen: Vec<u32> = Vec::new();
    for example in &item.examples {
        let mut keys: Vec<u32> = words(example).into_iter().map(|it| it.key).collect();
        keys.sort_unstable();
        keys.dedup();
        seen.extend(keys);
    }
    seen.sort_unstable();
    let often = seen
        .chunk_by(|a, b| a == b)
        .filter(|it| it.len() * 3 >= item.examples.len().max(6));
    own.extend(often.map(|it| it[0]));
    own.sort_unstable();
    own.dedup();
    own
}

/// The words of what a description lists: behind a colon or a comma, as in `Searches the wiki: policies, onboarding guides`.
pub(crate) fn listed(item: &Item) -> Vec<u32> {
    let mut listed: Vec<u32> = Vec::new();
    for sentence in item.description.split_inclusive(['.', '\n']) {
        let list = sentence.split_once([':', ',']).map_or("", |it| it.1);
        listed.extend(
            words(list)
                .into_iter()
                .filter(|it| !it.is_common)
                .map(|it| it.key),
        );
    }
    let named = words(&item.name);
    listed.retain(|it| named.iter().all(|word| word.key != *it));
    listed.sort_unstable();
    listed.dedup();
    listed
}

/// `A-10021` looks like `A-20931`, and `PAY-231` like `APP-7`.
pub(crate) fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut run = 0;
    let mut last = ' ';
    for c in text.chars() {
        let class = match c {
            '0'..='9' => '9',
            'a'..='z' | 'A'..='Z' => 'A',
            other => other,
        };
        run = if class == last { run + 1 } else { 1 };
        match (class, run) {
            ('A', 1) => shape.push(c.to_ascii_uppercase()),
            // Which letters they are says nothing where there are several.
            ('A', 2) => {
                shape.pop();
                shape.push_str("**");
            }
            ('A' | '9', 2..) => {}
            _ => shape.push(class),
        }
        last = class;
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_kind_look_alike() {
        assert_eq!(shape("PAY-231"), "**-9");
        assert_eq!(shape("APP-7"), "**-9");
        assert_ne!(shape("A-1"), shape("C-1"));
    }
}
