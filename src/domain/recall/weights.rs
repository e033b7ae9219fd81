//! What counts how much in the ranking.
//!
//! They are round numbers that hold for short turns between people and for long answers of a model alike: near each,
//! the recall on both changes by less than a hundredth.

/// How soon a repeated term stops adding to the score.
pub(super) const K1: f32 = 0.8;
/// How much a passage's length counts against it: 0 not at all, 1 in full.
pub(super) const B: f32 = 0.75;

/// What a term of the utterance before the last is worth.
pub(super) const BEFORE_LAST: f32 = 0.2;
/// What a term of the utterance before is worth.
pub(super) const BEFORE: f32 = 0.2;
/// What a term of another's question is worth to the answer behind it: that is about what was asked.
pub(super) const ASKED_FOR: f32 = 1.5;
/// What a term is worth to the answer that was told along with the question.
pub(super) const TOLD_WITH: f32 = 0.7;
/// What a term of the next utterance is worth.
pub(super) const NEXT: f32 = 0.1;
/// What a term elsewhere in a long utterance is worth to a passage of it.
pub(super) const SAME: f32 = 0.1;
/// A neighbour of so many words counts half: the longer it is, the less of it is about its neighbours.
pub(super) const NEIGHBOUR_WORDS: f32 = 25.0;

/// What a speaker's name in the prompt is worth as a term of all that this speaker said.
pub(super) const NAME: f32 = 1.5;
/// What the words of a speaker whom the prompt names are worth beside those of others.
pub(super) const NAMED: f32 = 1.4;
/// What the words of the user are worth when the prompt asks what the user said, and the assistant's likewise.
pub(super) const ASKED: f32 = 1.25;
/// What a user's words are worth beside an assistant's.
pub(super) const USER: f32 = 1.05;
/// What a time in the prompt is worth as a term of all that was said then.
pub(super) const TIME: f32 = 1.5;

/// What the shortest of questions loses: people look for answers.
pub(super) const QUESTION: f32 = 0.6;
/// A question of so many words loses nothing: it tells something too.
pub(super) const QUESTION_WORDS: f32 = 20.0;

/// What a part of an identifier is worth beside the whole.
pub(super) const PART: f32 = 0.5;
/// What a single character of a script without spaces is worth beside a pair.
pub(super) const CHARACTER: f32 = 0.3;
/// What a pair of hiragana is worth: they mostly write endings.
pub(super) const KANA: f32 = 0.3;

/// How much recency may raise a score: little more than a tie-break, because a stronger weight costs recall.
pub(super) const RECENCY: f64 = 0.05;

/// What a word that only resembles one of the prompt covers of it.
pub(super) const ALIKE: f32 = 0.3;
/// What a term around an utterance covers of a prompt beside one in it.
pub(super) const AROUND: f32 = 0.7;
/// So many words that are as rare as can be cover a prompt, if the conversation has all of its words: what a long
/// prompt asks for stands in several utterances, and some of its words only say how it asks.
pub(super) const ENOUGH: f32 = 2.0;
/// What a pair of characters covers beside a word, in scripts of syllables and of words in one or two characters.
pub(super) const PAIR_OF_IDEOGRAPHS: f32 = 0.5;
/// What it covers in scripts of letters.
pub(super) const PAIR_OF_LETTERS: f32 = 0.25;
