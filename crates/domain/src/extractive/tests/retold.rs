//! Lines from earlier summaries: chosen from, combined with what came later, and forgotten.

use super::*;

#[test]
fn selecting_again_keeps_order_and_budget() {
    let source: Vec<_> =
        (1..30).map(|n| Arc::new(said(n, Role::User, &format!("Ship part P-{n} on day {n}.")))).collect();
    let all = summarise(&source, &Focus::none(), u32::MAX, o200k());
    assert_eq!(all.len(), 29);
    let some = select(all.iter().rev(), &Focus::none(), 100, o200k());
    assert!(some.iter().map(|sentence| sentence.tokens).sum::<u32>() <= 100 && some.len() > 5);
    assert!(some.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
}

#[test]
fn what_is_open_ends_a_summary_until_it_is_done() {
    let failed = calls(&[("pay_invoice", "{\"invoice\":\"INV-7\"}", "Error: card expired")]);
    let mut source = failed.clone();
    source.push(said(3, Role::Assistant, "Which card should I charge instead?"));
    let told = text(source, &Focus::none(), 200);
    let open = "Open: pay_invoice(INV-7) failed; Assistant asked: Which card should I charge instead?\n";
    assert!(told.ends_with(open), "{told}");

    let first: Vec<_> = failed.into_iter().map(Arc::new).collect();
    let before = summarise(&first, &Focus::none(), 100, o200k());
    let again =
        calls(&[("noop", "{}", ""), ("noop", "{}", ""), ("pay_invoice", "{\"invoice\":\"INV-7\"}", "paid")]);
    let again: Vec<_> = again.into_iter().map(Arc::new).collect();
    let after = retell(&before, &again, &Focus::none(), 200, o200k());
    let after: String = after.iter().map(|line| &*line.text).collect();
    assert!(after.contains("Assistant called pay_invoice(INV-7) → ok: paid\n"), "{after}");
    assert!(!after.contains("Open:") && !after.contains("expired"), "{after}");
}

#[test]
fn a_newer_list_takes_the_place_of_an_older_one() {
    let list = |at: u64, first: &str, second: &str| {
        let entry = |task: &str, state: &str| format!("{{\"content\":\"{task}\",\"status\":\"{state}\"}}");
        let entries = [entry("Port util_a", first), entry("Port util_b", second)].join(",");
        let list = format!("{{\"todos\":[{entries}]}}");
        [calling(at, "c", "TodoWrite", &list), answering(at + 1, "c", "updated")].map(Arc::new)
    };
    let mut lines = Vec::new();
    for (at, first, second, left) in [
        (1, "in_progress", "pending", "Port util_a, Port util_b"),
        (3, "completed", "pending", "Port util_b"),
        (5, "completed", "completed", "nothing left"),
    ] {
        lines = retell(&lines, &list(at, first, second), &Focus::none(), 200, o200k());
        let told: String = lines.iter().map(|line| &*line.text).collect();
        assert_eq!(told, format!("Open: To do: {left}\n"));
    }
}

#[test]
fn a_call_is_weighed_again_by_all_that_it_tells() {
    let source: Vec<_> = calls(&[("get_order", "{\"order_id\":\"W77\"}", "shipped")]);
    let source: Vec<_> = source.into_iter().map(Arc::new).collect();
    let lines = summarise(&source, &Focus::none(), 100, o200k());
    let called = lines.iter().find(|line| line.kind == LineKind::Said).unwrap();
    assert_eq!(&*called.text, "Assistant called get_order(W77) → ok: shipped\n");
    let again = Pool::of(&lines);
    assert_eq!(again.saids[0].said(), source::read(&source, false, false).saids[0].said());
    assert_eq!(again.saids[0].said(), "get_order(W77) → ok: shipped");
}

#[test]
fn what_is_still_talked_about_stays_longest() {
    let results = (1..40).map(|n| format!("{{\"order\":\"AB-{n:03}\",\n\"lines\":[]}}")).collect::<Vec<_>>();
    let all: Vec<_> = results.iter().map(|result| ("find_orders", "{}", result.as_str())).collect();
    let source: Vec<_> = calls(&all).into_iter().map(Arc::new).collect();
    let lines = summarise(&source, &Focus::none(), u32::MAX, o200k());
    let names = |focus: &Focus| -> String {
        select(&lines, focus, 60, o200k()).iter().map(|line| &*line.text).collect()
    };
    assert!(!names(&Focus::none()).contains("AB-007"));
    let recent = [said(100, Role::User, "What of AB-007?")];
    assert!(names(&Focus::on_talk(recent.iter())).contains("AB-007"));
}

#[test]
fn what_was_counted_only_stays_counted() {
    let source: Vec<_> = thirty_changes().into_iter().map(Arc::new).collect();
    let lines = summarise(&source, &Focus::none(), 150, o200k());
    let (shown, left_out) = (lines[0].items.len(), lines[0].left_out());
    assert!(shown > 2 && left_out > 0 && shown + left_out == 30, "{:?}", lines[0]);

    let newest = lines[0].items[shown - 1].sequence;
    let rest = lines[0].without(|sequence| sequence == newest, o200k()).unwrap();
    assert_eq!((rest.items.len(), rest.left_out()), (shown - 1, left_out));
    assert!(rest.text.ends_with(&format!("; … and {left_out} more\n")), "{}", rest.text);
    assert_eq!(rest.tokens, o200k().count(&rest.text));

    for budget in [60, 150, 400] {
        let folded = select(&lines, &Focus::none(), budget, o200k());
        assert_eq!(folded[0].items.len() + folded[0].left_out(), 30, "{:?}", folded[0]);
    }
    let last = Part { sequence: newest, result: None, text: "src/part_39.rs", weight: 0 };
    let told = Sentence::listed(LineKind::Act, lines[0].head(), &[last], 29, o200k());
    let again =
        [calling(101, "c", "write_file", "{\"path\":\"src/part_39.rs\"}"), answering(102, "c", "done")];
    let again = retell([&told], &again.map(Arc::new), &Focus::none(), 600, o200k());
    assert_eq!((again[0].sequence, again[0].left_out()), (Sequence(101), 29), "{again:?}");
}

#[test]
fn a_forgotten_utterance_takes_its_items_along() {
    let source: Vec<_> = (1..4)
        .map(|n| Arc::new(said(n, Role::Assistant, &format!("Transport TR-90{n} is one of many."))))
        .collect();
    let page = source::read(&source, false, false);
    let nothing = naming::ledger::Told::nothing_of(&page.facts);
    let told = naming::ledger::ledger(&page.facts, &page.pages, &nothing, 100, o200k());
    assert_eq!(&*told[0].text, "Assistant mentioned: TR-901 TR-902 TR-903\n");
    let left = told[0].without(|sequence| sequence == Sequence(2), o200k()).unwrap();
    assert_eq!(&*left.text, "Assistant mentioned: TR-901 TR-903\n");
    assert_eq!(left.tokens, o200k().count(&left.text));
    assert_eq!(told[0].without(|_| true, o200k()), None);
}
