//! The names of refusals.

/// A stable name for a refusal, for machines: `ErrorInfo.reason` on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A field has a value that is not accepted.
    InvalidField,
    /// An identifier is empty, too long or holds control characters.
    InvalidId,
    /// The role is not one of the four.
    UnknownRole,
    /// An utterance has neither content nor tool calls.
    EmptyUtterance,
    /// Text is over the byte limit.
    ContentTooLarge,
    /// An utterance or exchange is over `max_tokens`, and the policy rejects that.
    Oversize,
    /// A tool result answers no open call.
    NoOpenCall,
    /// A turn number is smaller than the last one.
    TurnGoesBack,
    /// A batch is empty.
    EmptyBatch,
    /// A batch is over its limit.
    BatchTooLarge,
    /// A forget instruction is not understood.
    InstructionNotUnderstood,
    /// A forget instruction in plain English selects most of the window.
    InstructionTooBroad,
    /// A page token is invalid, or belongs to another query.
    InvalidPageToken,
    /// An utterance id is taken in its conversation.
    UtteranceExists,
    /// A conversation id is taken.
    ConversationExists,
    /// There is no such conversation.
    ConversationNotFound,
    /// The conversation has ended.
    ConversationClosed,
    /// There is no such utterance.
    UtteranceNotFound,
    /// The conversation is another recipient's.
    RecipientMismatch,
    /// `expected_revision` is not the conversation's.
    StaleRevision,
    /// State values are at other versions than expected.
    StaleState,
    /// A request id was used with another body.
    RequestIdReused,
    /// A conversation has the maximum number of shares.
    TooManyShares,
    /// There is no such share.
    ShareNotFound,
    /// A share's token is not valid.
    ShareNotValid,
    /// A fork would cut an exchange.
    CutsExchange,
    /// A window has too few utterances to be compacted.
    TooShortToCompact,
    /// Nothing can leave the window.
    NothingToCompact,
    /// A compaction would save nothing.
    Irreducible,
    /// The policy disables summaries.
    SummariesDisabled,
    /// No compaction can be undone.
    NothingToUndo,
    /// What a compaction removed from the window is no longer stored.
    SourcesGone,
}

impl Reason {
    /// The name, in upper snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidField => "INVALID_FIELD",
            Self::InvalidId => "INVALID_ID",
            Self::UnknownRole => "UNKNOWN_ROLE",
            Self::EmptyUtterance => "EMPTY_UTTERANCE",
            Self::ContentTooLarge => "CONTENT_TOO_LARGE",
            Self::Oversize => "OVERSIZE",
            Self::NoOpenCall => "NO_OPEN_CALL",
            Self::TurnGoesBack => "TURN_GOES_BACK",
            Self::EmptyBatch => "EMPTY_BATCH",
            Self::BatchTooLarge => "BATCH_TOO_LARGE",
            Self::InstructionNotUnderstood => "INSTRUCTION_NOT_UNDERSTOOD",
            Self::InstructionTooBroad => "INSTRUCTION_TOO_BROAD",
            Self::InvalidPageToken => "INVALID_PAGE_TOKEN",
            Self::UtteranceExists => "UTTERANCE_EXISTS",
            Self::ConversationExists => "CONVERSATION_EXISTS",
            Self::ConversationNotFound => "CONVERSATION_NOT_FOUND",
            Self::ConversationClosed => "CONVERSATION_CLOSED",
            Self::UtteranceNotFound => "UTTERANCE_NOT_FOUND",
            Self::RecipientMismatch => "RECIPIENT_MISMATCH",
            Self::StaleRevision => "STALE_REVISION",
            Self::StaleState => "STALE_STATE",
            Self::RequestIdReused => "REQUEST_ID_REUSED",
            Self::TooManyShares => "TOO_MANY_SHARES",
            Self::ShareNotFound => "SHARE_NOT_FOUND",
            Self::ShareNotValid => "SHARE_NOT_VALID",
            Self::CutsExchange => "CUTS_EXCHANGE",
            Self::TooShortToCompact => "TOO_SHORT_TO_COMPACT",
            Self::NothingToCompact => "NOTHING_TO_COMPACT",
            Self::Irreducible => "IRREDUCIBLE",
            Self::SummariesDisabled => "SUMMARIES_DISABLED",
            Self::NothingToUndo => "NOTHING_TO_UNDO",
            Self::SourcesGone => "SOURCES_GONE",
        }
    }
}
