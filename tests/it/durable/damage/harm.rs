//! Ways to damage a file.

use std::fmt::{self, Display, Formatter};

use crate::{durable::files::Content, support::random::Random};

/// Bytes lost with one sector.
const SECTOR: usize = 512;

/// One kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// It ends at a byte.
    Cut(usize),
    /// A byte has other bits.
    Flip(usize, u8),
    /// A sector's worth of bytes is zeroed.
    Zero(usize),
    /// Its second half comes before its first.
    Swap,
    /// It is removed.
    Remove,
}

impl Harm {
    /// Random damage to a file with this content; half of the time near its end, which is the newest.
    pub fn any(content: &Content, random: &mut Random) -> Self {
        let length = content.bytes.len();
        let first = if random.percent(50) { length.saturating_sub(2 * SECTOR) } else { 0 };
        let place = first + random.below(length - first);
        match random.below(8) {
            0 | 1 => Self::Cut(place),
            2 | 3 => Self::Flip(place, random.between(1, 255) as u8),
            4 | 5 => Self::Zero(place),
            6 => Self::Swap,
            _ => Self::Remove,
        }
    }

    /// The damaged content; `None` if the file is removed.
    pub fn to(self, content: &Content) -> Option<Content> {
        let mut content = content.clone();
        let length = content.bytes.len();
        match self {
            Self::Cut(place) => {
                content.bytes.truncate(place);
                content.size = place as u64;
            }
            Self::Flip(place, bits) => content.bytes[place] ^= bits,
            Self::Zero(place) => content.bytes[place..length.min(place + SECTOR)].fill(0),
            Self::Swap => content.bytes.rotate_left(length / 2),
            Self::Remove => return None,
        }
        Some(content)
    }
}

impl Display for Harm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut(place) => write!(f, "cut at {place}"),
            Self::Flip(place, bits) => write!(f, "byte {place} changed by {bits:#04x}"),
            Self::Zero(place) => write!(f, "{SECTOR} bytes from {place} set to 0"),
            Self::Swap => write!(f, "halves swapped"),
            Self::Remove => write!(f, "removed"),
        }
    }
}
