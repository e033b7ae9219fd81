//! The weights of the ranking.
//!
//! These are round numbers that suit both short turns between people and a model's long answers: small
//! changes to any of them change recall on either by less than a hundredth.

/// How soon a repeated term stops adding to the score.
pub(super) const K1: f32 = 0.8;
/// How much a passage's length counts against it: 0 not at all, 1 in full.
pub(super) const B: f32 = 0.75;

/// The weight of a term in the utterance before the last.
pub(super) const BEFORE_LAST: f32 = 0.2;
/// The weight of a term in the previous utterance.
pub(super) const BEFORE: f32 = 0.2;
/// The weight of a term in somebody else's question for the answer after it: the answer is about what was
/// asked.
pub(super) const ASKED_FOR: f32 = 1.5;
/// The weight, for the answer, of a term in the statements made along with the question.
pub(super) const TOLD_WITH: f32 = 0.7;
/// The weight of a term in the next utterance.
pub(super) const NEXT: f32 = 0.1;
/// The weight, for a passage, of a term elsewhere in the same long utterance.
pub(super) const SAME: f32 = 0.1;
/// A neighbour of this many words counts half: the longer it is, the less of it concerns its neighbours.
pub(super) const NEIGHBOUR_WORDS: f32 = 25.0;

/// The weight of a speaker's name in the prompt, as a term in everything that this speaker said.
pub(super) const NAME: f32 = 1.5;
/// The factor for what a speaker named in the prompt said.
pub(super) const NAMED: f32 = 1.4;
/// The factor for the user's words if the prompt asks what the user said, and likewise for the assistant's.
pub(super) const ASKED: f32 = 1.25;
/// The factor for the user's words if the prompt speaks of oneself, and the speakers have no names.
pub(super) const OWN: f32 = 1.75;
/// The factor for a user's words relative to an assistant's.
pub(super) const USER: f32 = 1.05;
/// The weight of a time in the prompt, as a term in everything that was said then.
pub(super) const TIME: f32 = 1.5;

/// How much the shortest question loses: people look for answers.
pub(super) const QUESTION: f32 = 0.55;
/// A question of this many words loses nothing: it says something too.
pub(super) const QUESTION_WORDS: f32 = 20.0;

/// The share of an utterance's words in the prompt from which it stands there word for word.
pub(super) const REPEATED: f32 = 0.85;
/// The fewest words of such an utterance.
pub(super) const REPEATED_WORDS: u16 = 3;
/// The factor for what answers it, relative to its own score.
pub(super) const ABOVE: f32 = 1.01;

/// The weight of a part of an identifier, relative to the whole.
pub(super) const PART: f32 = 0.5;
/// The weight of a word that only phrases the question.
pub(super) const PHRASING: f32 = 0.15;
/// The weight of a single character in a script without spaces, relative to a pair.
pub(super) const CHARACTER: f32 = 0.3;
/// The weight of a pair of hiragana, which are mostly endings.
pub(super) const KANA: f32 = 0.3;

/// The most that recency can raise a score: little more than a tie-break, because a stronger weight costs
/// recall.
pub(super) const RECENCY: f64 = 0.05;
/// The same if the prompt asks for what is newest.
pub(super) const NEWEST: f64 = 0.3;

/// By the number of words in a prompt that tell what it is about, the exponent of the share of it that is covered.
/// With these, a relevance of 0.35 is 0.45 of one or two words, 0.38 of three, 0.28 of four, 0.2 of five and 0.15 of more.
pub(super) const STRICTNESS: [f64; 7] = [1.32, 1.32, 1.32, 1.08, 0.825, 0.65, 0.553];
/// The factor for this exponent if the prompt names a topic that several people discussed: they said its words one
/// here and one there.
pub(super) const OF_A_TOPIC: f64 = 0.7;
/// A word that at least this many utterances have is a subject of the conversation.
pub(super) const SUBJECT_UTTERANCES: usize = 3;
/// In a conversation of fewer utterances, a relevance of 0.35 is never more than 0.35 of the words.
pub(super) const CHANCE_UTTERANCES: usize = 100;
/// How much a word of every day covers, relative to another word.
pub(super) const EVERYDAY: f32 = 0.4;
/// How much of an identifier that no utterance has all its parts cover.
pub(super) const MISSING: f32 = 0.5;
/// An utterance with an identifier that at most this many have is relevant, whatever else the prompt says.
pub(super) const RARE_UTTERANCES: usize = 2;
/// How much of the prompt a term next to an utterance covers, relative to one in it.
pub(super) const AROUND: f32 = 0.7;
/// How many words of the highest rarity cover a prompt if the conversation has all of its words: what a long
/// prompt asks for is spread over several utterances, and some of its words only phrase the question.
pub(super) const ENOUGH: f32 = 2.0;
/// How many words that the conversation lacks count at most, as words of the highest rarity: a question has
/// fewer, and a pasted text has hundreds, few of which it is about.
pub(super) const LACKING: f32 = 6.0;
/// How much a pair of characters covers, relative to a word, in scripts of syllables and of words of one or
/// two characters.
pub(super) const PAIR_OF_IDEOGRAPHS: f32 = 0.5;
/// The same in scripts of letters.
pub(super) const PAIR_OF_LETTERS: f32 = 0.25;
