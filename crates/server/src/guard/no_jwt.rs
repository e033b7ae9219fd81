//! Stands for the JWTs in a build without them: no file of keys is accepted, so there are no keys.

use std::convert::Infallible;

use super::{credential::Credential, fault::Fault, refusal::Refused};
use utterd_config::Part;
use utterd_domain::Timestamp;

/// The issuer and the audience that a token must name.
#[expect(dead_code, reason = "no token is read")]
pub struct Rules {
    /// The required issuer.
    pub issuer: String,
    /// The required audience.
    pub audience: String,
}

/// The keys of an issuer; there are none in this build.
pub struct Keys(Infallible);

impl Keys {
    /// Refuses every file.
    pub fn parse(_text: &str, Rules { issuer: _, audience: _ }: &Rules) -> Result<Self, Fault> {
        match Part::Jwt.built() {
            Err(unbuilt) => Err(Fault::in_line(1, format!("cannot be used: this program is {unbuilt}"))),
            Ok(()) => Err(Fault::in_line(1, "cannot be used")),
        }
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        match self.0 {}
    }

    /// Accepts no token.
    pub fn credential(&self, _token: &str, _now: Timestamp) -> Result<Credential, Refused> {
        match self.0 {}
    }
}
