//! Sessions that do not want advice to compact a conversation.

use quick_cache::sync::Cache;

use utterd_domain::{Conversation, LineageId};

/// The number of sessions remembered. Beyond it, the least used are forgotten and get advice again.
const MOST: usize = 16_384;

/// The sessions that want no advice, for as long as this process runs.
pub(super) struct Sessions(Cache<(LineageId, Box<str>), ()>);

impl Default for Sessions {
    fn default() -> Self {
        Self(Cache::new(MOST))
    }
}

impl Sessions {
    /// Stops advice about a conversation for `session`, or for everyone if `None`.
    pub(super) fn silence(&self, state: &Conversation, session: Option<&str>) {
        self.0.insert(key(state, session), ());
    }

    pub(super) fn is_silenced(&self, state: &Conversation, session: Option<&str>) -> bool {
        let silent = |session| self.0.get(&key(state, session)).is_some();
        silent(None) || session.is_some() && silent(session)
    }
}

fn key(state: &Conversation, session: Option<&str>) -> (LineageId, Box<str>) {
    (state.head.identity.lineage, session.unwrap_or_default().into())
}
