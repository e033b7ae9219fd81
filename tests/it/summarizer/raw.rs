//! A server below HTTP: it writes bytes, and continues or disconnects.

use std::future::Future;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// The head of a response whose body has no known end.
pub const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";

/// Serves one connection with `serve`, once a request has arrived on it; returns the address.
pub async fn serving<F>(serve: impl FnOnce(TcpStream) -> F + Send + 'static) -> String
where
    F: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 1_024];
        assert!(stream.read(&mut head).await.unwrap() > 0);
        serve(stream).await;
    });
    format!("http://{address}")
}

/// Writes chunks of a body until nobody reads them.
pub async fn endlessly(mut stream: TcpStream) {
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let mut written = stream.write_all(HEAD.as_bytes()).await;
    while written.is_ok() {
        written = stream.write_all(chunk.as_bytes()).await;
    }
}

/// Writes the start of a body, and closes the connection.
pub async fn half(mut stream: TcpStream) {
    stream.write_all(HEAD.as_bytes()).await.unwrap();
    stream.write_all(b"5\r\n{\"id\"\r\n").await.unwrap();
}

/// Writes the start of a body, and waits until nobody reads any more.
pub async fn stalling(mut stream: TcpStream) {
    stream.write_all(HEAD.as_bytes()).await.unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
}
