//! A call of any method.

use std::time::Duration;

use futures::stream;
use prost::Message as _;
use prost_reflect::{DynamicMessage, MethodDescriptor};
use tokio::time::timeout;
use tonic::{Code, Request, Status, Streaming, client::Grpc, transport::Channel};

use crate::codec::Bytes;

/// An answer that takes longer never comes. No call takes a tenth of it, however slow the machine.
const HANG: Duration = Duration::from_secs(120);

/// The responses of a call, up to the first error.
pub async fn call(
    channel: &Channel,
    method: &MethodDescriptor,
    requests: &[DynamicMessage],
) -> Result<Vec<DynamicMessage>, Status> {
    let all = async {
        let mut responses = open(channel, method, requests).await?;
        let mut messages = Vec::new();
        while let Some(bytes) = responses.message().await? {
            messages.push(decoded(method, &bytes));
            if is_endless(method) {
                break;
            }
        }
        Ok(messages)
    };
    timeout(HANG, all).await.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")))
}

/// Starts a call.
pub async fn open(
    channel: &Channel,
    method: &MethodDescriptor,
    requests: &[DynamicMessage],
) -> Result<Streaming<Vec<u8>>, Status> {
    let encoded: Vec<Vec<u8>> = requests.iter().map(DynamicMessage::encode_to_vec).collect();
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let mut client = Grpc::new(channel.clone());
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let request = Request::new(stream::iter(encoded));
    Ok(client.streaming(request, path.parse().expect("a path"), Bytes).await?.into_inner())
}

pub fn is_endless(method: &MethodDescriptor) -> bool {
    method.name().starts_with("Watch")
}

/// Whether the caller can do nothing about it.
pub fn is_fault(code: Code) -> bool {
    use Code::{Cancelled, DataLoss, DeadlineExceeded, Internal, Unavailable, Unknown};
    matches!(code, Cancelled | DataLoss | DeadlineExceeded | Internal | Unavailable | Unknown)
}

fn decoded(method: &MethodDescriptor, bytes: &[u8]) -> DynamicMessage {
    DynamicMessage::decode(method.output(), bytes).expect("a message of the method")
}
