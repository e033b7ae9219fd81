use proptest::prelude::*;

use super::*;

/// Sentences that show a cue.
const SHOWN: &[(Cues, &[&str])] = &[
    (
        Cues::CONSTRAINT,
        &[
            "Never touch the files in vendor/.",
            "Don’t use any new dependency, please.",
            "Only window seats.",
            "Use only tabs in this file.",
            "Please book a seat, window only",
            "You can only cancel within 24 hours.",
            "When you finish a task, end your reply with a list of the files.",
            "Before you answer, read the whole ticket.",
            "From now on, reply in French.",
            "For the rest of this session, call me Captain.",
            "Always run the linter first.",
            "10:30 on Friday suits me, never earlier",
            "It must not cost more than 300 euros.",
            "Bitte nur vegetarische Gerichte.",
            "Ab jetzt bitte auf Deutsch antworten.",
            "Nunca llames antes de las diez.",
            "À partir de maintenant, réponds en anglais.",
            "Réserve uniquement des places côté fenêtre.",
            "Não uses a tabela antiga.",
            "Rispondi sempre in italiano.",
            "Gebruik alleen de nieuwe tabel.",
            "Никогда не звони до десяти.",
            "Отвечай только по-русски.",
            "不要修改主题",
            "请只用中文回答",
            "テーマは変更しないでください",
            "今後は日本語で答えてください",
        ],
    ),
    (
        Cues::REQUEST,
        &[
            "Could you move it to Friday?",
            "Yes, book a table for two.",
            "Hi, please cancel the order.",
            "Kannst du das prüfen?",
            "¿Puedes cambiar la hora?",
            "Peux-tu vérifier la facture ?",
            "Gostaria de cancelar a reserva.",
            "Vorrei prenotare un tavolo.",
            "Kun je de afspraak verzetten?",
            "Проверь, пожалуйста, отчёт.",
            "帮我订一张票",
            "明日の会議を予約してください",
        ],
    ),
    (
        Cues::CORRECTION,
        &[
            "Actually, make it Saturday.",
            "No, make it two.",
            "Hm, actually I want the blue one.",
            "Not Friday but Saturday.",
            "Forget the old address.",
            "I meant the second one.",
            "Nicht Freitag, sondern Samstag.",
            "Mejor dicho, el martes.",
            "Finalement, mardi.",
            "Na verdade é na quinta.",
            "Anzi, facciamo alle otto.",
            "Bij nader inzien toch dinsdag.",
            "Точнее, в среду.",
            "Не в пятницу, а в субботу.",
            "No es el lunes sino el martes.",
            "改成周六吧",
            "金曜日ではなく土曜日です",
            "No, it is on Friday, not on Monday.",
            "Nein, sie kommt am Freitag, nicht am Montag.",
            "No, sale de Vigo, no de Lugo.",
            "Non, c'est le mardi, pas le lundi.",
            "No, è a Bari, non a Roma.",
            "Não, fica no Porto, não em Faro.",
            "Nee, het is in Gent, niet in Brugge.",
            "Нет, в среду, не в пятницу.",
        ],
    ),
    (
        Cues::UPDATE,
        &[
            "The gate is B12 now.",
            "Ab sofort gilt Tarif 4.",
            "Ahora el tren sale a las 9.",
            "Désormais, le cours est à 14h.",
            "A partir de hoje a sala é a 12.",
            "D'ora in poi la sede è Bari.",
            "Vanaf nu begint het om 10.",
            "Теперь поезд отходит в 9.",
            "从现在起每天八点",
            "今後は八時です",
        ],
    ),
    (
        Cues::DECISION,
        &[
            "Let's go with PostgreSQL.",
            "We use tabs here.",
            "Agreed, the deadline is May 5.",
            "Wir haben uns für Rust entschieden.",
            "Hemos decidido esperar.",
            "On part sur la deuxième offre.",
            "Ficou decidido que vamos juntos.",
            "Abbiamo deciso di aspettare.",
            "We hebben besloten te wachten.",
            "Решили оставить как есть.",
            "我们决定用第二个方案",
            "二番目の案に決めました",
        ],
    ),
    (
        Cues::REFUSAL,
        &[
            "Unfortunately, this fare is not refundable.",
            "I cannot change a basic economy ticket.",
            "Das ist leider nicht möglich.",
            "No es posible devolverlo.",
            "Ce n'est malheureusement pas possible.",
            "Infelizmente está esgotado.",
            "Purtroppo non è possibile.",
            "Dat is helaas niet mogelijk.",
            "К сожалению, мест нет.",
            "很遗憾，无法退款",
            "申し訳ありませんが、できません。",
        ],
    ),
    (
        Cues::PROMISE,
        &[
            "Next I will check the logs.",
            "TODO: write the tests.",
            "Das muss ich noch prüfen.",
            "Te aviso cuando esté listo.",
            "Je m'en occupe demain.",
            "Ainda falta a fatura.",
            "Me ne occupo io.",
            "Dat moet nog gebeuren.",
            "Осталось проверить счёт.",
            "接下来检查日志",
            "後で確認します",
        ],
    ),
    (
        Cues::COURTESY,
        &[
            "Hi there!",
            "Thanks a lot!",
            "Guten Morgen!",
            "¡Hola!",
            "Bonjour !",
            "Olá!",
            "Buongiorno!",
            "Dank je wel!",
            "Привет!",
            "你好！",
            "こんにちは。",
        ],
    ),
    (
        Cues::AFFIRMS,
        &[
            "Yes.",
            "ok, do it",
            "Ja, genau.",
            "Sí, claro.",
            "Oui.",
            "Sim.",
            "Va bene.",
            "Inderdaad.",
            "Да.",
            "好的。",
            "はい。",
        ],
    ),
    (
        Cues::DENIES,
        &[
            "No, thanks.",
            "Nope",
            "Nein.",
            "No.",
            "Non merci.",
            "Não.",
            "No grazie.",
            "Nee.",
            "Нет.",
            "不是。",
            "いいえ。",
        ],
    ),
];

/// Sentences that do not show one, though a word of it is in them.
const NOT_SHOWN: &[(Cues, &str)] = &[
    (Cues::CONSTRAINT, "The TTL is only a backstop."),
    (Cues::CONSTRAINT, "It only fails at night."),
    (Cues::CONSTRAINT, "Marta only drinks tea."),
    (Cues::CONSTRAINT, "The disk is mounted read-only."),
    (Cues::CONSTRAINT, "It only fails on CI, so we can ship it."),
    (Cues::CONSTRAINT, "The build always fails on Mondays."),
    (Cues::CONSTRAINT, "I don't know where it is."),
    (Cues::CONSTRAINT, "I don’t have the order number with me."),
    (Cues::CONSTRAINT, "There must be some mistake."),
    (Cues::CONSTRAINT, "The file has only three lines."),
    (Cues::CONSTRAINT, "Das ist nur ein Test."),
    (Cues::CONSTRAINT, "Ce n'est pas seulement ça."),
    (Cues::CONSTRAINT, "这只是一个测试"),
    (Cues::AFFIRMS, "They said yes."),
    (Cues::AFFIRMS, "对于这个问题我有看法"),
    (Cues::DENIES, "There is no milk."),
    (Cues::DENIES, "No problem!"),
    (Cues::COURTESY, "She said hello to Ben."),
    (Cues::CORRECTION, "I actually work in London."),
    (Cues::CORRECTION, "No, thanks, that is all for today."),
    (Cues::CORRECTION, "No, not today."),
    (Cues::CORRECTION, "Nein danke, das ist alles."),
    (Cues::CORRECTION, "いいえ、学生ではありません。"),
    (Cues::CORRECTION, "He couldn't make it."),
    (Cues::CORRECTION, "It is not cold, but I stay in."),
    (Cues::REFUSAL, "The canton of Bern is large."),
    (Cues::REQUEST, "The book is on the table."),
    (Cues::PROMISE, "William sent it."),
];

#[test]
fn cues_are_shown_in_ten_languages() {
    let missed = SHOWN.iter().flat_map(|(cue, texts)| texts.iter().map(move |text| (cue, *text)));
    let missed: Vec<_> = missed.filter(|(cue, text)| !cues(text).has(**cue)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn words_of_a_cue_do_not_always_show_it() {
    let wrong: Vec<_> = NOT_SHOWN.iter().filter(|(cue, text)| cues(text).has(*cue)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(cues("A walk along the river"), Cues::default());
    assert_eq!(cues(""), Cues::default());
}

#[test]
fn the_table_is_sorted_and_every_language_has_every_cue() {
    let lines: Vec<&str> = phrases::TABLE.lines().collect();
    assert!(lines.is_sorted_by(|one, next| one < next), "sorted, no duplicates");
    let names = || Cues::NAMES.iter();
    for language in ["de", "en", "es", "fr", "it", "ja", "nl", "pt", "ru", "zh"] {
        for (name, _) in names() {
            assert!(
                lines.iter().any(|line| line.starts_with(&format!("{language}\t{name}\t"))),
                "{language} {name}"
            );
        }
    }
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        assert!(cells.len() == 3 && names().any(|(name, _)| *name == cells[1]), "{line}");
        assert!(
            !Normal::of(cells[2]).text.is_empty() && cells[2] == cells[2].trim().to_lowercase(),
            "{line}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_has_cues(text in "\\PC*|((only|not|but|please|不要|しないで|[ ,.'’-]|[a-zé]){0,40})") {
        let _ = cues(&text);
    }
}

#[test]
fn the_matter_is_behind_what_frames_it() {
    for (sentence, about) in [
        ("So, could you please move the meeting to Monday?", "move the meeting to Monday?"),
        ("Hi! I'd like to change my order.", "to change my order."),
        ("Move the meeting.", "Move the meeting."),
        ("The queue stalls.", "The queue stalls."),
        ("Por favor, ¿puedes cambiar la cita?", "cambiar la cita?"),
        ("Könntest du bitte den Termin verschieben?", "den Termin verschieben?"),
        ("会議を月曜日に移してください。", "会議を月曜日に移してください。"),
        ("please", ""),
        ("", ""),
    ] {
        assert_eq!(matter(sentence), about, "{sentence}");
    }
}
