//! The kinds of operations.

use serde::{Deserialize, Serialize};

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // each is the call of the same name
pub enum Operation {
    Memorize,
    Remember,
    Forget,
    Erase,
    Restore,
    Summarize,
    GetCapacity,
    CreateConversation,
    GetConversation,
    ListConversations,
    UpdateConversation,
    GetState,
    UpdateState,
    DeleteConversation,
    ListUtterances,
    GetSummary,
    UpdateUtterance,
    ExpireConversation,
    CountTokens,
    ExportConversation,
    ImportConversation,
    EndConversation,
    RetireConversation,
    GetStats,
    DeleteRecipient,
    ShareConversation,
    RevokeShare,
    ReadShared,
    BuildContext,
    ForkConversation,
    PrepareHistory,
    CompactConversation,
    UndoCompaction,
    ListCompactions,
    AnswerCompactionPrompt,
    SummarizeByLlm,
}
