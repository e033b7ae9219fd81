//! What traces add to a call: servers with and without them take turns.

use std::{convert::Infallible, sync::Arc, thread, time::Duration};

use http::Response;
use http_body_util::{BodyExt as _, Empty};
use hyper::{Request, body::Bytes, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, sync::oneshot};
use utterd::proto::PolicyPreset;

use crate::{
    child::ServerProcess,
    load::{self, Call},
    measured::{Measured, measure, row},
    requests,
};

const CONVERSATIONS: usize = 256;
/// Rounds of each server, and the time of one: the system counts processor time in hundredths of a second.
const ROUNDS: usize = 11;
const ROUND: Duration = Duration::from_secs(3);

/// Compares the processor time of Memorize (ROLLING) with traces of no call, of the usual share, and of each.
pub fn run() {
    let endpoint = format!("traces_endpoint={}", collector());
    let traced = |share: &str| ServerProcess::start(&[endpoint.clone(), format!("traces_sampled={share}")]);
    let servers = [ServerProcess::start(&[]), traced("0.1"), traced("1")];
    let names: Vec<_> = (0..CONVERSATIONS).map(|index| format!("rolling-{index}")).collect();
    for server in &servers {
        let create: Vec<_> = names.iter().map(|name| requests::create(name, PolicyPreset::Rolling)).collect();
        load::all(&server.address, requests::CREATE, create, 64);
        let full: Vec<_> = names.iter().map(|name| requests::memorize(name, 0, 40)).collect();
        load::all(&server.address, requests::MEMORIZE, full, 64);
    }
    let said = (0..5).flat_map(|first| names.iter().map(move |name| requests::memorize(name, first, 1)));
    let call = Call { path: requests::MEMORIZE, requests: Arc::new(said.collect()) };
    let mut measured = [(); 3].map(|()| Measured::default());
    for round in 0..=ROUNDS {
        for (server, measured) in servers.iter().zip(&mut measured) {
            measure(server, (round > 0).then_some(measured), || {
                load::unary(&server.address, &call, load::IN_FLIGHT, ROUND).a_second()
            });
        }
    }
    let [without, usual, each] = &measured;
    let ratio = |of: &Measured| format!("{:.3}", of.micros_over(without));
    row(
        "Memorize (ROLLING), a tenth of the calls traced ÷ none, server's processors",
        ratio(usual),
        "≤ 1.03",
    );
    row("Memorize (ROLLING), each call traced ÷ none, server's processors", ratio(each), "");
    let [without, usual, each] = [without, usual, each].map(Measured::micros);
    println!("    {without:.2} µs without traces, {usual:.2} µs with a tenth, {each:.2} µs with each");
}

/// Starts a collector that reads everything and keeps nothing; returns its address.
fn collector() -> String {
    let (tell, told) = oneshot::channel();
    thread::spawn(move || {
        load::runtime().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("its address");
            tell.send(format!("http://{address}")).expect("it is awaited");
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                tokio::spawn(
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(swallow)),
                );
            }
        });
    });
    told.blocking_recv().expect("it listens")
}

async fn swallow(request: Request<Incoming>) -> Result<Response<Empty<Bytes>>, Infallible> {
    // A request that ends early was counted all the same.
    let _ = request.into_body().collect().await;
    Ok(Response::new(Empty::new()))
}
