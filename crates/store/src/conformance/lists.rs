//! Lists of a namespace's and of a recipient's conversations, in every order.

use super::support::*;
use utterd_domain::Head;

const ORDERS: [ListOrder; 4] = [
    ListOrder { by_update: false, newest_first: true },
    ListOrder { by_update: false, newest_first: false },
    ListOrder { by_update: true, newest_first: true },
    ListOrder { by_update: true, newest_first: false },
];
const BY_UPDATE: [ListOrder; 2] = [ORDERS[2], ORDERS[3]];

/// A namespace's list has the conversations of all its recipients, and none of another namespace.
pub async fn a_namespace_lists_all_its_recipients(store: Arc<dyn Store>) {
    assert_eq!(all(&store, list(ORDERS[0])).await, [""; 0]);
    for (id, whose, seconds) in [("a", "ann", 1), ("b", "bob", 2), ("c", "ann", 3)] {
        starting(&store, id, whose, seconds).await;
    }
    let mut other = Script::of(&store, identity(key_in("other", "d"), "ann"), Policy::ROLLING);
    other.create().await;
    assert_eq!(all(&store, list(ORDERS[0])).await, ["c", "b", "a"]);
    let theirs = ListOf::Namespace(Namespace::new("other").unwrap());
    assert_eq!(all(&store, List { of: theirs, ..list(ORDERS[0]) }).await, ["d"]);
    let nobodys = ListOf::Namespace(Namespace::new("nobody").unwrap());
    assert_eq!(all(&store, List { of: nobodys, ..list(ORDERS[2]) }).await, [""; 0]);
}

/// Lists of a namespace and of a recipient are right in every order, in pages of any size.
pub async fn lists_are_in_each_order(store: Arc<dyn Store>) {
    let mut heads = Vec::new();
    for number in 0..12_i64 {
        let whose = if number % 3 == 0 { "bob" } else { "ann" };
        let mut script = starting(&store, &format!("c{number}"), whose, number / 2).await;
        // some update times share a span, some are far apart, and their order is not that of the starts
        script.now = START.plus(Duration::from_millis(((number * 7) % 12 * 29_000) as u64));
        script.say(users(1)).await;
        heads.push(script.state.head.clone());
    }
    for order in ORDERS {
        for of in [list(order).of, ListOf::Recipient(recipient("ann")), ListOf::Recipient(recipient("bob"))] {
            let expected = ordered(&heads, &of, order);
            for limit in [1, 2, 5, 100] {
                let list = List { of: of.clone(), limit, ..list(order) };
                assert_eq!(all(&store, list).await, expected, "{of:?} {order:?} in pages of {limit}");
            }
        }
    }
}

/// Only conversations whose ids have the prefix are listed.
pub async fn ids_that_begin_alike_are_listed(store: Arc<dyn Store>) {
    let mut heads = Vec::new();
    for (number, id) in ["user:1", "user:12", "user:2", "User:1", "u", "users", "ß", "ßa"].iter().enumerate()
    {
        let mut script =
            starting(&store, id, if number % 2 == 0 { "ann" } else { "bob" }, number as i64).await;
        script.now = START.plus(Duration::from_secs(100 - number as u64));
        script.say(users(1)).await;
        heads.push(script.state.head.clone());
    }
    for order in ORDERS {
        for prefix in ["u", "user:", "user:1", "user:12", "x", "ß", "user:123"] {
            for of in [list(order).of, ListOf::Recipient(recipient("bob"))] {
                let expected = ordered(&heads, &of, order);
                let expected: Vec<_> = expected.into_iter().filter(|id| id.starts_with(prefix)).collect();
                for limit in [1, 100] {
                    let list = List { of: of.clone(), id_prefix: prefix.into(), limit, ..list(order) };
                    assert_eq!(all(&store, list).await, expected, "{prefix} {order:?}");
                }
            }
        }
    }
}

/// A change moves a conversation to its new place in a list by update, whether moments or hours later.
pub async fn a_change_moves_in_a_list_by_update(store: Arc<dyn Store>) {
    let mut first = starting(&store, "first", "ann", 0).await;
    starting(&store, "second", "ann", 1).await;
    for later in [2, 65, 3_600] {
        first.now = START.plus(Duration::from_secs(later));
        first.say(users(1)).await;
        assert_eq!(all(&store, list(BY_UPDATE[0])).await, ["first", "second"]);
        assert_eq!(all(&store, list(BY_UPDATE[1])).await, ["second", "first"]);
        assert_eq!(all(&store, list(ORDERS[0])).await, ["second", "first"]);
    }
    // clocks can go back
    first.now = START.minus(Duration::from_secs(3_600));
    first.say(users(1)).await;
    assert_eq!(all(&store, list(BY_UPDATE[0])).await, ["second", "first"]);
}

/// A deleted conversation is in no list; a new one with its id is.
pub async fn what_is_deleted_is_in_no_list(store: Arc<dyn Store>) {
    let mut gone = starting(&store, "gone", "ann", 0).await;
    gone.say(users(3)).await;
    gone.delete().await;
    for order in ORDERS {
        assert_eq!(all(&store, list(order)).await, [""; 0]);
        assert_eq!(all(&store, List { id_prefix: "gone".into(), ..list(order) }).await, [""; 0]);
    }
    gone.create().await;
    for order in ORDERS {
        assert_eq!(all(&store, list(order)).await, ["gone"]);
    }
}

/// A page starts behind the last entry of the previous page, even if that was deleted. Conversations that do
/// not move are listed once.
pub async fn pages_go_on_while_others_come_and_go(store: Arc<dyn Store>) {
    for order in ORDERS {
        let mut scripts = Vec::new();
        for number in 0..6 {
            scripts.push(starting(&store, &format!("c{number}"), "ann", number * 50).await);
        }
        let page = List { limit: 2, ..list(order) };
        let heads = store.list(page.clone()).await.unwrap();
        let mut ids = ids(&heads);
        let after = heads.last().map(|head| order.place(head));
        // deletes the last listed conversation and an unlisted one; the new one starts before all others
        let (told, untold) = if order.newest_first { (4, 1) } else { (1, 4) };
        scripts[told].delete().await;
        scripts[untold].delete().await;
        let mut early = starting(&store, "early", "ann", -50).await;
        ids.extend(all(&store, List { after, ..page }).await);
        let expected: &[&str] = match order.newest_first {
            true => &["c5", "c4", "c3", "c2", "c0", "early"],
            false => &["c0", "c1", "c2", "c3", "c5"],
        };
        assert_eq!(ids, expected, "{order:?}");
        early.delete().await;
        for number in [0, 2, 3, 5] {
            scripts[number].delete().await;
        }
    }
}

/// In a list with the oldest update first, a conversation that changes between two pages is listed again, and
/// none is left out.
pub async fn nothing_stays_unlisted_that_changes_meanwhile(store: Arc<dyn Store>) {
    let mut scripts = Vec::new();
    for number in 0..9 {
        scripts.push(starting(&store, &format!("c{number}"), "ann", number * 10).await);
    }
    let (mut told, mut after) = (Vec::new(), None);
    for round in 0.. {
        let page = List { limit: 2, after: after.clone(), ..list(BY_UPDATE[1]) };
        let heads = store.list(page).await.unwrap();
        let Some(last) = heads.last() else { break };
        after = Some(BY_UPDATE[1].place(last));
        told.extend(ids(&heads));
        // changes a conversation that was listed and one that was not
        if let Some(changed) = [[0, 8], [1, 7]].get(round) {
            for script in changed {
                scripts[*script].now = START.plus(Duration::from_secs(1_000 + round as u64));
                scripts[*script].say(users(1)).await;
            }
        }
    }
    let seen: BTreeSet<_> = told.iter().map(String::as_str).collect();
    assert_eq!(seen.len(), 9, "{told:?}");
    assert_eq!(told, ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c0", "c8", "c1", "c7"]);
}

fn list(order: ListOrder) -> List {
    let of = ListOf::Namespace(Namespace::default());
    List { of, id_prefix: "".into(), order, after: None, limit: 100 }
}

/// Reads the ids of a whole list, page by page.
async fn all(store: &Arc<dyn Store>, mut list: List) -> Vec<String> {
    let mut listed = Vec::new();
    loop {
        let page = store.list(list.clone()).await.expect("a list is read");
        assert!(page.len() <= list.limit, "a page holds at most its limit");
        let Some(last) = page.last() else { return listed };
        list.after = Some(list.order.place(last));
        listed.extend(ids(&page));
    }
}

fn ids(heads: &[Head]) -> Vec<String> {
    heads.iter().map(|head| head.identity.key.id.to_string()).collect()
}

/// The ids of the conversations that a list should contain, in its order.
fn ordered(heads: &[Head], of: &ListOf, order: ListOrder) -> Vec<String> {
    let theirs = heads.iter().filter(|head| of.has(&head.identity.recipient));
    let mut places: Vec<_> = theirs.map(|head| order.place(head)).collect();
    places.sort();
    if order.newest_first {
        places.reverse();
    }
    places.into_iter().map(|(_, id)| id.to_string()).collect()
}
