//! Failed signature checks: bounds what unknown callers can make the server spend on them.

use std::{
    hash::BuildHasher,
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    time::Duration,
};

use http::Extensions;
use rustc_hash::FxBuildHasher;
use tokio::time::Instant;

use super::refusal::Refused;
use crate::{admission::rates::Rates, transport::connection::Peer};
use utterd_domain::limits::FAILED_CHECKS_A_SECOND;

/// The origin of a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source {
    connection: u64,
    /// One host, or for IPv6 one customer's network; `None` on a Unix socket.
    address: Option<IpAddr>,
}

/// The failed checks, by the origin of the calls.
///
/// An address can have a number of them per second. Beyond that, each of its connections can have one: so a caller that
/// shares the address with a sender of junk still gets in, and a new connection costs more than a check anyway.
#[derive(Default)]
pub struct Failed {
    connections: Rates,
    addresses: Rates,
}

impl Source {
    /// Returns the origin of the request with these extensions.
    pub fn of(extensions: &Extensions) -> Self {
        extensions.get::<Peer>().map_or_else(Self::default, |peer| Self {
            connection: peer.connection,
            address: peer.address.map(|address| network(address.ip())),
        })
    }

    fn address(&self) -> u64 {
        FxBuildHasher.hash_one(self.address)
    }
}

impl Failed {
    /// Runs `check` and counts it if it fails. Refuses if too many checks from the same origin have failed.
    pub fn check<T>(
        &self,
        source: Source,
        now: Instant,
        check: impl FnOnce() -> Option<T>,
    ) -> Result<T, Refused> {
        if let Some(wait) = self.wait(source, now) {
            return Err(Refused::TooManyFailed(wait));
        }
        check().ok_or_else(|| {
            self.count(source, now);
            Refused::Invalid
        })
    }

    fn wait(&self, source: Source, now: Instant) -> Option<Duration> {
        let of_connection = self.connections.wait(source.connection, NonZeroU32::MIN, now)?;
        let of_address = self.addresses.wait(source.address(), FAILED_CHECKS_A_SECOND, now)?;
        Some(of_connection.min(of_address))
    }

    fn count(&self, source: Source, now: Instant) {
        if self.connections.take(source.connection, NonZeroU32::MIN, now).is_err() {
            // calls beyond this are refused before they are checked
            let _ = self.addresses.take(source.address(), FAILED_CHECKS_A_SECOND, now);
        }
    }
}

/// Returns the IPv4 host, or the /64 network of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn source(connection: u64, address: &str) -> Source {
        Source { connection, address: Some(network(address.parse().unwrap())) }
    }

    /// Returns how many of 10,000 checks are made, all of which fail.
    fn made(failed: &Failed, source: Source, now: Instant) -> u32 {
        let check = || failed.check(source, now, || None::<()>).unwrap_err();
        (0..10_000).map(|_| u32::from(check() == Refused::Invalid)).sum()
    }

    #[test]
    fn an_address_has_so_many_failed_checks_and_each_connection_one() {
        let (failed, now) = (Failed::default(), Instant::now());
        let most = FAILED_CHECKS_A_SECOND.get();
        assert_eq!(made(&failed, source(1, "192.0.2.1"), now), most + 1);
        assert_eq!(made(&failed, source(2, "192.0.2.1"), now), 1);
        assert_eq!(made(&failed, source(3, "192.0.2.2"), now), most + 1);
        assert_eq!(made(&failed, source(1, "192.0.2.1"), now + SECOND), most + 1);
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        let (failed, now) = (Failed::default(), Instant::now());
        let most = FAILED_CHECKS_A_SECOND.get();
        assert_eq!(made(&failed, source(1, "2001:db8::1"), now), most + 1);
        assert_eq!(made(&failed, source(2, "2001:db8::2"), now), 1);
        assert_eq!(made(&failed, source(3, "2001:db8:0:1::1"), now), most + 1);
        assert_eq!(made(&failed, source(4, "::ffff:192.0.2.1"), now), most + 1);
        assert_eq!(made(&failed, source(5, "192.0.2.1"), now), 1);
    }

    #[test]
    fn checks_that_do_not_fail_are_not_counted() {
        let (failed, now) = (Failed::default(), Instant::now());
        for _ in 0..10_000 {
            assert_eq!(failed.check(source(1, "192.0.2.1"), now, || Some(7)), Ok(7));
        }
    }

    #[test]
    fn who_waits_as_long_as_is_told_is_checked_again() {
        let (failed, now) = (Failed::default(), Instant::now());
        let source = source(1, "192.0.2.1");
        made(&failed, source, now);
        let Err(Refused::TooManyFailed(wait)) = failed.check(source, now, || Some(7)) else {
            panic!("it is checked")
        };
        assert!(failed.check(source, now + wait - Duration::from_nanos(1), || Some(7)).is_err());
        assert_eq!(failed.check(source, now + wait, || Some(7)), Ok(7));
    }
}
