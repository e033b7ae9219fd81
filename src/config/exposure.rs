//! What an address that others reach lacks.

use super::Settings;

impl Settings {
    /// What should be set before others can reach the address that is served, as a person reads it; `None` when
    /// nothing has to be.
    pub fn exposed(&self) -> Option<&'static str> {
        if self.allow_insecure || self.listen.ip().is_loopback() {
            return None;
        }
        let is_guarded = self.credentials.is_some() || self.jwt_keys.is_some();
        Some(match is_guarded {
            true => "there is no TLS: tokens and all that is said could be read on the way",
            false => {
                "nobody is asked who they are (credentials, jwt_keys), and there is no TLS: whoever reaches it could \
                 read and change everything"
            }
        })
    }
}
