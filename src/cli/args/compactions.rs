//! Arguments of the commands that summarise and fold.

use clap::Args;

use super::target::Target;

/// Arguments of `summarize`.
#[derive(Debug, Args)]
pub struct Summarize {
    #[command(flatten)]
    pub target: Target,
    /// Only the last N utterances of the window
    #[arg(long, value_name = "N", group = "scope", allow_negative_numbers = true)]
    pub recent: Option<i32>,
    /// Only what left the window
    #[arg(long, group = "scope")]
    pub evicted: bool,
    /// Only these turns: `3` or `2-5`
    #[arg(long, value_name = "A-B", group = "scope", value_parser = turns)]
    pub turns: Option<(i32, i32)>,
    /// The most tokens [default: the conversation's limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub tokens: Option<i32>,
    /// A word that makes a sentence matter more
    #[arg(long, value_name = "WORD")]
    pub focus: Vec<String>,
    /// Wait for the server's model to tell the summary
    #[arg(long)]
    pub wait: bool,
}

/// Arguments of `compact`.
#[derive(Debug, Args)]
pub struct Compact {
    #[command(flatten)]
    pub target: Target,
    /// How many utterances stay, at least [default: 15]
    #[arg(value_name = "KEEP", allow_negative_numbers = true)]
    pub keep: Option<i32>,
    /// Compact exactly so many of the oldest instead, whole exchanges
    #[arg(long, conflicts_with = "keep")]
    pub count: Option<i32>,
    /// Make no summary of what leaves: archive it only
    #[arg(long)]
    pub no_summary: bool,
    /// Tell what would be compacted and change nothing
    #[arg(long)]
    pub preview: bool,
    /// Wait for a model to tell the summary, where the server has one
    #[arg(long)]
    pub wait: bool,
    /// A word that makes a sentence matter more
    #[arg(long, value_name = "WORDS")]
    pub focus: Vec<String>,
    /// Take the last compaction back instead
    #[arg(long, group = "instead", conflicts_with_all = ["keep", "count", "no_summary", "preview", "wait", "focus"])]
    pub undo: bool,
    /// List the conversation's compactions instead
    #[arg(long, group = "instead", conflicts_with_all = ["keep", "count", "no_summary", "preview", "wait", "focus"])]
    pub list: bool,
}

fn turns(text: &str) -> Result<(i32, i32), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) => Ok((first, last)),
        _ => Err("accepted are a turn, such as 3, or two, such as 2-5".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_one_or_two() {
        assert_eq!(turns("3"), Ok((3, 3)));
        assert_eq!(turns("2-5"), Ok((2, 5)));
        assert!(turns("2-").is_err() && turns("x").is_err());
    }
}
