//! The English words that say nothing about what a text is about.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Whether a word is a stop word.
///
/// Expects it in lower case, with `'` for any apostrophe.
pub(super) fn is_stop_word(word: &str) -> bool {
    word.len() <= LONGEST && STOP_WORDS.contains(word)
}

/// The bytes of the longest stop word.
const LONGEST: usize = 12;

static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| ENGLISH.split_whitespace().collect());

/// Function words, their contractions, and the yes and no of conversation.
///
/// A word that is also worth asking for (May, case, return, test) is not among them.
const ENGLISH: &str = "\
a about above across actually after afterwards again against all almost along already also
although always am amid among amongst an and another any anybody anyhow anymore anyone
anything anyway anywhere are aren't around as aside at away be because been before beforehand
behind being below beside besides between beyond both but by can can't cannot could could've
couldn't did didn't do does doesn't doing don't done down during each either else elsewhere
enough especially etc even ever every everybody everyone everything everywhere except few for
from further furthermore had hadn't has hasn't have haven't having he he'd he'll he's hence
her here here's hers herself him himself his how how's however i i'd i'll i'm i've if in
indeed instead into is isn't it it'd it'll it's its itself just least less lest let let's lot
lots many maybe me merely might mightn't mine more moreover most mostly much must mustn't my
myself namely neither never nevertheless no nobody none nor not nothing nowhere of off often
oh ok okay on once one ones only onto or other others otherwise ought our ours ourselves out
over own per perhaps please quite rather really shall shan't she she'd she'll she's should
should've shouldn't since so some somebody somehow someone something sometimes somewhat
somewhere still such than that that'd that'll that's the their theirs them themselves then
there there'd there'll there's therefore these they they'd they'll they're they've this those
though through throughout thus to together too toward towards under unless unlike until up
upon us very via was wasn't we we'd we'll we're we've were weren't what what'd what'll what're
what's whatever when when's whenever where where's whereas wherever whether which whichever
while who who'd who'll who's whoever whom whose why why's will with within without won't would
would've wouldn't yeah yes yet you you'd you'll you're you've your yours yourself yourselves
";
