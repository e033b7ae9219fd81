//! Files of other programs: whatever they contain, they are read or refused. The first byte selects the
//! format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utterd::formats::{Format, UnknownRoles, parse};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, content)) = bytes.split_first() else { return };
    let format = usize::from(first % 10).checked_sub(1).map(|at| Format::ALL[at]);
    let unknown_roles = if first & 0x80 == 0 { UnknownRoles::Refuse } else { UnknownRoles::ReadAsUser };
    let _ = parse(content, format, unknown_roles);
});
