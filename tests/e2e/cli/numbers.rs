//! `stats`, `share` and `delete-recipient`.

use super::*;

#[test]
fn what_is_stored_is_counted() {
    let server = Server::shared();
    let talk = ["--recipient", "counter", "counted"];
    let run = |first: &[&str]| server.run(&[first, &talk[..]].concat());
    let say = |words: &[&str]| server.run(&[&["memorize"], &talk[..], words].concat()).worked();
    say(&["Where is my order?"]);
    say(&["--role", "assistant", "On its way."]);
    let told = run(&["stats", "--by", "month"]).worked();
    assert_holds(
        &told,
        &["counted · revision 2", "2 utterances", "1 turn", "user", "assistant", "0 archived"],
    );
    let all = server.run(&["stats", "--recipient", "counter", "--all"]).worked();
    assert_holds(&all, &["counter · 1 conversation · 1 active", "2 utterances"]);
    let json = run(&["stats", "--json"]).worked();
    assert_holds(&json, &["\"utteranceCount\": 2", "\"turnCount\": 1"]);
    let both = run(&["stats", "--all"]).failed(2);
    assert_holds(&both, &["--all", "CONVERSATION"]);
}

#[test]
fn a_token_is_made_read_listed_and_revoked() {
    let server = Server::shared();
    let run = |first: &[&str]| server.run(&[first, &["lent"]].concat());
    server.run(&["memorize", "lent", "The train leaves at nine."]).worked();
    let made = run(&["share", "--ttl", "1h"]);
    let id = made.stderr.trim().rsplit(' ').next().expect("the share's id").to_owned();
    let token = made.worked();
    let token = token.trim();
    assert_holds(&run(&["share", "--list"]).worked(), &[&id, "without its archive until "]);
    let read = server.run(&["share", "--read", token]).worked();
    assert_holds(&read, &["lent · 1 utterance", "user: The train leaves at nine."]);
    assert_holds(&run(&["share", "--revoke", &id]).worked(), &["revoked"]);
    let refused = server.run(&["share", "--read", token]).failed(1);
    assert_holds(&refused, &["is not valid", "SHARE_NOT_VALID"]);
    assert_holds(&run(&["share", "--ttl", "2years"]).failed(1), &["ttl"]);
}

#[test]
fn a_recipient_is_deleted_when_that_is_meant() {
    let server = Server::shared();
    server.run(&["memorize", "--recipient", "leaver", "Forget me."]).worked();
    let delete = ["delete-recipient", "leaver"];
    assert_holds(&server.run(&delete).failed(2), &["--yes"]);
    assert_holds(&server.run(&["delete-recipient", "--yes"]).failed(2), &["<RECIPIENT>"]);
    let removed = server.run(&[&delete[..], &["--yes"]].concat()).worked();
    assert_eq!(removed, "removed 1 conversation with 1 utterance\n");
    let gone = server.run(&["show", "--recipient", "leaver"]).worked();
    assert_holds(&gone, &["leaver has no conversation yet", "nothing in the window", "0 of 20 utterances"]);
}
