//! What is known of a tool before it is chosen.

/// A tool, as it is described to those who choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    /// The same in the user's own language, where somebody wrote it.
    pub description_user: Option<String>,
    pub parameters: Vec<Parameter>,
    /// Requests that this tool is right for.
    pub examples: Vec<String>,
    /// Whether what its description says about other tools is listened to.
    pub trusted: bool,
}

/// What a tool is to be given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub description: String,
    pub required: bool,
}
