//! The inside of a document worker on a pipe: a question on standard input, the answer on standard output.
//! For trying a document by hand and for `scripts/make-documents --compare`.

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut question = Vec::new();
    std::io::stdin().read_to_end(&mut question)?;
    std::io::stdout().write_all(&documents::answer(&question))
}
