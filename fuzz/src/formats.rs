//! Files of other programs: whatever they contain, they are read or refused. The first byte selects the
//! format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utterd::formats::{Format, UnknownRoles, parse};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, content)) = bytes.split_first() else { return };
    let format = match first % 6 {
        0 => None,
        1 => Some(Format::OpenAiChat),
        2 => Some(Format::OpenAiResponses),
        3 => Some(Format::Anthropic),
        4 => Some(Format::Persisted),
        _ => Some(Format::Legacy),
    };
    let unknown_roles = if first & 0x80 == 0 { UnknownRoles::Refuse } else { UnknownRoles::ReadAsUser };
    let _ = parse(content, format, unknown_roles);
});
