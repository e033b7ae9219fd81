//! What traces and metrics add to a call: servers with and without traces take turns, and the metrics are timed alone.

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
    metered::{Page, Updates},
    requests,
};

const CONVERSATIONS: usize = 256;
/// Rounds of each server, and the time of one: the system counts processor time in hundredths of a second.
const ROUNDS: usize = 11;
const ROUND: Duration = Duration::from_secs(3);

/// Compares the processor time of Memorize (ROLLING) with traces of no call, of the usual share, and of each; and with
/// the time that its metrics take.
pub fn run() {
    let page = Page::new();
    let endpoint = format!("traces_endpoint={}", collector());
    let each = [endpoint.clone(), "traces_sampled=1".to_owned()];
    let servers = [&[page.setting()][..], &[endpoint], &each].map(ServerProcess::start);
    let names: Vec<_> = (0..CONVERSATIONS).map(|index| format!("rolling-{index}")).collect();
    for server in &servers {
        let create: Vec<_> = names.iter().map(|name| requests::create(name, PolicyPreset::Rolling)).collect();
        load::all(&server.address, requests::CREATE, create, 64);
        let full: Vec<_> = names.iter().map(|name| requests::memorize(name, 0, 40)).collect();
        load::all(&server.address, requests::MEMORIZE, full, 64);
    }
    let said = (0..5).flat_map(|first| names.iter().map(move |name| requests::memorize(name, first, 1)));
    let call = Call { path: requests::MEMORIZE, requests: Arc::new(said.collect()) };
    let before = page.read();
    let mut measured = [(); 3].map(|()| Measured::default());
    for round in 0..=ROUNDS {
        for (server, measured) in servers.iter().zip(&mut measured) {
            measure(server, (round > 0).then_some(measured), || {
                load::unary(&server.address, &call, load::IN_FLIGHT, ROUND).a_second()
            });
        }
    }
    report(&measured, &page.read().updates_since(&before));
}

fn report([without, usual, each]: &[Measured; 3], updates: &Updates) {
    let metrics = updates.micros(Duration::from_secs_f64(without.micros() / 1e6));
    let (metered, traced) = (without.micros() / (without.micros() - metrics), usual.micros_over(without));
    let ratio = |of: f64| format!("{of:.3}");
    row(
        "Memorize (ROLLING), metrics and the usual share of calls traced ÷ neither",
        ratio(metered * traced),
        "≤ 1.03",
    );
    row("Memorize (ROLLING), metrics ÷ none", ratio(metered), "");
    row("Memorize (ROLLING), the usual share of the calls traced ÷ none", ratio(traced), "");
    row("Memorize (ROLLING), each call traced ÷ none", ratio(each.micros_over(without)), "");
    let [without, usual, each] = [without, usual, each].map(Measured::micros);
    let Updates { counters, observations } = updates;
    println!(
        "    µs of the server's processors: {without:.2} without traces, {usual:.2} with the usual share, {each:.2} with each; \
         {metrics:.2} of them for {counters} counters and {observations} histograms"
    );
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
