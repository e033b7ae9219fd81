//! Calls as bytes: any method of the descriptors, and the whole response.

use bytes::{Buf, BufMut, Bytes};
use futures::stream;
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};
use serde_json::Value;
use tonic::{
    Code, Request, Status, Streaming,
    client::Grpc,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    transport::Channel,
};
use utterd::proto::descriptors;

use super::session::settle;

/// The descriptors of the protos.
pub fn pool() -> &'static DescriptorPool {
    descriptors().expect("the descriptors are good")
}

/// All methods of utterd's services.
pub fn methods() -> Vec<MethodDescriptor> {
    let services = pool().services().filter(|service| service.package_name() == "utterd.v1");
    services.flat_map(|service| service.methods().collect::<Vec<_>>()).collect()
}

/// The method called `name` of one of utterd's services.
pub fn method(name: &str) -> MethodDescriptor {
    let mut methods = methods().into_iter();
    methods.find(|method| method.name() == name).unwrap_or_else(|| panic!("there is no method {name}"))
}

/// A whole response.
#[derive(Debug, PartialEq)]
pub struct Answer {
    pub code: Code,
    pub message: String,
    /// The bytes of its details in ascending order, because maps in them have no order.
    pub details: Vec<u8>,
    /// The messages, unchanged.
    pub messages: Vec<Bytes>,
    /// Whether it would have continued.
    pub is_open: bool,
}

impl Answer {
    /// The messages in the JSON form.
    pub fn json(&self, method: &MethodDescriptor) -> Vec<Value> {
        let read = |message: &Bytes| {
            let message = DynamicMessage::decode(method.output(), message.clone()).expect("a message");
            serde_json::to_value(message).expect("it has a JSON form")
        };
        self.messages.iter().map(read).collect()
    }
}

/// The message of `method`'s requests that is `value` in JSON.
pub fn request(method: &MethodDescriptor, value: &Value) -> serde_json::Result<DynamicMessage> {
    DynamicMessage::deserialize(method.input(), value)
}

/// Calls `method` with `token`; an endless stream is read until nothing more arrives.
pub async fn call(
    channel: Channel,
    token: Option<&str>,
    method: &MethodDescriptor,
    requests: &[DynamicMessage],
) -> Answer {
    match open(channel, token, method, requests).await {
        Ok(stream) => read(stream, is_endless(method)).await,
        Err(status) => answer(Some(status), Vec::new(), false),
    }
}

/// Whether a call of the method continues until its caller ends it.
pub fn is_endless(method: &MethodDescriptor) -> bool {
    method.name().starts_with("Watch")
}

/// Starts a call.
pub async fn open(
    channel: Channel,
    token: Option<&str>,
    method: &MethodDescriptor,
    requests: &[DynamicMessage],
) -> Result<Streaming<Bytes>, Status> {
    let requests: Vec<_> = requests.iter().map(DynamicMessage::encode_to_vec).collect();
    let mut request = Request::new(stream::iter(requests));
    if let Some(token) = token {
        let credential = format!("Bearer {token}").parse().expect("metadata");
        request.metadata_mut().insert("authorization", credential);
    }
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let mut client = Grpc::new(channel);
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    Ok(client.streaming(request, path.parse().expect("a path"), Raw).await?.into_inner())
}

/// Reads `stream`: completely, or, if it is endless, until nothing more arrives on its own.
pub async fn read(mut stream: Streaming<Bytes>, is_endless: bool) -> Answer {
    let mut messages = Vec::new();
    loop {
        let next = tokio::select! {
            biased;
            next = stream.message() => next,
            () = settle(), if is_endless => return answer(None, messages, true),
        };
        match next {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return answer(None, messages, false),
            Err(status) => return answer(Some(status), messages, false),
        }
    }
}

fn answer(status: Option<Status>, messages: Vec<Bytes>, is_open: bool) -> Answer {
    let status = status.unwrap_or_else(|| Status::ok(""));
    let mut details = status.details().to_vec();
    details.sort_unstable();
    Answer { code: status.code(), message: status.message().to_owned(), details, messages, is_open }
}

/// Messages as bytes.
#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, message: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put_slice(&message);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}
