use crate::{ACCEPTED, REFUSED, conversation::outcome, parse};
#[test]
fn dump() {
    let mut out = String::new();
    for (name, file) in [("S", include_str!("sentences.txt")), ("T", include_str!("traps.txt"))] {
        let mut forgotten = "";
        for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(list) = line.strip_prefix("@ forgotten ") { forgotten = list; continue; }
            let (sentence, expected) = line.rsplit_once(" | ").unwrap();
            let found = outcome(sentence, forgotten);
            let tag = if found == expected { "same" } else if expected == "refused" { "MORE" } else if found == "refused" { "less" } else { "DIFF" };
            let why = utterd_domain::forgetting::parse(sentence).err().map(|e| e.to_string().split("; valid").next().unwrap().to_owned()).unwrap_or_default();
            out += &format!("{name}\t{tag}\t{sentence}\t{expected}\t{found}\t{why}\n");
        }
    }
    for (text, form) in ACCEPTED {
        let found = parse(text);
        let (tag, found) = match found { Ok(i) if i.to_string() == *form => ("same", i.to_string()), Ok(i) => ("DIFF", i.to_string()), Err(e) => ("less", e.to_string().split("; valid").next().unwrap().to_owned()) };
        out += &format!("A\t{tag}\t{text}\t{form}\t{found}\n");
    }
    for (text, why) in REFUSED {
        let (tag, found) = match parse(text) { Ok(i) => ("MORE", i.to_string()), Err(e) => ("same", e.to_string().split("; valid").next().unwrap().to_owned()) };
        out += &format!("R\t{tag}\t{text}\t{why}\t{found}\n");
    }
    std::fs::write("/tmp/dump.tsv", out).unwrap();
}
