//! Messages on the wire: protobuf, as tonic's own codec writes it. Most are small, so the buffers of a call begin small;
//! an answer is written into memory of its length, because a buffer that can grow costs some time for each field.

use std::marker::PhantomData;

use bytes::{Buf, BufMut};
use prost::{Message, Name};
use tonic::{
    Status,
    codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};
use tonic_prost::ProstCodec;

use crate::{convert::status::too_large, weight::weight};
use utterd_domain::limits::{DEFAULT_MAX_MESSAGE_BYTES, MESSAGE_GROWTH, TINY_MESSAGE_BYTES};

/// The first size of a buffer, in bytes.
const BUFFER_BYTES: usize = 1 << 10;
/// A stream hands on what it has encoded once it has that many bytes, as by default.
const HAND_ON_BYTES: usize = 32 << 10;

fn buffers() -> BufferSettings {
    BufferSettings::new(BUFFER_BYTES, HAND_ON_BYTES)
}

/// The codec of the project's services: it encodes `T` and decodes `U`.
#[derive(Debug)]
pub struct MessageCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for MessageCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for MessageCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Name + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = MessageEncoder<T>;
    type Decoder = MessageDecoder<T, U>;

    fn encoder(&mut self) -> Self::Encoder {
        MessageEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        MessageDecoder(ProstCodec::<T, U>::raw_decoder(buffers()))
    }
}

/// Encodes messages.
#[derive(Debug)]
pub struct MessageEncoder<T>(PhantomData<T>);

impl<T: Message> Encoder for MessageEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&message.encode_to_vec());
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }
}

/// Decodes messages. A request whose many small parts would take too much memory is refused before it is decoded.
#[derive(Debug)]
pub struct MessageDecoder<T, U>(<ProstCodec<T, U> as Codec>::Decoder)
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static;

impl<T, U> Decoder for MessageDecoder<T, U>
where
    T: Message + Send + 'static,
    U: Message + Name + Default + Send + 'static,
{
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let length = buffer.remaining();
        if length > TINY_MESSAGE_BYTES && U::NAME.ends_with("Request") {
            // a long text is no more in memory than on the wire
            let most = MESSAGE_GROWTH * length.max(DEFAULT_MAX_MESSAGE_BYTES);
            if weight(&U::full_name(), buffer.chunk()) > most {
                return Err(too_many_parts(most));
            }
        }
        self.0.decode(buffer)
    }

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }
}

fn too_many_parts(most: usize) -> Status {
    let text = format!(
        "the message has too many parts: decoded, it takes more than {most} bytes; send fewer at a time"
    );
    too_large(most, text)
}
