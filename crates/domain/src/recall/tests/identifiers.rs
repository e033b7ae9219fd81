use super::{assert_finds, assert_silent, found, place, talk};
use crate::recall::{holds_all, terms};

#[test]
fn years_in_identifiers_are_no_times() {
    assert_finds(&[
        ("CVE-2019-0708", "BlueKeep is CVE-2019-0708 in the report."),
        ("invoice_1984.xlsx", "Send invoice_1984.xlsx by noon."),
        ("RFC 2045", "MIME is in RFC 2045."),
        ("1999 euros", "The sofa costs 1999 euros."),
        ("port 2020", "The daemon listens on port 2020."),
        ("12/24/2019", "The lease began 12/24/2019 in Lyon."),
        ("2048", "The key has 2048 bits."),
    ]);
}

#[test]
fn an_amount_is_the_same_with_other_zeros_at_its_end() {
    assert_finds(&[
        ("1249.5", "The rest is $1,249.50 in May."),
        ("1249.50", "The rest is 1249.5 in May."),
        ("1249.00", "The rest is 1249 in May."),
        ("310.0", "The sofa costs 310.00 here."),
    ]);
    assert_silent(&[("3.1", "Python 3.10 runs there."), ("1249.5", "The rest is 1249.05 in May.")]);
}

#[test]
fn a_rare_identifier_is_found_whatever_else_is_asked() {
    let index = talk(&[
        "Ship W2378156 to Lyon.",
        "The team loves NATO history.",
        "Use parse_header there.",
        "看看猫咪",
    ]);
    for (number, thing) in (1..).zip(["W2378156", "NATO", "parse_header", "猫咪"]) {
        for asked in [
            format!("I completely misplaced it, what was that business with {thing}?"),
            format!("Can you give me the current status of {thing} please?"),
        ] {
            assert_eq!(found(&asked, &index).first(), Some(&place(number)), "{asked}");
        }
    }
    let many = talk(&["W2378156 is late.", "W2378156 is lost.", "W2378156 is back."]);
    assert!(found("which volcano erupted beside the harbour, W2378156?", &many).is_empty(), "it is not rare");
}

#[test]
fn what_differs_in_a_part_is_not_certain() {
    assert_silent(&[
        ("v0.9.13", "We run v0.9.12 everywhere."),
        ("1.2.3-rc2", "Tagged 1.2.3-rc1 today."),
        ("TKT-7003", "The jam is TKT-7001."),
        ("getUserByKey", "It bypasses getUserById here."),
        ("/etc/app/other.conf", "Edit /etc/app/main.conf first."),
        ("anna.smith@corp.example.org", "Write to bob@corp.example.org."),
        ("10.1.2.250", "Bastion is 10.1.2.25 inside."),
        ("+1 415 555 0199", "Call (415) 555-0132 later."),
        ("W237815", "Ship W2378156 to Lyon."),
    ]);
    assert_finds(&[
        ("create_order", "You create an order there."),
        ("state-of-the-art", "The lab is state of the art."),
    ]);
}

#[test]
fn paths_and_addresses_are_wholes() {
    let index =
        talk(&["See /etc/app/conf for it.", "See /etc/app/conf.d/web for it.", "See /srv/etc/app for it."]);
    assert_eq!(found("/etc/app/conf", &index).first(), Some(&place(1)));
    assert_finds(&[
        ("jane.doe+news@example.com", "Send it to jane.doe+news@example.com only."),
        ("https://example.com/docs?tab=linux", "The guide is https://example.com/docs?tab=linux now."),
        ("00:1A:2B:3C:4D:5E", "The badge is 00:1A:2B:3C:4D:5E here."),
        ("std::vec::Vec", "The profiler blames std::vec::Vec growth."),
        ("AT&T", "The bill is from AT&T still."),
        ("1/2 cup", "Add 1/2 cup of milk."),
        ("queue.rs", "It is in src/engine/queue.rs somewhere."),
        (r"C:\Users\maria", r"Save it under C:\Users\maria please."),
    ]);
}

#[test]
fn capitals_part_no_identifier() {
    for name in [
        "REPORT.PDF",
        "IMG_0042.JPG",
        "Setup.Exe",
        "SRC/Main.JAVA",
        "docs/API/V2.Yaml",
        "System.Console.WriteLine",
        "MAX-Retry_Count.Value",
        "Übersicht-Q3.PDF",
        "Отчёт_2023.DOCX",
    ] {
        let text = format!("The thing that matters is {name} from then on.");
        let other = name.replace(['.', '_', '-', '/'], " ");
        let index = talk(&[&other, &text, &format!("He knows what {other} means.")]);
        for prompt in [name.to_owned(), format!("Do you remember where {name} came up?")] {
            assert_eq!(found(&prompt, &index).first(), Some(&place(2)), "{prompt}");
        }
        assert!(holds(&text, name) && !holds(&other, name), "{name}");
        assert_silent(&[(name, "The thing that matters is notes.txt from then on.")]);
    }
    assert_finds(&[("harbour", "It stood in the harbour.Then it left.")]);
}

#[test]
fn identifiers_of_other_scripts_are_wholes() {
    assert_finds(&[
        ("resume_final.doc", "She sent résumé_final.DOC twice."),
        ("отчет_2023.docx", "Вот Отчёт_2023.docx на диске."),
        ("H₂SO₄", "The bottle holds H2SO4 here."),
        ("H2SO4", "The bottle holds H₂SO₄ here."),
        ("v2.0-β1", "Testers run v2.0-β1 now."),
    ]);
    assert_silent(&[
        ("Отчёт_2022.docx", "Вот Отчёт_2023.docx на диске."),
        ("H₂SO₃", "The bottle holds H₂SO₄ here."),
    ]);
}

#[test]
fn numbers_are_found_however_they_are_grouped() {
    assert_finds(&[
        ("b8:27:eb:aa:31:0d", "The card is b8-27-eb-aa-31-0d there."),
        ("DE89370400440532013000", "Pay to DE89 3704 0044 0532 0130 00 please."),
        ("GB82 WEST 1234 5698 7654 32", "Rent goes to GB82WEST12345698765432 monthly."),
        ("4111 1111 1111 1111", "Card 4111-1111-1111-1111 is declined."),
        ("+1 415 555 0132", "My sister is at (415) 555-0132 now."),
        ("07700 900123", "Text 07700900123 instead."),
        ("020 7946 0958", "Call 02079460958 please."),
        ("$1249", "It costs 1,249.50 in all."),
    ]);
}

#[test]
fn hashes_are_found_by_their_beginnings() {
    assert_finds(&[
        ("9fceb02", "It came with 9fceb02d0ae598e95dc970b74767f19372d61af8 then."),
        ("9fceb02d0ae5", "It came with 9fceb02 then."),
        ("1234567", "Revert 1234567abc please."),
    ]);
    assert_silent(&[("9fceb02d0ae6", "It came with 9fceb02d0ae598e95dc970b74767f19372d61af8 then.")]);
    assert_silent(&[("1234567", "Ship order 123456789 please.")]);
}

#[test]
fn a_long_identifier_is_told_from_others_that_begin_like_it() {
    let url = |end: &str| format!("https://example.com/{}/{end}", "section/".repeat(12));
    let (one, other) = (url("alpha"), url("omega"));
    let index = talk(&[&format!("The draft is in {one} there."), &format!("The draft is in {other} there.")]);
    assert_eq!(found(&other, &index).first(), Some(&place(2)));
    assert!(holds(&one, &one) && !holds(&one, &other));
}

#[test]
fn signs_are_part_of_names() {
    let index = talk(&[
        "The engine is C++ underneath.",
        "Scripts are C# mostly.",
        "Payroll needs .NET there.",
        "A net full of fish.",
    ]);
    for (number, name) in (1..).zip(["C++", "C#", ".NET", "net"]) {
        assert_eq!(found(name, &index).first(), Some(&place(number)), "{name}");
    }
}

#[test]
fn emoji_and_arrows_are_words() {
    let index = talk(&["Her status is 🦄 today.", "Press → twice.", "He answers 👍🏽 to mails.", "I ❤️ it."]);
    for (number, sign) in (1..).zip(["🦄", "→", "👍", "❤"]) {
        assert_eq!(found(sign, &index).first(), Some(&place(number)), "{sign}");
    }
}

#[test]
fn an_identifier_in_a_topic_is_nothing_that_only_contains_it() {
    for (wanted, other) in [
        ("alice@acme.io", "alice.smith@acme.io"),
        ("/etc/app/conf", "/etc/app/conf.bak"),
        ("v1.2", "v1.2.1"),
        ("user_id", "user_id_old"),
        ("acme.io", "dev.acme.io"),
        ("acme.io", "bob@acme.io"),
        ("INV-20", "INV-20-1"),
        ("getUser", "getUserById"),
    ] {
        assert!(holds(&format!("About {wanted}: please archive it."), wanted), "{wanted}");
        assert!(!holds(&format!("About {other}: please keep it."), wanted), "{wanted} in {other}");
    }
    for (text, wanted) in [
        ("see src/engine/queue.rs:42", "queue.rs"),
        ("see /a4.txt", "a4.txt"),
        ("with user_id=7", "user_id"),
        ("call create_order", "order"),
        ("HAT-136 came", "HAT136"),
    ] {
        assert!(holds(text, wanted), "{wanted} in {text}");
    }
}

fn holds(text: &str, wanted: &str) -> bool {
    holds_all(text, &terms(wanted))
}
