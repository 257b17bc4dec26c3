//! Why there is no encoder.

/// What is wrong with the model inside the program. It can only be that the file was another when the program was
/// built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "The encoder's model is damaged: {0}. Make it again with scripts/encoder-model and build the program again"
    )]
    Damaged(&'static str),
}
