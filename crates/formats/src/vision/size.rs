//! The width and height of a picture, from its header.

/// Width and height in pixels.
pub type Size = (u32, u32);

/// The size of a PNG, JPEG, GIF or WebP, of which `bytes` are the first; `None` if they do not tell it.
pub fn size(bytes: &[u8]) -> Option<Size> {
    let size = match bytes {
        [0x89, b'P', b'N', b'G', ..] => big_endian(bytes.get(16..24)?),
        [b'G', b'I', b'F', ..] => little_endian(bytes.get(6..10)?),
        [0xFF, 0xD8, rest @ ..] => jpeg(rest),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', rest @ ..] => webp(rest),
        _ => None,
    };
    size.filter(|(width, height)| *width > 0 && *height > 0)
}

/// Walks the segments up to the one that starts a frame.
fn jpeg(mut segments: &[u8]) -> Option<Size> {
    loop {
        segments = match segments {
            // bytes may fill the space before a marker
            [0xFF, 0xFF, ..] => segments.get(1..)?,
            [0xFF, 0x01 | 0xD0..=0xD9, ..] => segments.get(2..)?,
            // the others of these are tables
            [0xFF, marker @ 0xC0..=0xCF, frame @ ..] if !matches!(marker, 0xC4 | 0xC8 | 0xCC) => {
                let &[height, more, width, less] = frame.get(3..7)? else { return None };
                return Some((
                    u16::from_be_bytes([width, less]).into(),
                    u16::from_be_bytes([height, more]).into(),
                ));
            }
            [0xFF, _, high, low, ..] => segments.get(2 + usize::from(u16::from_be_bytes([*high, *low]))..)?,
            _ => return None,
        };
    }
}

fn webp(chunk: &[u8]) -> Option<Size> {
    match (chunk.get(..4)?, chunk.get(8..)?) {
        (b"VP8 ", frame) => {
            let (width, height) = little_endian(frame.get(6..10)?)?;
            Some((width & 0x3FFF, height & 0x3FFF))
        }
        (b"VP8L", &[0x2F, a, b, c, d, ..]) => {
            let bits = u32::from_le_bytes([a, b, c, d]);
            Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        (b"VP8X", &[_, _, _, _, a, b, c, d, e, f, ..]) => {
            let less_one = |bytes: [u8; 3]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) + 1;
            Some((less_one([a, b, c]), less_one([d, e, f])))
        }
        _ => None,
    }
}

fn big_endian(bytes: &[u8]) -> Option<Size> {
    let (width, height) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*width), u32::from_be_bytes(height.try_into().ok()?)))
}

fn little_endian(bytes: &[u8]) -> Option<Size> {
    let &[width, more, height, most] = bytes else { return None };
    Some((u16::from_le_bytes([width, more]).into(), u16::from_le_bytes([height, most]).into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A header of each kind, of a picture of 300 by 200.
    fn headers() -> [Vec<u8>; 6] {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 1, 44, 0, 0, 0, 200]].concat();
        let gif = [b"GIF89a".as_slice(), &[44, 1, 200, 0]].concat();
        let frame = [0xFF, 0xC2, 0, 17, 8, 0, 200, 1, 44];
        let jpeg = [&[0xFF, 0xD8, 0xFF, 0xE1, 0, 4, 9, 9, 0xFF, 0xFF, 0xC4, 0, 3, 9][..], &frame].concat();
        let riff = |chunk: &[u8], content: &[u8]| [b"RIFF\0\0\0\0WEBP", chunk, b"\0\0\0\0", content].concat();
        let bits: u32 = 299 | 199 << 14;
        [
            png,
            gif,
            jpeg,
            riff(b"VP8 ", &[0, 0, 0, 0x9D, 0x01, 0x2A, 44, 1, 200, 0]),
            riff(b"VP8L", &[[0x2F].as_slice(), &bits.to_le_bytes()].concat()),
            riff(b"VP8X", &[0, 0, 0, 0, 43, 1, 0, 199, 0, 0]),
        ]
    }

    #[test]
    fn the_size_is_read_from_each_kind_of_header() {
        for header in headers() {
            assert_eq!(size(&header), Some((300, 200)), "{header:?}");
            (0..header.len())
                .for_each(|end| assert_eq!(size(&header[..end]), None, "{header:?} up to {end}"));
        }
    }

    #[test]
    fn a_picture_without_extent_has_no_size() {
        assert_eq!(size(b"GIF89a\0\0\x01\0"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(kind in 0..6usize, rest in prop::collection::vec(any::<u8>(), 0..60), keep in 0..30usize) {
            let header = &headers()[kind];
            let _ = size(&[&header[..keep.min(header.len())], &rest[..]].concat());
        }
    }
}
