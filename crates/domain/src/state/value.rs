//! Values, and what a head keeps of them.

use crate::Revision;

/// What a head keeps of a value.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StateEntry {
    /// Its name.
    pub name: Box<str>,
    /// The revision that wrote it.
    pub version: Revision,
    /// Bytes of the value.
    pub bytes: u32,
}

/// A value.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum StateContent {
    /// Any bytes.
    Bytes(Box<[u8]>),
    /// JSON, unchanged.
    Json(Box<str>),
}

/// A named value. Immutable: a new value of the name is another `StateValue`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StateValue {
    /// Its name.
    pub name: Box<str>,
    /// The revision that wrote it.
    pub version: Revision,
    /// The value.
    pub content: StateContent,
}

/// A name whose version is not the expected one.
#[derive(Clone, PartialEq, Eq)]
pub struct StaleName {
    /// The name.
    pub name: Box<str>,
    /// The expected version.
    pub expected: Revision,
    /// The actual version; [`Revision::NONE`] if there is no value.
    pub actual: Revision,
}

impl StateContent {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Json(text) => text.as_bytes(),
        }
    }
}

/// A caller's data must not appear in logs.
impl std::fmt::Debug for StateContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, bytes) = match self {
            Self::Bytes(bytes) => ("Bytes", bytes.len()),
            Self::Json(text) => ("Json", text.len()),
        };
        f.debug_tuple(kind).field(&bytes).finish()
    }
}

impl StateValue {
    /// What a head keeps of it.
    pub fn entry(&self) -> StateEntry {
        let bytes = self.content.as_bytes().len();
        StateEntry {
            name: self.name.clone(),
            version: self.version,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        }
    }
}
