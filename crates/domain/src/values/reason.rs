//! The names of refusals.

/// Defines the reasons, each with its name.
macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $name:literal,)*) => {
        /// A stable name for a refusal, for machines: `ErrorInfo.reason` on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason {
            $($(#[$doc])* $reason,)*
        }

        impl Reason {
            /// The name, in upper snake case.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// A field has a value that is not accepted.
    InvalidField = "INVALID_FIELD",
    /// An identifier is empty, too long or holds control characters.
    InvalidId = "INVALID_ID",
    /// The role is not one of the four.
    UnknownRole = "UNKNOWN_ROLE",
    /// An utterance has neither content nor tool calls.
    EmptyUtterance = "EMPTY_UTTERANCE",
    /// Text is over the byte limit.
    ContentTooLarge = "CONTENT_TOO_LARGE",
    /// An utterance or exchange is over `max_tokens`, and the policy rejects that.
    Oversize = "OVERSIZE",
    /// A tool result answers no open call.
    NoOpenCall = "NO_OPEN_CALL",
    /// A turn number is smaller than the last one.
    TurnGoesBack = "TURN_GOES_BACK",
    /// A batch is empty.
    EmptyBatch = "EMPTY_BATCH",
    /// A batch is over its limit.
    BatchTooLarge = "BATCH_TOO_LARGE",
    /// A forget instruction is not understood.
    InstructionNotUnderstood = "INSTRUCTION_NOT_UNDERSTOOD",
    /// A forget instruction in plain English selects most of the window.
    InstructionTooBroad = "INSTRUCTION_TOO_BROAD",
    /// A page token is invalid, or belongs to another query.
    InvalidPageToken = "INVALID_PAGE_TOKEN",
    /// An utterance id is taken in its conversation.
    UtteranceExists = "UTTERANCE_EXISTS",
    /// A conversation id is taken.
    ConversationExists = "CONVERSATION_EXISTS",
    /// There is no such conversation.
    ConversationNotFound = "CONVERSATION_NOT_FOUND",
    /// The conversation has ended.
    ConversationClosed = "CONVERSATION_CLOSED",
    /// There is no such utterance.
    UtteranceNotFound = "UTTERANCE_NOT_FOUND",
    /// The conversation is another recipient's.
    RecipientMismatch = "RECIPIENT_MISMATCH",
    /// `expected_revision` is not the conversation's.
    StaleRevision = "STALE_REVISION",
    /// State values are at other versions than expected.
    StaleState = "STALE_STATE",
    /// A request id was used with another body.
    RequestIdReused = "REQUEST_ID_REUSED",
    /// A conversation has the maximum number of shares.
    TooManyShares = "TOO_MANY_SHARES",
    /// There is no such share.
    ShareNotFound = "SHARE_NOT_FOUND",
    /// A share's token is not valid.
    ShareNotValid = "SHARE_NOT_VALID",
    /// A fork would cut an exchange.
    CutsExchange = "CUTS_EXCHANGE",
    /// A window has too few utterances to be compacted.
    TooShortToCompact = "TOO_SHORT_TO_COMPACT",
    /// Nothing can leave the window.
    NothingToCompact = "NOTHING_TO_COMPACT",
    /// A compaction would save nothing.
    Irreducible = "IRREDUCIBLE",
    /// The policy disables summaries.
    SummariesDisabled = "SUMMARIES_DISABLED",
    /// No compaction can be undone.
    NothingToUndo = "NOTHING_TO_UNDO",
    /// What a compaction removed from the window is no longer stored.
    SourcesGone = "SOURCES_GONE",
}
