//! The kinds of tool, one file each, and the one list of them. A new kind is its file and a line here.

pub mod builtin;

use catalog::tool::KindName;
use executor::Kinds;

/// The kinds this build can run.
pub fn all(options: &builtin::Options) -> Kinds {
    Kinds::default().with(KindName::Builtin, builtin::Builtins::new(options))
}
