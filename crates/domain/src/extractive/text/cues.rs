//! What the words of a sentence show about it, in the languages that search has stemmers for, Chinese and Japanese.
//!
//! The tables list words and phrases of up to three words, in lower case and without apostrophes. A word that means
//! something else in another language is left out of the table of the rarer meaning.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::extractive::text::words::is_ideographic;

/// A set of cues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::extractive) struct Cues(u16);

impl Cues {
    /// It restricts what may be done: "don't", "only", "instead".
    pub(in crate::extractive) const CONSTRAINT: Self = Self(1);
    /// It asks for something to be done.
    pub(in crate::extractive) const REQUEST: Self = Self(1 << 1);
    /// Something cannot be done.
    pub(in crate::extractive) const REFUSAL: Self = Self(1 << 2);
    /// It reports a cause, a decision or a result.
    pub(in crate::extractive) const FINDING: Self = Self(1 << 3);
    /// Something is left to do.
    pub(in crate::extractive) const TODO: Self = Self(1 << 4);
    /// It opens by announcing the next step: "let me", "I'll".
    pub(in crate::extractive) const STEP: Self = Self(1 << 5);
    /// It opens by agreeing.
    pub(in crate::extractive) const YES: Self = Self(1 << 6);
    /// It opens by turning something down.
    pub(in crate::extractive) const NO: Self = Self(1 << 7);
    /// It opens with an offer or a courtesy.
    pub(in crate::extractive) const COURTESY: Self = Self(1 << 8);
    /// It asks for an answer, without a question mark.
    pub(in crate::extractive) const ASKS: Self = Self(1 << 9);
    /// It says what something is caused by, or what was decided.
    pub(in crate::extractive) const CAUSE: Self = Self(1 << 10);
    /// It guesses.
    pub(in crate::extractive) const GUESS: Self = Self(1 << 11);

    /// The cues of a sentence.
    pub(in crate::extractive) fn of(text: &str) -> Self {
        Self::read(text, usize::MAX)
    }

    /// What the first words of a sentence show: whether it announces, agrees, turns something down or is a courtesy.
    pub(in crate::extractive) fn of_opening(text: &str) -> Self {
        Self::read(text, LONGEST)
    }

    /// The cues of the words up to so many behind those that can precede an opening phrase.
    fn read(text: &str, most: usize) -> Self {
        let tables = &*TABLES;
        let (mut found, mut phrases, mut opens, mut at, mut is_wide) = (0, [0; LONGEST], 0, 0, false);
        for word in words(text, &mut is_wide) {
            opens += usize::from(at == opens && tables.leads.contains(&word));
            let [one, two, _] = phrases;
            phrases = [extended(0, word), extended(one, word), extended(two, word)];
            for (length, hash) in (1..).zip(phrases).take(at + 1) {
                if tables.may_hold(hash) {
                    found |= tables.anywhere.get(&hash).copied().unwrap_or_default();
                }
                if at + 1 - length <= opens {
                    found |= tables.opening.get(&hash).copied().unwrap_or_default();
                }
            }
            at += 1;
            if at - opens > most {
                break;
            }
        }
        if is_wide {
            for (cue, phrases) in WIDE {
                found |= if phrases.split(' ').any(|phrase| text.contains(phrase)) { cue.0 } else { 0 };
            }
        }
        Self(found)
    }

    /// Both sets.
    pub(in crate::extractive) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether one of `cues` is among them.
    pub(in crate::extractive) fn has(self, cues: Self) -> bool {
        self.0 & cues.0 > 0
    }
}

/// The most words of a phrase.
const LONGEST: usize = 3;

/// The phrase with one more word.
fn extended(phrase: u64, word: u64) -> u64 {
    (phrase.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The hashes of a text's words in lower case, without apostrophes. Sets `is_wide` if it has characters of a script
/// without blanks.
fn words<'a>(text: &'a str, is_wide: &'a mut bool) -> impl Iterator<Item = u64> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        let mut hash = EMPTY;
        while let Some(byte) = text.as_bytes().get(at) {
            let c = if byte.is_ascii() { char::from(*byte) } else { text[at..].chars().next()? };
            at += c.len_utf8();
            match c {
                'a'..='z' | '0'..='9' => hash = with(hash, c),
                'A'..='Z' => hash = with(hash, c.to_ascii_lowercase()),
                '\'' | '’' => {}
                _ if !c.is_ascii() && c.is_alphanumeric() => {
                    *is_wide |= is_ideographic(c);
                    hash = c.to_lowercase().fold(hash, with);
                }
                _ if hash != EMPTY => break,
                _ => {}
            }
        }
        (hash != EMPTY).then_some(hash)
    })
}

/// The hash of no character.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

fn with(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(c)).wrapping_mul(0x0100_0000_01b3)
}

/// The cues by phrase.
struct Tables {
    anywhere: FxHashMap<u64, u16>,
    opening: FxHashMap<u64, u16>,
    leads: FxHashSet<u64>,
    /// A bit for each phrase of `anywhere`, by its hash: most words are in none, which this tells quickly.
    bits: [u64; 128],
}

impl Tables {
    fn new() -> Self {
        let leads = LEADS.iter().flat_map(|word| words(word, &mut false).collect::<Vec<_>>()).collect();
        let (anywhere, mut bits) = (table(ANYWHERE), [0; 128]);
        for phrase in anywhere.keys() {
            let (word, bit) = place(*phrase);
            bits[word] |= bit;
        }
        Self { anywhere, opening: table(OPENING), leads, bits }
    }

    fn may_hold(&self, phrase: u64) -> bool {
        let (word, bit) = place(phrase);
        self.bits[word] & bit > 0
    }
}

/// The place of a phrase's bit: by the upper bits of its hash, which all of its characters reach.
fn place(phrase: u64) -> (usize, u64) {
    ((phrase >> 57) as usize, 1 << (phrase >> 51 & 63))
}

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

fn table(lists: &[(Cues, &str)]) -> FxHashMap<u64, u16> {
    let mut table = FxHashMap::default();
    for (cue, list) in lists {
        for phrase in list.split(',') {
            *table.entry(words(phrase, &mut false).fold(0, extended)).or_default() |= cue.0;
        }
    }
    table
}

/// Words that can precede an opening phrase.
const LEADS: [&str; 22] = [
    "now", "next", "first", "then", "ok", "okay", "so", "alright", "good", "great", "perfect", "thought",
    "also", "and", "but", "finally", "well", "hi", "hello", "hey", "thanks", "please",
];

const ANYWHERE: &[(Cues, &str)] = &[
    // English
    (
        Cues::CONSTRAINT,
        "dont, do not, never, must, mustnt, only, prefer, preferably, instead, rather, without, avoid, \
        keep, make sure, always, should, shouldnt, no longer, not, at most, at least, except, revert, undo, stop, kill, \
        wrong, actually, wait, leave, as long as, unless, limit, need, no need",
    ),
    (
        Cues::REQUEST,
        "please, can you, could you, want, would like, id like, lets, need, add, fix, change, make, create, \
        move, remove, update, write, implement, check, run, book, cancel, use, read, refactor, find, show",
    ),
    (
        Cues::REFUSAL,
        "cannot, cant, unable to, not allowed, not possible, not eligible, not permitted, not able, \
        not available, not refundable, wont be able, isnt possible, not covered, no longer, doesnt allow, \
        doesnt qualify, unfortunately",
    ),
    (
        Cues::FINDING,
        "the fix is, found, fixed, works, confirmed, passes, passed, pass, fails, failed, fail, instead, \
        complete, completed, done, implemented, created, added, reproduced, means, needs to, should be, remaining, still",
    ),
    (
        Cues::CAUSE,
        "the issue is, the problem is, the bug is, the error is, the cause is, root cause, the reason is, because, caused by, \
        due to, the issue was, the problem was, the bug was, thats why, this is why, decided, agreed, weil, deshalb, ursache, \
        beschlossen, parce que, à cause, décidé, porque, decidido",
    ),
    (
        Cues::GUESS,
        "seems, maybe, perhaps, probably, might, could be, wait, not sure, i think, i guess, vielleicht, wohl, peut être, \
        quizás, talvez",
    ),
    (
        Cues::TODO,
        "todo, fixme, still open, still missing, still fails, still to do, remaining work, remaining items, \
        remaining steps, left to do, not yet, havent yet, next steps, next step, is left, still need, still needs, \
        outstanding, is pending, are pending, still pending, blocked, blocker, unresolved, unanswered, undecided, unfinished, \
        postponed, unsolved",
    ),
    (
        Cues::ASKS,
        "please confirm, please provide, please choose, please specify, please share, please tell me, please let me know, \
        let me know which, let me know if youd like, let me know if you want, kindly confirm, could you confirm, \
        bitte bestätigen, bitte bestätige, veuillez confirmer, por favor confirma, por favor confirme, conferma, bevestig",
    ),
    // German
    (
        Cues::CONSTRAINT,
        "nicht, kein, keine, keinen, niemals, nur, lieber, stattdessen, ohne, vermeide, immer, muss, \
        mindestens, höchstens, außer, falsch, sondern, bevorzuge",
    ),
    (
        Cues::REQUEST,
        "bitte, kannst du, können sie, könnten sie, möchte, brauche, mach, ändere, füge, erstelle, buche, storniere",
    ),
    (Cues::REFUSAL, "leider, nicht möglich, kann nicht, können nicht, nicht erlaubt, geht nicht"),
    (Cues::FINDING, "gefunden, behoben, funktioniert, vereinbart, fertig, erledigt, entschieden"),
    (Cues::TODO, "noch offen, offen ist, fehlt noch, steht noch aus, noch nicht, bleibt noch"),
    // French
    (
        Cues::CONSTRAINT,
        "jamais, seulement, plutôt, sans, évite, évitez, toujours, ne pas, pas de, sauf, uniquement, il faut, au lieu",
    ),
    (
        Cues::REQUEST,
        "peux tu, pouvez vous, sil vous plaît, je voudrais, veux, besoin, ajoute, corrige, change, crée, annule, réserve",
    ),
    (Cues::REFUSAL, "malheureusement, impossible, ne peux pas, ne peut pas, pas possible, pas autorisé"),
    (Cues::FINDING, "trouvé, corrigé, fonctionne, convenu, terminé"),
    (Cues::TODO, "reste à, pas encore, à faire"),
    // Spanish
    (
        Cues::CONSTRAINT,
        "nunca, solo, sólo, solamente, prefiero, sin, evita, siempre, debe, en vez de, excepto, salvo, al menos",
    ),
    (
        Cues::REQUEST,
        "por favor, puedes, podrías, quiero, quisiera, necesito, añade, agrega, corrige, cambia, crea, cancela, reserva",
    ),
    (
        Cues::REFUSAL,
        "lamentablemente, desafortunadamente, no es posible, no puedo, no se puede, no está permitido",
    ),
    (Cues::FINDING, "porque, encontré, corregido, funciona, decidido, acordado, terminado, hecho"),
    (Cues::TODO, "queda pendiente, pendiente, falta, aún no, todavía no"),
    // Portuguese
    (
        Cues::CONSTRAINT,
        "não, nunca, somente, apenas, prefiro, sem, evite, sempre, deve, em vez de, exceto, pelo menos",
    ),
    (
        Cues::REQUEST,
        "por favor, pode, poderia, quero, gostaria, preciso, adicione, corrija, mude, crie, cancele, reserve",
    ),
    (Cues::REFUSAL, "infelizmente, não é possível, não posso, não é permitido"),
    (Cues::TODO, "falta, ainda não, pendente"),
    // Italian
    (Cues::CONSTRAINT, "non, mai, soltanto, preferisco, senza, evita, sempre, deve, invece, tranne, almeno"),
    (
        Cues::REQUEST,
        "per favore, puoi, potresti, voglio, vorrei, ho bisogno, aggiungi, correggi, cambia, annulla, prenota",
    ),
    (Cues::REFUSAL, "purtroppo, non è possibile, non posso, non consentito"),
    (Cues::TODO, "manca, non ancora, da fare"),
    // Dutch
    (
        Cues::CONSTRAINT,
        "niet, geen, nooit, alleen, liever, zonder, vermijd, altijd, moet, tenminste, behalve",
    ),
    (Cues::REQUEST, "alsjeblieft, kun je, kunt u, wil, graag, nodig, voeg, verander, annuleer, boek"),
    (Cues::REFUSAL, "helaas, niet mogelijk, kan niet, niet toegestaan"),
    (Cues::TODO, "nog niet, nog te doen, ontbreekt nog"),
    // Danish, Norwegian, Swedish
    (
        Cues::CONSTRAINT,
        "ikke, aldrig, aldri, kun, bare, hellere, heller, uden, uten, undgå, unngå, altid, alltid, skal, \
        mindst, minst, inte, endast, utan, undvik, måste",
    ),
    (
        Cues::REQUEST,
        "vær så snill, kan du, vil gerne, vil gjerne, snälla, vill, behöver, trenger, tilføj, ändra, avbryt, boka",
    ),
    (Cues::REFUSAL, "desværre, dessverre, tyvärr, kan ikke, ikke muligt, ikke mulig, går inte, inte möjligt"),
    (Cues::TODO, "mangler, ikke endnu, ikke ennå, inte än, återstår"),
    // Finnish, Hungarian, Turkish
    (
        Cues::CONSTRAINT,
        "älä, ei, koskaan, vain, ilman, aina, täytyy, ne, nem, soha, csak, inkább, nélkül, mindig, kell, \
        asla, sadece, yerine, olmadan, daima, değil, gerekir",
    ),
    (
        Cues::REQUEST,
        "voitko, haluan, tarvitsen, lisää, muuta, kérlek, kérem, szeretnék, kell, lütfen, istiyorum, ekle, değiştir, iptal",
    ),
    (Cues::REFUSAL, "valitettavasti, ei ole mahdollista, sajnos, nem lehet, maalesef, mümkün değil"),
    (Cues::TODO, "vielä tekemättä, ei vielä, még nem, hátravan, henüz, kalan"),
    // Romanian, Russian, Greek
    (
        Cues::CONSTRAINT,
        "niciodată, doar, fără, întotdeauna, trebuie, не, никогда, только, лучше, вместо, без, всегда, нужно, \
        нельзя, кроме, μην, δεν, ποτέ, μόνο, χωρίς, πάντα, πρέπει, αντί",
    ),
    (
        Cues::REQUEST,
        "te rog, vreau, aș vrea, adaugă, schimbă, пожалуйста, можешь, можете, хочу, хотел бы, добавь, измени, отмени, \
        забронируй, παρακαλώ, μπορείς, θέλω, χρειάζομαι",
    ),
    (
        Cues::REFUSAL,
        "din păcate, nu este posibil, к сожалению, невозможно, нельзя, δυστυχώς, δεν είναι δυνατόν",
    ),
    (Cues::TODO, "nu încă, rămâne, ещё не, осталось, ακόμα δεν, απομένει"),
    // Arabic, Hindi
    (
        Cues::CONSTRAINT,
        "لا, أبدا, فقط, بدون, دائما, يجب, بدلا, إلا, मत, नहीं, कभी, केवल, सिर्फ, बिना, हमेशा, चाहिए, बजाय",
    ),
    (Cues::REQUEST, "من فضلك, هل يمكنك, أريد, أحتاج, कृपया, चाहता, चाहती, जोड़ो, बदलो"),
    (Cues::REFUSAL, "للأسف, غير ممكن, لا يمكن, दुर्भाग्य से, संभव नहीं"),
    (Cues::TODO, "لم يتم بعد, متبقي, अभी बाकी, बाकी है"),
];

const OPENING: &[(Cues, &str)] = &[
    (Cues::CONSTRAINT, "no"),
    (
        Cues::STEP,
        "let me, lets, ill, i will, i need to, we need to, i should, i want to, im going to, i am going to, \
        well, we will, now i, now we, now let, now add, now create, now fix, now implement, now remove, now run, \
        now update, ich werde, lass mich, je vais, voy a, vou, vado a, ik ga",
    ),
    (
        Cues::YES,
        "yes, yeah, yep, sure, ok, okay, go ahead, please do, please proceed, proceed, correct, thats right, \
        thats fine, thats correct, sounds good, do it, do that, confirm, ja, oui, sí, si, sim, да, はい, 好的",
    ),
    (
        Cues::NO,
        "no, nope, nah, dont, do not, instead, rather, revert, undo, actually can, actually could, actually i, \
        thats wrong, thats not, nein, non, não, nee, nej, нет",
    ),
    (
        Cues::COURTESY,
        "is there anything else, how can i help, how can i assist, let me know, feel free, if you have, \
        if you need, im here, im happy, im glad, thank you for, youre welcome, have a, please let me, would you like any, \
        would you like to know, i apologize, i apologise, i understand, you are welcome, how may i",
    ),
];

/// Cues of Chinese and Japanese, which have no blanks between words.
const WIDE: &[(Cues, &str)] = &[
    (
        Cues::CONSTRAINT,
        "不要 不能 别 只 必须 应该 而不是 除了 最多 至少 不用 しないで ないで だけ 必ず べき 以外 ではなく なしで せめて",
    ),
    (Cues::REQUEST, "请 帮我 我想 我要 需要 能不能 可以吗 ください お願い したい ほしい"),
    (Cues::REFUSAL, "无法 不可以 抱歉 很遗憾 不支持 できません 申し訳 残念"),
    (Cues::FINDING, "因为 发现 已经 完成 决定 原因 なので 見つか 完了 決定 原因"),
    (Cues::TODO, "还没 尚未 待办 未完成 まだ 残って 未完了"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_are_known_in_many_languages() {
        for (text, cue) in [
            ("Don’t touch the theme", Cues::CONSTRAINT),
            ("Bitte nicht heute", Cues::CONSTRAINT),
            ("Il faut le faire sans lui", Cues::CONSTRAINT),
            ("не трогай тему", Cues::CONSTRAINT),
            ("不要修改主题", Cues::CONSTRAINT),
            ("テーマは変更しないでください", Cues::CONSTRAINT),
            ("Could you book a table?", Cues::REQUEST),
            ("Lamentablemente no es posible", Cues::REFUSAL),
            ("The tests still need a fix", Cues::TODO),
            ("Ok, so let me fix it", Cues::STEP),
            ("Yes, please", Cues::YES),
        ] {
            assert!(Cues::of(text).has(cue), "{text}");
        }
        assert_eq!(Cues::of("A walk along the river"), Cues::default());
        assert!(!Cues::of("They said yes").has(Cues::YES), "only at the beginning");
    }
}
