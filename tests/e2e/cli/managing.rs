//! `delete`.

use super::{Server, assert_holds};

#[test]
fn a_conversation_is_deleted_when_that_is_meant() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "planned", "Four nights."]).worked();
    assert_holds(&server.run(&["delete", "planned"]).failed(2), &["--yes"]);
    assert_holds(&server.run(&["delete", "--yes"]).failed(2), &["<CONVERSATION>"]);
    let deleted = server.run(&["delete", "planned", "--yes"]).worked();
    assert_eq!(deleted, "removed planned with 1 utterance\n");
    server.run(&["show", "planned"]).failed(3);
    server.run(&["delete", "planned", "--yes"]).failed(3);
}
