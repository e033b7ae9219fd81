//! How requests are phrased in English: greetings, politeness, wishes, thanks.
//!
//! Sentences in other languages stay as they are, except for a greeting.

use crate::phrases::phrases;

/// A word in lower case, without the punctuation around it and without apostrophes.
pub(super) struct Word(String);

impl Word {
    pub(super) fn of(text: &str) -> Self {
        let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
        // Longer words are not in any list.
        let bare = if bare.len() > 24 { "" } else { bare };
        Self(bare.chars().filter(|c| !matches!(c, '\'' | '’')).flat_map(char::to_lowercase).collect())
    }

    fn is_in(&self, list: &str) -> bool {
        !self.0.is_empty() && list.split_ascii_whitespace().any(|word| word == self.0)
    }

    /// Whether a title that is too long can drop the word.
    pub(super) fn is_article(&self) -> bool {
        self.is_in("the")
    }

    /// Whether a title can do without the word if it must be even shorter.
    pub(super) fn is_indefinite(&self) -> bool {
        self.is_in("a an")
    }

    /// Whether the next word belongs to it: no title ends with such a word.
    pub(super) fn leads_on(&self) -> bool {
        self.is_in(LEADING_ON) || self.is_in(JOINING) || self.is_in(LEADING_ON_ELSEWHERE)
    }

    /// Whether it reports that something was done or could not be.
    pub(super) fn settles(&self) -> bool {
        self.is_in(SETTLING)
    }

    /// Whether a title that begins with it lacks its beginning, unless it is a question.
    pub(super) fn lacks_beginning(&self) -> bool {
        self.is_in(LACKING)
    }

    /// Whether it belongs to the next word, so that only a whole phrase ends before it.
    pub(super) fn determines(&self) -> bool {
        self.is_in("a an the my your our their his her its this these those some any each every no me you him them us it")
    }

    /// Whether it is a sound, or a transcriber's mark for one.
    pub(super) fn hesitates(&self) -> bool {
        self.is_in("um uh umm uhm erm hmm mm mhm er disfmarker vocalsound gap pause nonvocalsound comment")
    }

    /// Whether it is common in any talk, whatever the subject.
    pub(super) fn chats(&self) -> bool {
        self.is_in(CHATTING)
    }

    /// Whether it must be followed by more than one word: "and tell", "that I".
    pub(super) fn joins_clauses(&self) -> bool {
        self.is_in("and or but so because that which who when while if")
    }

    /// Whether it begins a new part of the sentence: a title can end before it.
    pub(super) fn joins(&self) -> bool {
        self.is_in(JOINING)
    }
}

/// Whether a sentence says goodbye or offers help.
pub(super) fn takes_leave(said: &str) -> bool {
    let said = said.to_lowercase();
    LEAVE.iter().any(|phrase| said.contains(phrase))
}

/// Whether a sentence describes what may be done rather than what was done.
pub(super) fn plans(said: &str) -> bool {
    let said = said.to_lowercase().replace('’', "'");
    PLANNING.iter().any(|phrase| said.contains(phrase))
}

/// Whether a sentence only points to what follows or says how to do something.
pub(super) fn prepares(said: &str) -> bool {
    let said = said.to_lowercase();
    PREPARING.iter().any(|phrase| said.contains(phrase))
}

/// Whether most of a sentence's letters are capitals.
pub(super) fn shouts(said: &str) -> bool {
    let letters = said.chars().filter(|c| c.is_alphabetic());
    let (high, all) = letters.fold((0, 0), |(high, all), c| (high + usize::from(c.is_uppercase()), all + 1));
    all > SHOUTED_LETTERS && high > all / 2
}

/// With fewer capitals it is an acronym or a name.
const SHOUTED_LETTERS: usize = 16;

/// Finds the request in a sentence.
pub(super) struct Asking<'a> {
    words: &'a [Word],
    is_english: bool,
}

impl<'a> Asking<'a> {
    pub(super) fn of(words: &'a [Word]) -> Self {
        let known = words.iter().filter(|word| word.is_in(EVIDENCE)).count();
        Self { words, is_english: known >= 2 }
    }

    /// The places after "can you", "please" and the like; then those after "I want to".
    pub(super) fn requests(&self) -> impl Iterator<Item = usize> {
        self.behind(REQUESTS).chain(self.behind(WISHES))
    }

    /// The first place after a greeting.
    pub(super) fn end_of_greeting(&self) -> usize {
        let list = if self.is_english { GREETINGS } else { OTHER_GREETINGS };
        self.words.iter().position(|word| !word.is_in(list) && !word.0.is_empty()).unwrap_or(0)
    }

    /// The first place from `start` that is part of the request itself.
    pub(super) fn end_of_lead(&self, start: usize) -> usize {
        if !self.is_english {
            return start;
        }
        let rest = self.words.get(start..).unwrap_or_default();
        let lead = rest.iter().position(|word| !word.is_in(LEAD) && !word.is_in(GREETINGS)).unwrap_or(0);
        // keep the subject next to its verb
        let acts = lead > 0 && rest[lead - 1].is_in("i we");
        start + lead - usize::from(acts)
    }

    /// The place where closing thanks begin, or the end of the sentence.
    pub(super) fn start_of_thanks(&self) -> usize {
        let last = self.words.iter().rposition(|word| !word.is_in(THANKS)).map_or(0, |last| last + 1);
        let thanks = self.words[last..].iter().any(|word| word.is_in("thanks thank please appreciated"));
        if self.is_english && thanks { last } else { self.words.len() }
    }

    fn behind(&self, phrases: &'static [&'static [&'static str]]) -> impl Iterator<Item = usize> {
        let words = if self.is_english { self.words } else { &[] };
        (0..words.len()).filter_map(move |at| {
            let starts = |phrase: &&[&str]| {
                let here = words[at..].iter().map(|word| word.0.as_str());
                words.len() - at >= phrase.len()
                    && here.zip(phrase.iter()).all(|(word, wanted)| word == *wanted)
            };
            phrases.iter().find(|phrase| starts(phrase)).map(|phrase| at + phrase.len())
        })
    }
}

/// Words with this spelling mostly in English only.
const EVIDENCE: &str = "the i im ive id my you your is are can could would what how please with this that it and \
    of need want help we our do does for not from have when where why which should there";

const GREETINGS: &str = "hi hello hey dear greetings good morning afternoon evening ok okay so well um uh hmm \
    alright great thanks thank please yes yeah yep and but also then now actually sure";

const OTHER_GREETINGS: &str = "hi hello hey hola hallo guten tag bonjour salut ciao buongiorno olá oi привет \
    здравствуйте 你好 您好 こんにちは";

/// Words that lead up to a request, in any order.
const LEAD: &str = "kindly kinda just maybe perhaps i im ive id we were weve you am have had been can could would will \
    shall may might like love want wanted need needed wish hope hoping trying looking going planning wondering \
    was if whether heres to help helping me us my our the a an some with for about let lets tell know that";

const THANKS: &str = "thanks thank you please advance help appreciated much";

const REQUESTS: &[&[&str]] = &[
    &["how", "can", "i"],
    &["how", "do", "i"],
    &["how", "should", "i"],
    &["how", "could", "i"],
    &["can", "you"],
    &["could", "you"],
    &["would", "you"],
    &["will", "you"],
    &["please"],
    &["help", "me"],
];

const WISHES: &[&[&str]] = &[
    &["i", "want", "to"],
    &["i", "wanted", "to"],
    &["i", "need", "to"],
    &["i", "want", "you", "to"],
    &["i", "need", "you", "to"],
    &["i", "would", "like", "to"],
    &["id", "like", "to"],
    &["we", "need", "to"],
    &["we", "want", "to"],
    &["im", "trying", "to"],
    &["im", "looking", "to"],
    &["lets"],
    &["i", "wanna"],
    &["i", "need", "some"],
    &["i", "need", "your", "help", "to"],
    &["i", "need"],
];

/// Prepositions and conjunctions, which begin a new part.
const JOINING: &str = "and or but so because which that who whose when while where if unless as to for with in on \
    at by from into after before since until without using via between about through during";

const LEADING_ON: &str = "a an the my your our their his her its this these those some any each every no not of \
    is are was were be been am has have had will would can could should must may might do does did i im you we \
    need want like get got make tell let they he she it me than then also please very more most how what why id ive";

const LACKING: &str = "are is was were am be been being has have had will would should must may might like know mean \
    of that which because than then very much it its they he she him them youre youve theyre and or but not even so also \
    afraid going gonna doesnt didnt dont isnt wasnt";

const CHATTING: &str = "really great good nice think thing things know like love loved time times people going make makes \
    making made sure want wanted look looks looking feel feeling wow yeah yes okay thanks thank back take takes took \
    taking just well actually maybe probably kind sort lots much many more most some something anything everything \
    right okay guess mean means said says saying tell told talk talking come comes came coming getting gets give \
    keep keeps need needs work works working last next week weeks year years month months today tomorrow yesterday \
    first second little still even only very amazing awesome cool glad happy hear sounds sound seems seem wonderful \
    other another every always never thought thinking definitely pretty better best help helps helped shares photo \
    photos photography photograph image picture group sitting standing front bunch couple start started starting \
    long hard trying tried sense point question questions fact idea ideas whole been being have having does doing \
    hope hoping important special totally absolutely excited awesome super chat check person someone everyone \
    dunno gonna wanna cause";

const SETTLING: &str = "added approved booked canceled cancelled changed completed confirmed created decided denied \
    deleted done failed finished fixed implemented merged moved passed processed refunded removed renamed \
    replaced resolved saved scheduled sent solved successful successfully transferred unable unfortunately \
    updated upgraded wrote written cannot";

const LEAVE: [&str; 25] = phrases(
    "feel free|hesitate|reach out|let me know|take care|safe travels|further assistance|have a great|\
    have a nice|good luck|happy to help|here to help|would you like|if you need|if you have any|\
    is there anything|anything else|i hope|looking forward|you're welcome|thank you for|thanks for|\
    glad i could|enjoy your|safe and pleasant",
);

const PLANNING: [&str; 18] = phrases(
    "once you|if you|please provide|please confirm|i can assist|i can help|i could |i'll |i will |let's |\
    let me |would you|to proceed|next step|next, |we need to|you can |will help you",
);

const PREPARING: [&str; 13] = phrases(
    "the following|see below|make sure|note that|keep in mind|be careful|don't forget|before stopping|do not |\
    these steps|this demonstration|a demonstration|your task is",
);

/// The same for other languages: articles, prepositions, conjunctions.
const LEADING_ON_ELSEWHERE: &str = "de la el los las del al con por para un una y e o que le les des du au aux et ou à \
    sur pour dans avec der die das den dem ein eine einen und oder mit von zu im am für auf bei il lo gli di da \
    per su em do na no os as um uma het een van met voor op на в с и по для к от из за о у";
