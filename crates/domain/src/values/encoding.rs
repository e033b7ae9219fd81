//! The encodings in which text is counted, and the trait for counting.

/// An OpenAI encoding: the vocabulary and the split rule that turn text into tokens.
///
/// A conversation has one, fixed when it starts, so that all its counts can be added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
pub enum Encoding {
    /// `o200k_base`: GPT-4o, GPT-4.1, GPT-5 and the o-series.
    #[default]
    O200kBase,
    /// `cl100k_base`: GPT-4, GPT-3.5 and the embedding models.
    Cl100kBase,
    /// `p50k_base`: the code and `text-davinci-002`/`003` models.
    P50kBase,
    /// `r50k_base`: GPT-3 and GPT-2.
    R50kBase,
}

impl Encoding {
    /// All encodings, the newest first.
    pub const ALL: [Self; 4] = [Self::O200kBase, Self::Cl100kBase, Self::P50kBase, Self::R50kBase];

    /// OpenAI's name for it, such as `o200k_base`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
            Self::P50kBase => "p50k_base",
            Self::R50kBase => "r50k_base",
        }
    }

    /// The encoding with exactly this name; `None` for any other text, including model names.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }
}

impl std::fmt::Display for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Counts the tokens of text in one encoding.
///
/// - The count is exact and depends on nothing but the text.
/// - It is the count of *ordinary text*: the spelling of a special token, such as `<|endoftext|>`, counts as
///   ordinary characters.
/// - Any text can be counted: no input panics, and the time grows only with the length.
pub trait TokenCounter: Send + Sync {
    /// The exact number of tokens in `text`, as OpenAI counts ordinary text; 0 for empty text.
    /// Texts of more than `u32::MAX` tokens count as `u32::MAX`.
    fn count(&self, text: &str) -> u32;
}
