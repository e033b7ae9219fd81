//! Unpacks compressed messages, so that their real size is known before they are decoded.

use std::{
    collections::VecDeque,
    io::{self, Read},
};

use bytes::{Buf, Bytes};
use flate2::read::GzDecoder;

use super::cut::HEAD;

/// Returns the unpacked length that a gzip stream states at its end. A stream that states a wrong length is refused
/// when it is unpacked.
pub fn unpacked_length(pieces: &VecDeque<Bytes>) -> usize {
    let mut last = [0; 4];
    let bytes = pieces.iter().rev().flat_map(|piece| piece.iter().rev());
    last.iter_mut().rev().zip(bytes).for_each(|(last, byte)| *last = *byte);
    u32::from_le_bytes(last) as usize
}

/// Unpacks the message in `pieces`, with a head for the unpacked message. Stops one byte beyond `most`, so that the
/// caller can tell a longer message.
pub fn unpack(pieces: VecDeque<Bytes>, most: usize) -> io::Result<Bytes> {
    let mut message = Vec::with_capacity(HEAD + unpacked_length(&pieces).min(most));
    message.extend_from_slice(&[0; HEAD]);
    let mut packed = Pieces(pieces);
    io::copy(&mut packed.by_ref().take(HEAD as u64), &mut io::sink())?;
    GzDecoder::new(packed).take(most as u64 + 1).read_to_end(&mut message)?;
    let length = u32::try_from(message.len() - HEAD).map_err(io::Error::other)?;
    message[1..HEAD].copy_from_slice(&length.to_be_bytes());
    Ok(message.into())
}

struct Pieces(VecDeque<Bytes>);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.0.front().is_some_and(Bytes::is_empty) {
            self.0.pop_front();
        }
        let Some(piece) = self.0.front_mut() else { return Ok(0) };
        let part = piece.len().min(buffer.len());
        piece.copy_to_slice(&mut buffer[..part]);
        Ok(part)
    }
}
