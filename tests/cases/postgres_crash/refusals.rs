//! A database that is there, and refuses.

use tokio_postgres::{Client, NoTls};
use tonic::Status;

use crate::{
    postgres_crash::{
        calls::{hello, hellos},
        fleet::{Fleet, is_unavailable, runtime, within},
    },
    support::postgres::{Cluster, FAST},
};

/// The most connections that the database accepts.
const MOST: usize = 8;

/// Other programs use all connections that the database accepts: servers go on with those that they have; without
/// any, they wait.
pub fn the_database_is_full_of_connections() -> Result<(), String> {
    let cluster = Cluster::start(&[("max_connections", &MOST.to_string())])?;
    runtime().block_on(async {
        let fleet = Fleet::start(&[cluster.url()], 2).await;
        hello(fleet.client(0)).await.unwrap();
        let rest = rest_of_connections(&cluster).await;
        hello(fleet.client(0)).await.unwrap();
        drop(rest);
        let others = within("all connections", all_connections(&cluster)).await;
        is_unavailable(hello(fleet.client(0))).await;
        is_unavailable(hellos(fleet.client(0))).await;
        fleet.does_not_serve(0).await;
        drop(others);
        fleet.serves(0).await;
        hello(fleet.client(0)).await.unwrap();
        assert_eq!(hellos(fleet.client(0)).await.unwrap(), 3);
    });
    Ok(())
}

/// The database accepts no writes, as a primary that became a standby.
pub fn the_database_becomes_read_only() -> Result<(), String> {
    let cluster = Cluster::start(&FAST)?;
    let set = |sql: &str| cluster.psql(&format!("ALTER SYSTEM {sql}; SELECT pg_reload_conf();"));
    runtime().block_on(async {
        let fleet = Fleet::start(&[cluster.url()], 2).await;
        let mut accepted = 0;
        set("SET default_transaction_read_only = on");
        // each connection learns of it at some moment
        let refused = within("a refusal", refusal(&fleet, &mut accepted)).await;
        is_unavailable(async { Err::<(), _>(refused) }).await;
        fleet.does_not_serve(0).await;
        is_unavailable(hello(fleet.client(0))).await;
        // nothing is read from what may be an outdated standby
        is_unavailable(hellos(fleet.client(0))).await;
        set("RESET default_transaction_read_only");
        fleet.serves(0).await;
        hello(fleet.client(0)).await.unwrap();
        assert_eq!(hellos(fleet.client(0)).await.unwrap(), accepted + 1);
    });
    Ok(())
}

/// Opens connections until there are no more.
async fn rest_of_connections(cluster: &Cluster) -> Vec<Client> {
    let mut rest = Vec::new();
    while let Some(client) = connection(cluster).await {
        rest.push(client);
    }
    rest
}

async fn connection(cluster: &Cluster) -> Option<Client> {
    let (client, connection) = tokio_postgres::connect(&cluster.url(), NoTls).await.ok()?;
    tokio::spawn(connection);
    Some(client)
}

/// Opens connections until there are no more, closing those of the servers.
async fn all_connections(cluster: &Cluster) -> Vec<Client> {
    let mut all: Vec<Client> = Vec::new();
    while all.len() < MOST {
        match connection(cluster).await {
            Some(client) => all.push(client),
            None => {
                // There is none yet as long as those that were just closed count.
                let Some(last) = all.last() else { continue };
                let close = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name LIKE 'server_%'";
                last.batch_execute(close).await.expect("an answer");
            }
        }
    }
    all
}

/// Writes until that is refused.
async fn refusal(fleet: &Fleet, accepted: &mut i64) -> Status {
    loop {
        match hello(fleet.client(0)).await {
            Ok(_) => *accepted += 1,
            Err(status) => return status,
        }
    }
}
