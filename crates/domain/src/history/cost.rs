//! What messages cost, and the limits of that.

/// How much of a history can stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages, without the prompt.
    pub messages: usize,
    /// Bytes of everything that is sent.
    pub bytes: usize,
    /// Tokens of everything that is sent; `None` means any number.
    pub tokens: Option<u32>,
}

impl From<Limits> for Cost {
    fn from(limits: Limits) -> Self {
        let tokens = limits.tokens.map_or(u64::MAX, u64::from);
        Self { messages: limits.messages as u64, bytes: limits.bytes as u64, tokens }
    }
}

/// One of the [`Limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Of messages.
    Messages,
    /// Of bytes.
    Bytes,
    /// Of tokens.
    Tokens,
}

impl Limit {
    /// The field of a request that sets it.
    pub fn field(self) -> &'static str {
        match self {
            Self::Messages => "max_messages",
            Self::Bytes => "max_bytes",
            Self::Tokens => "token_budget",
        }
    }
}

/// What messages cost, or the most that they may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Their number, without the prompt.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their tokens.
    pub tokens: u64,
}

impl Cost {
    /// The sum of both.
    pub fn plus(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }

    /// What is left after `other`, if there is room for that.
    pub fn minus(self, other: Self) -> Option<Self> {
        Some(Self {
            messages: self.messages.checked_sub(other.messages)?,
            bytes: self.bytes.checked_sub(other.bytes)?,
            tokens: self.tokens.checked_sub(other.tokens)?,
        })
    }

    /// The part of it that `limit` applies to.
    pub fn of(self, limit: Limit) -> u64 {
        match limit {
            Limit::Messages => self.messages,
            Limit::Bytes => self.bytes,
            Limit::Tokens => self.tokens,
        }
    }

    /// The limit that it exceeds.
    pub fn above(self, most: Self) -> Option<Limit> {
        let mut limits = [Limit::Messages, Limit::Bytes, Limit::Tokens].into_iter();
        limits.find(|limit| self.of(*limit) > most.of(*limit))
    }
}
