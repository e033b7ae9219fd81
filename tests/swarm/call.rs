//! A call of any method.

use std::time::Duration;

use bytes::Bytes;
use prost_reflect::{DynamicMessage, MethodDescriptor};
use tokio::time::timeout;
use tonic::{Code, Status, transport::Channel};

use crate::support::wire::{is_endless, open};

/// An answer that takes longer never comes. No call takes a tenth of it, however slow the machine.
const HANG: Duration = Duration::from_secs(120);

/// The responses of a call, up to the first error.
pub async fn call(
    channel: &Channel,
    method: &MethodDescriptor,
    requests: &[DynamicMessage],
) -> Result<Vec<DynamicMessage>, Status> {
    let all = async {
        let mut responses = open(channel.clone(), None, method, requests).await?;
        let mut messages = Vec::new();
        while let Some(bytes) = responses.message().await? {
            messages.push(decoded(method, bytes));
            if is_endless(method) {
                break;
            }
        }
        Ok(messages)
    };
    timeout(HANG, all).await.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")))
}

/// Whether the caller can do nothing about it.
pub fn is_fault(code: Code) -> bool {
    use Code::{Cancelled, DataLoss, DeadlineExceeded, Internal, Unavailable, Unknown};
    matches!(code, Cancelled | DataLoss | DeadlineExceeded | Internal | Unavailable | Unknown)
}

fn decoded(method: &MethodDescriptor, bytes: Bytes) -> DynamicMessage {
    DynamicMessage::decode(method.output(), bytes).expect("a message of the method")
}
