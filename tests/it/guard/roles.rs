//! What each role can call, for every call that is served.

use tonic::Code;

use crate::{
    guard::guarded::{Guarded, bearer, entry, headers},
    support::wire::methods,
};

/// The calls that change nothing.
const READS: [&str; 19] = [
    "BuildContext",
    "CountTokens",
    "ExportConversation",
    "GetCapacityInfo",
    "GetConversation",
    "GetState",
    "GetStats",
    "GetSummary",
    "ListCompactions",
    "ListConversations",
    "ListMessages",
    "ListUtterances",
    "PrepareHistory",
    "ReadShared",
    "Remember",
    "Summarize",
    "WatchCapacity",
    "WatchEvents",
    "ServerReflectionInfo",
];

/// The paths of all of the service's own calls.
fn paths() -> Vec<String> {
    let paths: Vec<_> = methods()
        .into_iter()
        .map(|it| format!("/{}/{}", it.parent_service().full_name(), it.name()))
        .collect();
    assert!(paths.len() > 30, "{} calls", paths.len());
    paths
}

fn is_read(path: &str) -> bool {
    READS.iter().any(|name| path.ends_with(&format!("/{name}")))
}

fn is_admins(path: &str) -> bool {
    path.starts_with("/utterd.v1.AdminService/")
}

async fn server() -> Guarded {
    let roles = ["read-only", "read-write", "admin"];
    let text: String = roles.map(|role| entry(role, "shop", role, role)).concat();
    Guarded::with(&text).await
}

/// The role that the server requires, if it refuses the call to `role`.
async fn asked(server: &Guarded, path: &str, role: &str) -> Option<String> {
    let status = server.call(path, &bearer(role)).await.err()?;
    let refused = crate::support::refusal::Refused::new(status);
    let reason = refused.details().error_info().map(|info| info.reason.clone());
    (reason.as_deref() == Some("ROLE_FORBIDS"))
        .then(|| refused.is(Code::PermissionDenied, "ROLE_FORBIDS").message().to_owned())
}

#[tokio::test]
async fn a_reader_is_refused_what_changes_something() {
    let server = server().await;
    for path in paths() {
        let asked = asked(&server, &path, "read-only").await;
        let role = if is_admins(&path) { "admin" } else { "read-write" };
        let wanted = (!is_read(&path))
            .then(|| format!("the call needs the role {role}, which the credential does not have"));
        assert_eq!(asked, wanted, "{path}");
    }
}

#[tokio::test]
async fn a_writer_is_refused_only_what_concerns_the_server() {
    let server = server().await;
    for path in paths() {
        assert_eq!(asked(&server, &path, "read-write").await.is_some(), is_admins(&path), "{path}");
    }
}

/// It contains what every namespace has stored.
#[tokio::test]
async fn a_backup_is_an_admins() {
    let server = server().await;
    let backup = "/utterd.v1.AdminService/Backup";
    for role in ["read-only", "read-write"] {
        let refused = server.refusal(backup, &bearer(role)).await;
        refused.is(Code::PermissionDenied, "ROLE_FORBIDS").says("admin");
    }
    assert_eq!(asked(&server, backup, "admin").await, None);
}

#[tokio::test]
async fn an_admin_is_refused_nothing() {
    let server = server().await;
    for path in paths() {
        assert_eq!(asked(&server, &path, "admin").await, None, "{path}");
    }
}

#[tokio::test]
async fn nobody_is_served_without_a_credential() {
    let server = server().await;
    let reflection =
        ["v1", "v1alpha"].map(|v| format!("/grpc.reflection.{v}.ServerReflection/ServerReflectionInfo"));
    for path in paths().into_iter().chain(reflection).chain(["/nowhere".to_owned()]) {
        if path.ends_with("/ReadShared") {
            continue;
        }
        let refused = server.refusal(&path, &headers(&[])).await;
        refused.is(Code::Unauthenticated, "MISSING_CREDENTIALS").says("authorization: Bearer");
        let refused = server.refusal(&path, &bearer("other")).await;
        refused.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    }
}

#[tokio::test]
async fn whoever_looks_after_the_server_may_ask_for_its_health() {
    let server = server().await;
    for path in ["/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"] {
        server.call(path, &headers(&[])).await.expect("it is served");
        server.call(path, &bearer("other")).await.expect("it is served");
    }
}
