//! Arguments that are one of a few words.

/// Defines an argument that is one of a few words, each with its help, and the variant of a generated enum that it means
/// on the wire.
macro_rules! choice {
    (
        $(#[$doc:meta])*
        $visibility:vis enum $name:ident means $wire:ident {
            $($(#[$help:meta])* $word:ident = $variant:ident,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
        $visibility enum $name {
            $($(#[$help])* $word,)*
        }

        impl $name {
            /// Its meaning on the wire.
            $visibility fn wire(self) -> utterd_rpc::proto::$wire {
                match self {
                    $(Self::$word => utterd_rpc::proto::$wire::$variant,)*
                }
            }
        }
    };
}
pub(crate) use choice;

choice! {
    /// The format of a context.
    pub enum ContextFormat means ContextFormat {
        /// chat messages
        Openai = OpenaiChat,
        /// messages, and the system prompt beside them
        Anthropic = AnthropicMessages,
        /// times, speakers and texts
        Text = Text,
    }
}

choice! {
    /// A format of conversations.
    #[derive(Default)]
    pub enum ConversationFormat means ConversationFormat {
        /// OpenAI's chat messages
        #[default]
        Openai = OpenaiChat,
        /// OpenAI's Responses items
        Responses = OpenaiResponses,
        /// Anthropic's messages
        Anthropic = AnthropicMessages,
        /// PersistedConversations
        Persisted = PersistedConversations,
        /// HistoryEntry[] or PersistedHistory
        Legacy = LegacyHistory,
        /// conversations.json of ChatGPT
        Chatgpt = Chatgpt,
        /// conversations.json of Claude
        Claude = Claude,
        /// sessions of Claude Code
        ClaudeCode = ClaudeCode,
        /// sessions of Codex
        Codex = Codex,
        /// sessions of pi
        Pi = Pi,
    }
}

impl ConversationFormat {
    /// The formats of an export; the others can only be imported.
    pub const EXPORTED: [Self; 4] = [Self::Openai, Self::Responses, Self::Anthropic, Self::Persisted];
}

choice! {
    /// The limits that a conversation starts from.
    pub enum Preset means PolicyPreset {
        /// no limits; long conversations get the advice to compact
        Session = Session,
        /// 20 utterances and 8,000 tokens
        Rolling = Rolling,
        /// 10 turns and 8,000 tokens
        Turns = Turns,
    }
}

choice! {
    /// The speaker of an utterance.
    pub enum Speaker means Role {
        /// instructions
        System = System,
        /// a person
        User = User,
        /// the model
        Assistant = Assistant,
        /// the result of a tool
        Tool = Tool,
    }
}
