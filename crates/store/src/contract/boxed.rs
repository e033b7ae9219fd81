//! The types that a store's asynchronous methods return.

use std::{future::Future, pin::Pin};

use futures::Stream;

/// A future returned by a store.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A stream returned by a store.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;
