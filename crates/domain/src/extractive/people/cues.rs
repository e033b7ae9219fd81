//! Words that show what a sentence is for, by language. Languages without a list have none.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// What the words of a sentence show, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cues(u8);

impl Cues {
    pub(super) const NONE: Self = Self(0);
    /// About oneself.
    pub(super) const FIRST: Self = Self(1);
    /// About the other person.
    pub(super) const SECOND: Self = Self(2);
    /// What will be done.
    pub(super) const PLAN: Self = Self(4);
    /// When.
    pub(super) const TIME: Self = Self(8);
    /// What was decided.
    pub(super) const DECISION: Self = Self(16);

    pub(super) fn has(self, cue: Self) -> bool {
        self.0 & cue.0 != 0
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a lower-case word shows in the language with the given code.
pub(super) fn cues(word: &str, language: &str) -> Cues {
    LISTS.get(language).and_then(|words| words.get(word)).copied().unwrap_or_default()
}

static LISTS: LazyLock<FxHashMap<&'static str, FxHashMap<&'static str, Cues>>> = LazyLock::new(|| {
    let mut lists: FxHashMap<&str, FxHashMap<&str, Cues>> = FxHashMap::default();
    for (language, lines) in WORDS {
        let words = lists.entry(language).or_default();
        for (cue, line) in CUES.into_iter().zip(lines) {
            for word in line.split_whitespace() {
                let known = words.entry(word).or_default();
                *known = known.and(cue);
            }
        }
    }
    lists
});

/// The cues of a language's lists, in order.
const CUES: [Cues; 5] = [Cues::FIRST, Cues::SECOND, Cues::PLAN, Cues::TIME, Cues::DECISION];

const WORDS: [(&str, [&str; 5]); 8] = [
    (
        "en",
        [
            "i my i'm i've i'll i'd me myself",
            "you you're your you've you'll you'd yourself",
            "will i'll we'll should gonna going need let's plan planning want",
            "yesterday today tomorrow tonight week weekend month year years monday tuesday wednesday thursday friday \
             saturday sunday summer ago last next january february march april june july august september october \
             november december morning evening",
            "decided decide agree agreed confirmed settled approved chose chosen let's decision",
        ],
    ),
    (
        "de",
        [
            "ich mein meine meinen meinem meiner mir mich",
            "du dein deine deinen deinem deiner dir dich ihr euch",
            "werde werden sollte sollten müssen muss will wollen wollte plane",
            "gestern heute morgen abend woche wochenende monat jahr montag dienstag mittwoch donnerstag freitag \
             samstag sonntag letzte letzten letztes nächste nächsten nächstes januar februar märz april mai juni juli \
             august september oktober november dezember",
            "entschieden beschlossen einverstanden abgemacht vereinbart genehmigt bestätigt",
        ],
    ),
    (
        "es",
        [
            "yo mi mis me mí conmigo",
            "tú tu tus te ti contigo usted",
            "voy vamos quiero queremos tengo tenemos debemos debería plan pienso",
            "ayer hoy mañana semana mes año lunes martes miércoles jueves viernes sábado domingo pasado pasada próximo \
             próxima enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
            "decidido decidimos decidí acordado acuerdo confirmado aprobado elegido",
        ],
    ),
    (
        "fr",
        [
            "je j'ai mon ma mes me moi",
            "tu t'as ton ta tes te toi vous votre vos",
            "vais allons veux voulons dois devons faut prévu",
            "hier demain aujourd'hui semaine mois année an lundi mardi mercredi jeudi vendredi samedi dimanche dernier \
             dernière prochain prochaine janvier février mars avril mai juin juillet août septembre octobre novembre \
             décembre",
            "décidé décidons accord convenu confirmé approuvé choisi",
        ],
    ),
    (
        "it",
        [
            "io mio mia miei mie mi me",
            "tu tuo tua tuoi tue ti te",
            "devo dobbiamo voglio vogliamo vado andiamo farò faremo",
            "ieri oggi domani settimana mese anno lunedì martedì mercoledì giovedì venerdì sabato domenica scorso \
             scorsa prossimo prossima gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre \
             novembre dicembre",
            "deciso decidiamo accordo confermato approvato scelto",
        ],
    ),
    (
        "pt",
        [
            "eu meu minha meus minhas me mim",
            "tu você teu tua seu sua te ti",
            "vou vamos quero queremos preciso precisamos devo",
            "ontem hoje amanhã semana mês ano segunda terça quarta quinta sexta sábado domingo passado passada próximo \
             próxima janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
            "decidido decidimos decidi combinado acordo confirmado aprovado escolhido",
        ],
    ),
    (
        "nl",
        [
            "ik mijn mij me",
            "jij je jouw jou u uw",
            "zal zullen moet moeten wil willen ga gaan",
            "gisteren vandaag morgen week weekend maand jaar maandag dinsdag woensdag donderdag vrijdag zaterdag \
             zondag vorige volgende januari februari maart april mei juni juli augustus september oktober november \
             december",
            "besloten afgesproken akkoord bevestigd goedgekeurd gekozen",
        ],
    ),
    (
        "ru",
        [
            "я мой моя моё мои мне меня",
            "ты твой твоя твоё твои тебе тебя вы ваш ваша вам вас",
            "буду будем надо нужно должны должен хочу хотим",
            "вчера сегодня завтра неделя неделе неделю месяц год понедельник вторник среда среду четверг пятница \
             пятницу суббота субботу воскресенье прошлой прошлом следующей следующем января февраля марта апреля мая \
             июня июля августа сентября октября ноября декабря",
            "решили решено решил решила согласен согласна договорились подтвердили",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_tells_in_its_own_language() {
        assert!(cues("i'll", "en").has(Cues::FIRST) && cues("i'll", "en").has(Cues::PLAN));
        assert!(cues("gestern", "de").has(Cues::TIME));
        assert_eq!(cues("gestern", "en"), Cues::NONE);
        assert_eq!(cues("yesterday", "tlh"), Cues::NONE);
    }
}
