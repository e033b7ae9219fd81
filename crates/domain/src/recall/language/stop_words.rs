//! Words that say nothing about the subject of a text.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::languages::{Language, Languages};

/// The languages in which a lower-case word is a stop word.
pub(in crate::recall) fn stops(word: &str) -> Languages {
    STOPS.get(word).copied().unwrap_or_default()
}

static STOPS: LazyLock<FxHashMap<&'static str, Languages>> = LazyLock::new(|| {
    let mut stops: FxHashMap<&'static str, Languages> = FxHashMap::default();
    for language in Language::ALL {
        for word in of(language) {
            stops.entry(word).or_default().insert(language);
        }
    }
    stops
});

/// The language that most stop words of a text belong to; on a tie, or without any, `before`, the language of
/// the previous text.
pub(in crate::recall) fn guess(stops: impl Iterator<Item = Languages> + Clone, before: Language) -> Language {
    let is_other = |one: &Languages| !one.contains(before) && *one != Languages::default();
    // Most texts are in one language, so no other language can have more of their stop words.
    if stops.clone().filter(is_other).count() <= 1 {
        return before;
    }
    let mut counts = [0_u32; Language::ALL.len()];
    counts[before as usize] = 1;
    for languages in stops {
        languages.iter().for_each(|language| counts[language as usize] += 1);
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    if counts[before as usize] == most {
        return before;
    }
    Language::ALL.into_iter().find(|language| counts[*language as usize] == most).unwrap_or(before)
}

/// The length in bytes of the longest stop word at the start of a text in a script without spaces.
pub(in crate::recall) fn unspaced_stop(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    UNSPACED_STOPS.get(&first)?.iter().find(|word| text.starts_with(**word)).map(|word| word.len())
}

/// The stop words by first character, the longest first.
static UNSPACED_STOPS: LazyLock<FxHashMap<char, Vec<&'static str>>> = LazyLock::new(|| {
    let mut stops: FxHashMap<char, Vec<&'static str>> = FxHashMap::default();
    for word in UNSPACED.split_whitespace() {
        word.chars().take(1).for_each(|first| stops.entry(first).or_default().push(word));
    }
    stops.values_mut().for_each(|words| words.sort_by_key(|word| std::cmp::Reverse(word.len())));
    stops
});

/// Function words, verb endings and question words of Chinese, Japanese and Thai. Without spaces between
/// words, only those that are hardly ever part of another word.
const UNSPACED: &str = "\
什么 怎么 怎样 哪里 哪儿 哪个 哪些 哪一 多少 为什么 是不是 有没有 可以 因为 所以 但是 如果 还是 或者 以及 这个 那个 这些 那些 我们 你们
他们 她们 自己 没有 已经 时候 一下 就是 不是 的 了 吗 呢 吧 啊 是 我 你 您 他 她 在 和 也 都 很 把 被 给 让
です でした ですか でしょうか でしょう ます ました ません ますか ましたか ましょう ている ていた ています ていました ください
という として について によって から まで より ので のに けど けれど だけ など ほど くらい ぐらい どこ どれ どの どう どんな どうやって
いつ いくら いくつ なぜ だれ なに 何 誰 これ それ あれ この その あの ここ そこ こと もの とき ため よう そう はい いいえ した して する
しました しています の は が を に へ と で も や か ね よ
อะไร ไหน ไหม มั้ย เท่าไหร่ เท่าไร เมื่อไหร่ เมื่อไร ยังไง อย่างไร หรือเปล่า หรือยัง ทำไม ใคร กี่ ครับ ค่ะ คะ นะ จ้ะ และ หรือ แต่
เพราะ ก็ ที่ ซึ่ง เป็น คือ ว่า ให้ ได้ แล้ว อยู่ จะ ของ กับ ใน จาก ด้วย ไป มา มี ไม่ นี้ นั้น ฉัน ผม เรา เธอ คุณ เขา
";

/// The stop words of a language: in lower case, with `'` for any apostrophe.
fn of(language: Language) -> impl Iterator<Item = &'static str> {
    let (own, kept): (&str, &[&str]) = match language {
        Language::English => (ENGLISH, &[]),
        Language::Hindi => (HINDI, &[]),
        _ => (asking(language), stop_words::lookup(language.code()).unwrap_or_default()),
    };
    own.split_whitespace().chain(kept.iter().copied())
}

/// A language's question words, which stop word lists mostly omit.
fn asking(language: Language) -> &'static str {
    match language {
        Language::German => {
            "wann warum weshalb wieso wo wohin woher womit wofür worüber wobei worauf wodurch wieviel wie wer wem wen \
             wessen was welche welcher welches welchen welchem denn gerade bitte"
        }
        Language::Spanish => {
            "cuándo cuánto cuánta cuántos cuántas cuál cuáles dónde adónde cómo quién quiénes qué cuanto cuanta cuantos \
             cuantas cual cuales quienes puedo puede pueden debo debe hay hasta"
        }
        Language::French => {
            "combien comment quand où pourquoi quel quelle quels quelles lequel laquelle lesquels lesquelles qui que quoi \
             dont faut peut peux dit"
        }
        Language::Italian => {
            "quanto quanta quanti quante quando dove perché come chi che cosa quale quali posso può"
        }
        Language::Portuguese => {
            "quanto quanta quantos quantas quando onde porque como quem qual quais posso pode"
        }
        Language::Dutch => "wanneer waar waarom hoe hoeveel wie wat welke welk waarmee kan mag",
        Language::Swedish => "när var varför hur vem vad vilken vilket vilka kan",
        Language::Danish => "hvornår hvor hvorfor hvordan hvem hvad hvilken hvilket hvilke kan",
        Language::Norwegian => "når hvor hvorfor hvordan hvem hva hvilken hvilket hvilke kan",
        Language::Finnish => "milloin missä miksi miten kuka mikä kuinka paljonko",
        Language::Hungarian => "mikor hol miért hogyan ki mi mennyi melyik",
        Language::Romanian => "când unde cum cine ce cât câtă câți câte care",
        Language::Turkish => "ne nerede kim nasıl neden kaç hangi mi mı mu mü",
        Language::Russian => {
            "когда где куда откуда почему зачем как сколько кто что какой какая какое какие чей"
        }
        Language::Greek => "πότε πού γιατί πώς ποιος ποια ποιο πόσο πόσα τι",
        Language::Arabic => "متى أين كيف لماذا كم ماذا ما من أي هل بكم اي اين بماذا",
        Language::English | Language::Hindi => "",
    }
}

/// English function words with their contractions, and the yes and no of conversation.
///
/// Excludes words that are also worth searching for (May, case, return, test).
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

/// Postpositions, pronouns, auxiliaries, particles and question words.
const HINDI: &str = "\
अगर अत अथवा अन्य अपना अपनी अपने अब अभी आदि आप आपका आपकी आपके आपको आपने इत्यादि इन इनका इनकी इनके इन्हें इस इसका इसकी
इसके इसको इसने इसमें इससे इसी उन उनका उनकी उनके उनको उनसे उन्हें उन्होंने उस उसका उसकी उसके उसको उसने उसमें उससे उसी
एक एवं ऐसा ऐसी ऐसे और कब कभी कर करके करता करती करते करना करने करो कहाँ कहां का काफी कि कितना कितनी कितने किन किया किस
किसका किसकी किसके किसको किसने किसी किसे की कुछ के को कोई कौन कौनसा कौनसी क्या क्यों गई गए गया चाहिए जब जहाँ जहां जा जाए
जाता जाती जाते जाना जाने जिन जिस जिसका जिसकी जिसके जिसमें जिसे जी जैसा जैसी जैसे जो तक तब तरह तुम तुम्हारा तुम्हारी तुम्हें तुमने
तो था थी थे थीं दिया दी दे देना दोनों द्वारा न नहीं ना ने पर पे फिर बहुत भी मगर मुझे मुझको मुझसे में मैं मैंने मेरा मेरी मेरे यदि यह यहाँ
यहां या ये रहा रही रहे रहता रहती रहते लिए लिया ले लेकिन लेना वह वहाँ वहां वाला वाली वाले वे वो सब सभी सकता सकती सकते साथ से हम हमारा
हमारी हमारे हमें हमने हाँ हां हो होगा होगी होंगे होता होती होते होना होने हुआ हुई हुए हूँ हूं है हैं ही
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stop_word_has_a_digit() {
        assert!(STOPS.keys().all(|word| !word.contains(|c: char| c.is_ascii_digit())));
    }
}
