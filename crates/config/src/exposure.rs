//! Checks whether it is safe that others can reach an address.

use super::{Listen, Settings};

impl Settings {
    /// Whether callers need a credential.
    pub fn asks_for_credentials(&self) -> bool {
        self.credentials.is_some() || self.jwt_keys.is_some()
    }

    /// Returns what is missing to serve `listen` safely, as a text for people; `None` if nothing is missing.
    pub fn exposed(&self, listen: &Listen) -> Option<&'static str> {
        if self.allow_insecure || listen.is_local() {
            return None;
        }
        let is_guarded = self.asks_for_credentials() || self.tls_client_ca.is_some();
        match (is_guarded, self.tls_cert.is_some()) {
            (true, true) => None,
            (true, false) => {
                Some("there is no TLS (tls_cert, tls_key): tokens and messages could be read on the way")
            }
            (false, true) => Some(
                "callers are not authenticated (credentials, jwt_keys, tls_client_ca): everyone who reaches the \
                 address could read and change all conversations",
            ),
            (false, false) => Some(
                "callers are not authenticated (credentials, jwt_keys), and there is no TLS (tls_cert, tls_key): everyone \
                 who reaches the address could read and change all conversations",
            ),
        }
    }
}
