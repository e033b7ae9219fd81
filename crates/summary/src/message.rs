//! What is summarised.

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The application's instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool that answers a call.
    Tool,
}

/// One message of a conversation.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// Its place in the conversation.
    pub sequence: u64,
    /// Who speaks.
    pub role: Role,
    /// The speaker's name, where several share a role.
    pub name: Option<&'a str>,
    /// When it was said, in seconds since 1970.
    pub time: Option<i64>,
    /// What was said.
    pub text: &'a str,
    /// The calls that it makes.
    pub calls: Vec<Call<'a>>,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// JSON, or any text.
    pub arguments: &'a str,
    /// `None` if nothing answered.
    pub result: Option<Answer<'a>>,
}

/// The result of a call.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The place of the message that has it.
    pub sequence: u64,
    /// What the tool said.
    pub text: &'a str,
}
