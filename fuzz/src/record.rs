//! Records of the durable stores: whatever the disk holds is read or refused, and what is read survives
//! writing it back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utterd::store::records::Record;
use xxhash_rust::xxh3::Xxh3;

fuzz_target!(|bytes: &[u8]| {
    let Some((&length, rest)) = bytes.split_first() else { return };
    let Some((key, value)) = rest.split_at_checked(usize::from(length)) else { return };
    let Ok(record) = Record::read(key, &sealed(key, value)) else { return };
    let (again_key, again) = record.written();
    assert_eq!(Record::read(&again_key, &again).as_ref(), Ok(&record), "{}", record.name());
});

/// The value with its checksum, which no fuzzer would guess.
fn sealed(key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut hash = Xxh3::new();
    hash.update(key);
    hash.update(value);
    let checksum = hash.digest() as u32;
    [value, &checksum.to_le_bytes()].concat()
}
