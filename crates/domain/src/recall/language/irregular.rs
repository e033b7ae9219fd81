//! Irregular English verbs and nouns, which no stemmer handles.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// The base form of an irregular past tense, participle or plural; any other word unchanged.
///
/// A form that is also a word of its own (`found` a company, a `rose`, `lay`, `saw` a board, `felt`, `wound`)
/// counts as the verb if that is its usual meaning.
pub(in crate::recall) fn base_form(word: &str) -> &str {
    BASES.get(word).copied().unwrap_or(word)
}

static BASES: LazyLock<FxHashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let words = FORMS.lines().flat_map(|line| {
        let mut forms = line.split_whitespace();
        let base = forms.next().unwrap_or_default();
        forms.map(move |form| (form, base))
    });
    words.collect()
});

/// One word per line: the base form, then the others. Auxiliaries are stop words.
const FORMS: &str = "\
arise arose arisen
awake awoke awoken
bear bore borne
beat beaten
become became
begin began begun
bend bent
bind bound
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
cling clung
come came
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fling flung
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone
grind ground
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lay laid
lead led
lean leant
leap leapt
learn learnt
leave left
lend lent
light lit
lose lost
make made
mean meant
meet met
mistake mistook mistaken
overcome overcame
pay paid
prove proven
ride rode ridden
ring rang rung
rise risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
speed sped
spend spent
spill spilt
spin spun
spring sprang sprung
stand stood
steal stole stolen
stick stuck
sting stung
stink stank stunk
strike struck
strive strove striven
swear swore sworn
sweep swept
swell swollen
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
undertake undertook undertaken
wake woke woken
wear wore worn
weave wove woven
weep wept
win won
withdraw withdrew withdrawn
write wrote written
child children
foot feet
goose geese
knife knives
man men
mouse mice
person people
shelf shelves
tooth teeth
wife wives
wolf wolves
woman women
";
