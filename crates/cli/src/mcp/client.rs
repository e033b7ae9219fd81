//! The client that makes a call.

use std::{env, time::Duration};

use percent_encoding::percent_decode_str;
use rmcp::{
    RoleServer,
    model::{ClientResult, ServerRequest},
    service::{Peer, PeerRequestOptions, RequestContext},
};

/// How long a client may take to say which directory it works in.
const ANSWER: Duration = Duration::from_secs(2);

/// The client that makes a call.
#[derive(Clone, Default)]
pub struct Client {
    /// Its name; empty if it gave none.
    pub name: String,
    /// Where to ask for the directories that it works in, if it tells.
    tells: Option<Peer<RoleServer>>,
}

impl Client {
    /// The client that sent a request.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let tells = context.client_capabilities().is_some_and(|can| can.roots.is_some());
        Self {
            name: context.client_info().map(|client| client.name).unwrap_or_default(),
            tells: tells.then(|| context.peer.clone()),
        }
    }

    /// The directory that it works in: the first of its roots, or else that of this process.
    pub async fn directory(&self) -> Option<String> {
        let own = || Some(env::current_dir().ok()?.display().to_string());
        self.root().await.or_else(own)
    }

    #[expect(deprecated, reason = "the newest protocol has no roots; clients of the others tell them")]
    async fn root(&self) -> Option<String> {
        let request = ServerRequest::ListRootsRequest(Default::default());
        let options = PeerRequestOptions::with_timeout(ANSWER);
        let asked = self.tells.as_ref()?.send_request_with_option(request, options).await.ok()?;
        let ClientResult::ListRootsResult(listed) = asked.await_response().await.ok()? else { return None };
        let root = listed.roots.into_iter().next()?.uri;
        let path = percent_decode_str(root.strip_prefix("file://").unwrap_or(&root));
        Some(path.decode_utf8_lossy().into_owned())
    }
}
