//! JSON pointers: `/items/2/price`.

/// The parts of a pointer, without their escapes.
pub(crate) fn parts(pointer: &str) -> impl Iterator<Item = String> {
    let parts = pointer.split('/').skip(1);
    parts.map(|part| part.replace("~1", "/").replace("~0", "~"))
}

/// Appends one part to a pointer.
pub(crate) fn push(pointer: &mut String, part: &str) {
    pointer.push('/');
    pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
}
