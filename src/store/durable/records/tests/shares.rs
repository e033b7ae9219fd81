//! The stored form of shares in descriptions.

use super::{field::Message, payload::Payload, stable::LINEAGE, *};
use crate::domain::{
    ShareId, Timestamp,
    share::{Share, ShareDigest},
};

/// A description with a title and a share, as first written. Never changed.
const WRITTEN: &str = "010a104120666c6967687420746f204f736c6f52520a1a30314a4432513656374538473948414a424b434d444e455046511220000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f188080a6a09982a206208080c3aeb3a5a2062801d5f4c424";

fn shared() -> Description {
    let share = Share {
        id: ShareId::new("01JD2Q6V7E8G9HAJBKCMDNEPFQ").unwrap(),
        digest: ShareDigest(std::array::from_fn(|place| place as u8)),
        create_time: Timestamp(1_763_654_400_000_000),
        expire_time: Timestamp(1_764_259_200_000_000),
        include_archive: true,
    };
    Description { title: Some("A flight to Oslo".into()), shares: [share].into(), ..Description::default() }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_share_is_written_as_it_always_was() {
    let (key, value) = pair::<Descriptions>(&LINEAGE, &shared());
    assert_eq!(hex(&value), WRITTEN);
    assert_eq!(decode::<Descriptions>(&key, &value), Ok((LINEAGE, shared())));
}

/// The checksum is right, but the content is invalid.
#[test]
fn a_share_that_is_none_is_noticed() {
    let read = |id: &str, digest: &[u8]| {
        let mut share = vec![0x0a, id.len() as u8];
        share.extend(id.bytes());
        share.extend([0x12, digest.len() as u8]);
        share.extend(digest);
        let payload = [&[0x52, share.len() as u8], share.as_slice()].concat();
        Payload::read(&payload).and_then(|payload| Description::read(&payload))
    };
    assert_eq!(read("x", &[7; 32]).map(|description| description.shares.len()), Ok(1));
    for (id, digest) in [("", 32), ("x", 31), ("x", 33), ("x", 0)] {
        assert!(read(id, &vec![7; digest]).is_err(), "{id:?}, {digest} bytes");
    }
}
