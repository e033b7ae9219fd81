//! Records of all trades, in several languages and forms.

use proptest::prelude::*;

use super::*;

/// Every value of a record is told, as a value or as what the others belong to.
#[track_caller]
fn tells_all(text: &str, values: &[&str]) {
    let facts = facts(text);
    for value in values {
        let told = facts.iter().any(|fact| &*fact.value == *value && fact.worth > 0 || &*fact.of == *value);
        assert!(told, "{value}: {facts:?}");
    }
}

fn facts(text: &str) -> Vec<Fact> {
    facts_of_result(text, None, None, "")
}

fn said(text: &str, asked: Option<&str>) -> Vec<String> {
    facts_of_result(text, None, asked, "")
        .iter()
        .map(|fact| format!("{} | {} | {}", fact.of, fact.label, fact.value))
        .collect()
}

#[test]
fn every_short_value_of_a_record_is_a_fact() {
    tells_all(
        r#"{"performance_id": "PF-2210", "play": "The Seagull", "hall": "Main stage", "row": "F", "price": 48.5, "date": "2025-03-02"}"#,
        &["PF-2210", "The Seagull", "Main stage", "F", "48.5", "2025-03-02"],
    );
    tells_all(
        r#"{"patient": "Ann Lee", "ward": "B12", "blood_type": "AB+", "allergic": true, "admitted": "2025-01-07", "doctor": "Dr. Okafor"}"#,
        &["Ann Lee", "B12", "AB+", "true", "2025-01-07", "Dr. Okafor"],
    );
    tells_all(
        r#"{"studentId": 4417, "className": "7b", "average": 2.3, "tutor": "M. Roth", "absences": 3, "bus": "none yet"}"#,
        &["4417", "7b", "2.3", "M. Roth", "3", "none yet"],
    );
    tells_all(
        r#"{"machine": "press-04", "status": "idle", "temperature": "38 °C", "output": 1200, "shift": "night", "operator": "Jo"}"#,
        &["press-04", "idle", "38 °C", "1200", "night", "Jo"],
    );
    tells_all(
        r#"{"libro": "Rayuela", "autor": "Julio Cortázar", "ejemplares": 3, "disponible": false, "vence": "14/05/2025", "multa": "€ 2,40"}"#,
        &["Rayuela", "Julio Cortázar", "3", "false", "14/05/2025", "€ 2,40"],
    );
    tells_all(
        r#"{"Tier": "Kuh 17", "Stall": "Nord", "Milch": "24 l", "geimpft": true, "geboren": "2021-04-30", "Futter": "Heu"}"#,
        &["Kuh 17", "Nord", "24 l", "true", "2021-04-30", "Heu"],
    );
    tells_all(
        r#"{"事件番号": "令和5年123号", "裁判官": "山田太郎", "期日": "2025年6月3日", "状態": "係属中", "法廷": "第3", "費用": "1200円"}"#,
        &["令和5年123号", "山田太郎", "2025年6月3日", "係属中", "第3", "1200円"],
    );
    tells_all(
        r#"{"корабль": "Аврора", "причал": 7, "груз": "зерно", "прибыл": "2025-02-11", "капитан": "Иванов", "осадка": "9,5 м"}"#,
        &["Аврора", "7", "зерно", "2025-02-11", "Иванов", "9,5 м"],
    );
    tells_all(
        r#"{"chambre": "204", "étage": 2, "tarif": "120 €", "petitDejeuner": true, "arrivée": "18:30", "client": "Mme Duval"}"#,
        &["204", "2", "120 €", "true", "18:30", "Mme Duval"],
    );
}

#[test]
fn a_value_belongs_to_the_nearest_object_that_has_a_name() {
    let ship = r#"{"voyage": "VY1044", "port": "Oslo", "containers": [
        {"no": "MSKU7731", "weight": 21.4, "sealed": true}, {"no": "TCLU0093", "weight": 8.0, "sealed": true}]}"#;
    assert_eq!(
        said(ship, None),
        [
            "VY1044 | port | Oslo",
            "MSKU7731 | weight | 21.4",
            "MSKU7731 | sealed | true",
            "TCLU0093 | weight | 8.0",
            "TCLU0093 | sealed | true",
        ]
    );
    assert_eq!(
        said(r#"{"balance": 12.5, "open": true}"#, Some("ACC-9")),
        ["ACC-9 | balance | 12.5", "ACC-9 | open | true"]
    );
    assert_eq!(said(r##"{"orders": {"#W12": {"total": 9.5}}}"##, None), ["#W12 | total | 9.5"]);
    let booked = r#"{"message": "Booked", "booking": {"ref": "ZK81", "total": "€ 96.00"}}"#;
    assert_eq!(said(booked, None), [" | message | Booked", "ZK81 | total | € 96.00"]);
    assert_eq!(said(r#"{"2025-01-01": 12}"#, Some("MTR-9")), ["MTR-9 | 2025-01-01 | 12"]);
}

#[test]
fn a_key_that_an_object_has_twice_is_told_with_the_key_above() {
    let flight = r#"{"flight": "HAT030", "prices": {"economy": 92, "business": 310}, "seats": {"economy": 3, "business": 1}}"#;
    assert_eq!(
        said(flight, None),
        [
            "HAT030 | prices economy | 92",
            "HAT030 | prices business | 310",
            "HAT030 | seats economy | 3",
            "HAT030 | seats business | 1",
        ]
    );
}

#[test]
fn rows_without_a_name_are_told_apart_by_what_differs() {
    let buses = r#"[{"from": "Ulm", "leaves": "08:30", "fare": 23}, {"from": "Ulm", "leaves": "09:50", "fare": 23},
        {"from": "Ulm", "leaves": "10:10", "fare": 27}]"#;
    let facts = facts(buses);
    let fare = facts.iter().find(|fact| &*fact.of == "10:10" && &*fact.label == "fare").expect("a fare");
    let from = facts.iter().find(|fact| &*fact.of == "10:10" && &*fact.label == "from").expect("a start");
    assert_eq!(&*fare.value, "27");
    assert!(fare.worth > 2 * from.worth, "what all rows repeat is worth less");
}

#[test]
fn what_nobody_asks_for_is_worth_little() {
    let facts = facts(
        r#"{"id": "T-881", "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "updated": "2025-01-02T03:04:05Z",
            "note": null, "link": "https://a.b/c/d", "text": "", "fee": 12.5,
            "body": "It was late, and nobody came. They waited for an hour, and then they left. Nothing else was said, and nobody wrote it down anywhere, as far as anybody knows."}"#,
    );
    let worth = |label: &str| facts.iter().find(|fact| &*fact.label == label).map_or(0, |fact| fact.worth);
    assert!(
        ["digest", "updated", "note", "link", "text", "body"].iter().all(|label| worth(label) < 10),
        "{facts:?}"
    );
    assert!(worth("fee") >= 40);
}

#[test]
fn a_large_result_is_not_read() {
    let rows: Vec<String> =
        (0..9_000).map(|at| format!("{{\"id\": \"R{at:05}\", \"size\": {at}, \"kind\": \"x\"}}")).collect();
    assert!(facts(&format!("[{}]", rows.join(","))).is_empty());
}

#[test]
fn any_text_takes_linear_time() {
    for part in ["{\"a\":", "[", "{\"a\":1}", "[1]"] {
        let _ = facts(&part.repeat(60_000 / part.len()));
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,200}", marks in "[{}\\[\\]\":,|<>=\\n\\-a1é：\\t ]{0,120}") {
        let _ = facts(&text);
        let _ = facts_of_result(&marks, None, Some(&text), &text);
    }
}
