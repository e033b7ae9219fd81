//! Conversations that branch: each message names the one before it.

use std::collections::{HashMap, HashSet};

use super::{Message, conversation};
use crate::{Parsed, place::Notes, provider::Provider};
use utterd_domain::{Refusal, import::Branch, limits::MAX_BRANCHES};

/// The end of a way through the tree, from where it leaves the earlier ways.
#[derive(Debug, PartialEq, Eq)]
pub struct Path {
    /// Its position among the paths.
    pub number: usize,
    /// The positions of the nodes that no earlier way has, in order.
    pub nodes: Vec<usize>,
    /// The position of the first node of the whole way.
    pub root: usize,
    /// The position of the last node that an earlier way has too.
    pub follows: Option<usize>,
    /// The position among the paths of the way that it left.
    pub left: Option<usize>,
}

impl Path {
    /// The id of what it leads to in the conversation `id`: that id for the first path, and for the others that and
    /// their last message's.
    pub fn name(&self, id: &str, last: &str) -> String {
        if self.number == 0 { id.to_owned() } else { format!("{id}~{last}") }
    }
}

/// What the nodes of a tree say.
pub struct Lines<'a> {
    /// The API in the form of which they are read.
    pub provider: &'a Provider,
    /// Whether a node says something.
    pub is_said: &'a dyn Fn(usize) -> bool,
    /// Whether a node can be read without those before it, and they without it, so that a branch can begin there or
    /// after it.
    pub is_alone: &'a dyn Fn(usize) -> bool,
    /// What nodes say, one after the other.
    pub messages: &'a dyn Fn(&[usize]) -> Vec<Message>,
    /// The id of the conversation that a path leads to.
    pub name: &'a dyn Fn(&Path, &HashSet<String>) -> String,
    /// Sets what else is known about a conversation, which left the one that is named.
    pub describe: &'a dyn Fn(&mut Parsed, &Path, Option<&str>),
}

/// The bytes of the smallest node.
const NODE: usize = 64;

/// Which node is before which.
pub struct Tree {
    /// For each node, the one before it.
    pub before: Vec<Option<usize>>,
    /// The last nodes of the ways, in order.
    pub tips: Vec<usize>,
}

impl Tree {
    /// A tree of nodes, each with its id and that of the one before it; one that is not in the tree begins a
    /// conversation. The first way leads to `current`, by default to the last node. The others follow in the order of
    /// their last nodes.
    pub fn of(nodes: &[(&str, Option<&str>)], current: Option<&str>) -> Self {
        let at: HashMap<&str, usize> = nodes.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
        let named = nodes.iter().map(|(_, before)| at.get((*before)?).copied()).enumerate();
        let before: Vec<Option<usize>> = named.map(|(at, it)| it.filter(|it| *it != at)).collect();
        let mut is_leaf = vec![true; nodes.len()];
        before.iter().flatten().for_each(|at| is_leaf[*at] = false);
        let mut tips: Vec<usize> = (0..nodes.len()).filter(|at| is_leaf[*at]).collect();
        let current = current.and_then(|id| at.get(id).copied()).or(tips.last().copied());
        if let Some(current) = current {
            tips.retain(|leaf| *leaf != current);
            tips.insert(0, current);
        }
        Self { before, tips }
    }

    /// The paths to the tips. A damaged file can go in a circle, which is cut.
    fn paths(&mut self) -> Vec<Path> {
        let mut owner: Vec<Option<usize>> = vec![None; self.before.len()];
        let mut found: Vec<Path> = Vec::new();
        for tip in &self.tips {
            let (number, mut nodes, mut at) = (found.len(), Vec::new(), Some(*tip));
            while let Some(node) = at.filter(|node| owner[*node].is_none()) {
                owner[node] = Some(number);
                nodes.push(node);
                at = self.before[node];
            }
            let left = at.and_then(|at| owner[at]).filter(|left| *left != number);
            if let (Some(first), None) = (nodes.last(), left) {
                self.before[*first] = None;
            }
            nodes.reverse();
            let first = nodes.first().copied().unwrap_or(*tip);
            let root = left.map_or(first, |left| found[left].root);
            found.push(Path { number, nodes, root, follows: at.filter(|_| left.is_some()), left });
        }
        found
    }

    /// Reads each way as a conversation of its own. One that begins like an earlier one holds only what follows, and says
    /// what that was said after.
    pub fn read(
        mut self,
        lines: &Lines<'_>,
        found: &mut Vec<Parsed>,
        notes: &mut Notes,
    ) -> Result<(), Refusal> {
        let (mut names, mut taken) = (Vec::<String>::new(), HashSet::new());
        // For each node, the last utterance of a conversation that was said up to it.
        let mut places: Vec<Option<Branch>> = vec![None; self.before.len()];
        let mut branches = 0;
        for path in &self.paths() {
            let name = (lines.name)(path, &taken);
            names.push(name.clone());
            taken.insert(name.clone());
            let Some(first) = path.nodes.iter().find(|at| (lines.is_said)(**at)) else {
                let place = path.follows.and_then(|at| places[at]);
                path.nodes.iter().for_each(|at| places[*at] = place);
                continue;
            };
            let (mut nodes, follows) = self.repeated(path.follows, *first, lines);
            let repeated = nodes.len();
            nodes.extend(&path.nodes);
            let messages = (lines.messages)(&nodes);
            let again = messages.iter().take_while(|message| message.node != *first);
            let again: usize = again.map(|message| message.value.to_string().len()).sum();
            notes.repeat(again + repeated * NODE)?;
            let from: Vec<usize> = messages.iter().map(|message| message.node).collect();
            let mut parsed = conversation(name, messages, lines.provider, notes)?;
            parsed.branch = follows.and_then(|at| places[at]);
            branches += usize::from(parsed.branch.is_some());
            if branches > MAX_BRANCHES {
                let text = format!(
                    "holds a conversation with more than {MAX_BRANCHES} branches, which is the limit"
                );
                return Err(Refusal::invalid("content", text));
            }
            let mut place = parsed.branch;
            let mut said = parsed.said.iter().map(|sourced| from.get(sourced.index)).enumerate().peekable();
            for (number, at) in nodes.iter().enumerate() {
                while let Some((after, _)) = said.next_if(|(_, from)| *from == Some(at)) {
                    place = Some(Branch { of: found.len(), after });
                }
                if number >= repeated {
                    places[*at] = place;
                }
            }
            let left = path.left.map(|left| names[left].as_str());
            (lines.describe)(&mut parsed, path, left);
            found.push(parsed);
        }
        Ok(())
    }

    /// The nodes up to `follows` that a branch repeats because what begins with `first` cannot be read without them, and
    /// the last one that it does not repeat.
    fn repeated(
        &self,
        mut follows: Option<usize>,
        mut first: usize,
        lines: &Lines<'_>,
    ) -> (Vec<usize>, Option<usize>) {
        let mut repeated = Vec::new();
        while let Some(at) = follows.filter(|at| !(lines.is_alone)(*at) && !(lines.is_alone)(first)) {
            repeated.push(at);
            (first, follows) = (at, self.before[at]);
        }
        repeated.reverse();
        (repeated, follows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(nodes: &[(&str, &str)], current: Option<&str>) -> Vec<(String, Option<usize>, Option<usize>)> {
        let node = |(id, before): &(_, _)| (*id, Some(*before).filter(|it: &&str| !it.is_empty()));
        let nodes: Vec<(&str, Option<&str>)> = nodes.iter().map(node).collect();
        let named = |path: &Path| path.nodes.iter().map(|at| nodes[*at].0).collect();
        let paths = Tree::of(&nodes, current).paths();
        paths.iter().map(|path| (named(path), path.follows, path.left)).collect()
    }

    #[test]
    fn a_branch_says_what_it_left_and_where() {
        let tree = [("a", ""), ("b", "a"), ("c", "b"), ("d", "b"), ("e", "d"), ("f", "d")];
        let all =
            [("abdf".to_owned(), None, None), ("c".into(), Some(1), Some(0)), ("e".into(), Some(3), Some(0))];
        assert_eq!(found(&tree, None), all);
        let first = &found(&tree, Some("c"));
        assert_eq!(first[0], ("abc".to_owned(), None, None));
        assert_eq!(first[2], ("f".to_owned(), Some(3), Some(1)), "it left a branch");
    }

    #[test]
    fn what_is_not_connected_is_a_conversation_of_its_own() {
        let tree = [("a", "gone"), ("b", "a"), ("x", "")];
        assert_eq!(found(&tree, Some("b")), [("ab".to_owned(), None, None), ("x".into(), None, None)]);
        assert_eq!(found(&[], None), []);
    }

    #[test]
    fn a_circle_ends() {
        assert_eq!(found(&[("a", "b"), ("b", "a")], None), []);
        let circle = [("a", "b"), ("b", "a"), ("c", "b"), ("d", "a")];
        assert_eq!(found(&circle, None), [("bad".to_owned(), None, None), ("c".into(), Some(1), Some(0))]);
        assert_eq!(found(&[("a", "a")], None), [("a".to_owned(), None, None)]);
    }
}
