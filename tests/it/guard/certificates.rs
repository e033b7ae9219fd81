//! Client certificates, as presented by the connection.

use tonic::Code;

use crate::{
    guard::guarded::{Guarded, bearer, call, entry, headers},
    support::refusal::Refused,
};

const LIST: &str = "/utterd.v1.ConversationService/ListConversations";
const CREATE: &str = "/utterd.v1.ConversationService/CreateConversation";
/// Names `CN=orchestrator`, `DNS:Orchestrator.internal` and `URI:spiffe://shop/agent`.
const CLIENT: &[u8] = include_bytes!("../../fixtures/guard/client.der");
/// Names `CN=other`.
const OTHER: &[u8] = include_bytes!("../../fixtures/guard/other.der");

fn named(name: &str, role: &str, certificate: &str) -> String {
    format!(
        "[[credentials]]\nname = \"{name}\"\nnamespace = \"shop\"\nrole = \"{role}\"\ncertificate = \"{certificate}\"\n"
    )
}

#[tokio::test]
async fn a_certificate_lets_in_by_any_of_its_names() {
    let names = ["CN=orchestrator", "DNS:orchestrator.internal", "URI:spiffe://shop/agent"];
    for name in names {
        let server = Guarded::with(&named("agent", "read-write", name)).await;
        let client = server.connect_with(CLIENT).await;
        call(client, CREATE, &headers(&[])).await.expect(name);
        for stranger in [OTHER, b"nonsense"] {
            let stranger = server.connect_with(stranger).await;
            let status = call(stranger, LIST, &headers(&[])).await.expect_err("it has no entry");
            Refused::new(status).is(Code::Unauthenticated, "INVALID_CREDENTIALS");
        }
        server.refusal(LIST, &headers(&[])).await.is(Code::Unauthenticated, "MISSING_CREDENTIALS");
    }
}

#[tokio::test]
async fn a_name_is_not_taken_for_one_of_another_kind() {
    for name in
        ["CN=orchestrator.internal", "DNS:orchestrator", "URI:orchestrator", "CN=Orchestrator", "CN=shop"]
    {
        let server = Guarded::with(&named("agent", "read-write", name)).await;
        let client = server.connect_with(CLIENT).await;
        let status = call(client, LIST, &headers(&[])).await.expect_err("it is another name");
        Refused::new(status).is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    }
}

#[tokio::test]
async fn of_several_names_the_alternative_ones_come_first() {
    let text = named("common", "read-write", "CN=orchestrator")
        + &named("uri", "read-only", "URI:spiffe://shop/agent");
    let server = Guarded::with(&text).await;
    let client = server.connect_with(CLIENT).await;
    let status = call(client, CREATE, &headers(&[])).await.expect_err("it may read only");
    Refused::new(status).is(Code::PermissionDenied, "ROLE_FORBIDS");
}

#[tokio::test]
async fn a_token_counts_before_the_certificate() {
    let text =
        named("agent", "read-only", "CN=orchestrator") + &entry("one", "shop", "read-write", "token-1");
    let server = Guarded::with(&text).await;
    let client = server.connect_with(CLIENT).await;
    call(client.clone(), CREATE, &bearer("token-1")).await.expect("the token may");
    let status = call(client, LIST, &bearer("token-2")).await.expect_err("the token is none");
    Refused::new(status).is(Code::Unauthenticated, "INVALID_CREDENTIALS");
}
