//! Calls in a summary.

use super::*;

#[test]
fn a_tool_call_is_one_line_with_its_outcome() {
    let mut alice = said(1, Role::User, "Where is my order AB-77? I decided to pay by card.");
    alice = with(alice, More { name: Some("Alice".into()), ..More::default() });
    let source = vec![
        alice,
        calling(2, "c1", "lookup_order", "{\"id\":\"AB-77\"}"),
        answering(
            3,
            "c1",
            "{\"id\":\"AB-77\",\"state\":\"shipped\",\"secret\":\"the inside of a long result is not told\"}",
        ),
        calling(4, "c1", "pay", "{}"),
        answering(5, "c1", "Error: card expired"),
        calling(6, "c2", "retry", "{}"),
        said(7, Role::Assistant, "Your order AB-77 was shipped, but the card was refused."),
    ];
    assert_eq!(
        text(source, &Focus::none(), 200),
        "Alice: Where is my order AB-77? I decided to pay by card.\n\
         Assistant called lookup_order(AB-77) → ok\n\
         Assistant called retry() → no answer\n\
         Assistant: Your order AB-77 was shipped, but the card was refused.\n\
         Assistant called pay() → error: card expired\n\
         Open: pay failed\n"
    );
}

/// Markup is not written, so nothing of such an argument would be left.
#[test]
fn an_argument_of_marks_alone_names_nothing() {
    let source = vec![calling(1, "c", "look", "{\"at\":\"``````\"}"), answering(2, "c", "one\ntwo")];
    assert_eq!(text(source, &Focus::none(), 200), "");
}

#[test]
fn the_status_of_an_own_task_is_not_named() {
    let tasks = "{\"todos\":[{\"content\":\"Port util_a\",\"status\":\"in_progress\"}]}";
    let source = vec![calling(1, "c", "TodoWrite", tasks), answering(2, "c", "The list was updated.")];
    assert_eq!(text(source, &Focus::none(), 200), "Open: To do: Port util_a\n");
}

#[test]
fn what_was_done_is_told_with_what_was_made() {
    let source = calls(&[
        (
            "get_order",
            "{\"order_id\":\"W77\"}",
            "{\"order_id\":\"W77\",\n\"lines\":[{\"sku\":\"KB-104\",\"count\":3}]}",
        ),
        ("book_seat", "{\"flight\":\"HAT136\"}", "{\"booking_id\":\"Q7ZK\",\n\"seats\":1}"),
        ("cancel_order", "{\"order_id\":\"W77\"}", "Error: it was shipped"),
        ("cancel_order", "{\"order_id\":\"W77\"}", "ok"),
    ]);
    assert_eq!(
        text(source, &Focus::none(), 200),
        "Assistant called get_order(W77) → ok\n\
         Assistant called book_seat(HAT136) → ok: Q7ZK\n\
         Assistant called cancel_order(W77) → ok\n\
         W77: KB-104\n"
    );
}

#[test]
fn many_changes_are_told_together_and_the_rest_is_counted() {
    let told = text(thirty_changes(), &Focus::none(), 150);
    let first = told.lines().next().unwrap();
    assert!(first.starts_with("write_file → ok: src/part_"), "{told}");
    let shown = first.matches(".rs").count();
    assert!(first.ends_with(&format!("src/part_39.rs; … and {} more", 30 - shown)), "{told}");
}

/// A tool that runs tests says in its output how they ended, whatever its first words are.
#[test]
fn failed_tests_are_told_as_failed() {
    let mut source = Vec::new();
    for (test, first) in (0..12).zip((1u64..).step_by(4)) {
        let failed = (5..7).contains(&test);
        let result = if failed { "FAILED\nassertion failed at src/a.rs:5" } else { "ok" };
        source.push(said(first, Role::User, &format!("Run test t{test} please")));
        source.push(calling(first + 1, "c", "run_test", &format!("{{\"name\":\"t{test}\"}}")));
        source.push(answering(first + 2, "c", &format!("test t{test} ... {result}")));
        let ended = if failed { "failed" } else { "passed" };
        source.push(said(first + 3, Role::Assistant, &format!("t{test} {ended}")));
    }
    let told = text(source, &Focus::none(), 1_000);
    for test in ["t5", "t6"] {
        let mut lines = told.lines().filter(|line| line.contains(test));
        assert!(!lines.clone().any(|line| line.contains("→ ok") && !line.contains("error")), "{told}");
        assert!(lines.any(|line| line.contains("error") || line.contains("failed")), "{told}");
    }
}

#[test]
fn parts_of_an_object_stay_with_it() {
    let reservation = r#"{"reservation_id": "Z7GOZK", "cabin": "economy", "flights": [
        {"flight_number": "HAT188", "date": "2024-05-28", "price": 152},
        {"flight_number": "HAT207", "date": "2024-05-29", "price": 187}]}"#;
    let other = r#"[{"flight_number": "HAT188", "price": 112}, {"flight_number": "HAT190", "price": 112}]"#;
    let source = calls(&[
        ("get_reservation", "{\"id\":\"Z7GOZK\"}", reservation),
        ("search_flights", "{\"to\":\"MIA\"}", other),
    ]);
    let lines =
        summarise(&source.into_iter().map(Arc::new).collect::<Vec<_>>(), &Focus::none(), 300, o200k());
    let told = |lines: &[Sentence]| lines.iter().map(|line| &*line.text).collect::<String>();
    let first = told(&lines);
    for part in ["HAT188 date 2024-05-28, price 152", "HAT207 date 2024-05-29, price 187"] {
        let line =
            first.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {first}"));
        assert!(line.starts_with("Z7GOZK: "), "{first}");
    }
    assert!(first.contains("HAT188: price 112") && first.contains("HAT190: price 112"), "{first}");
    // a fold loses none of them
    let folded = told(&select(&lines, &Focus::none(), 300, o200k()));
    let items = |text: &str| {
        text.split([';', '\n', ' ']).map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(items(&folded), items(&first), "{folded}");
}

#[test]
fn rows_without_a_name_are_told_row_by_row() {
    let buses = r#"[{"from": "Philadelphia", "leaving_time": "08:30", "fare": 23, "transfers": 0},
        {"from": "Philadelphia", "leaving_time": "09:50", "fare": 23, "transfers": 0},
        {"from": "Philadelphia", "leaving_time": "10:10", "fare": 27, "transfers": 0}]"#;
    let source = calls(&[("find_bus", "{\"from\":\"Philadelphia\"}", buses)]);
    let told = text(source, &Focus::none(), 300);
    let rows = ["leaving time 08:30, fare 23", "leaving time 09:50, fare 23", "leaving time 10:10, fare 27"];
    assert!(told.contains(&rows.join("; ")), "{told}");
}

#[test]
fn the_newest_value_of_a_field_is_told() {
    let flight = |price: u32| {
        format!(
            "{{\"flight_number\": \"HAT188\", \"price\": {price}, \"available\": true, \"created_at\": \"2024-05-28T10:00\"}}"
        )
    };
    let source = calls(&[
        ("get_flight", "{\"flight\":\"HAT188\"}", &flight(537)),
        ("get_flight", "{\"flight\":\"HAT188\"}", &flight(107)),
    ]);
    let told = text(source, &Focus::none(), 300);
    assert!(told.contains("price 107") && !told.contains("537"), "{told}");
}
