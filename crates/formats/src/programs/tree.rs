//! Conversations that branch: each message names the one before it.

use std::collections::HashMap;

/// A message's place in the tree.
pub struct Node<'a> {
    /// Its id.
    pub id: &'a str,
    /// The id of the message before it. One that is not in the tree begins a conversation.
    pub before: Option<&'a str>,
}

/// One way through the tree, from a first message to a last one.
#[derive(Debug, PartialEq, Eq)]
pub struct Path {
    /// The positions of its nodes, in order.
    pub nodes: Vec<usize>,
    /// How many of them are also in the conversation that it left; 0 for a conversation of its own.
    pub shared: usize,
    /// The position among the paths of the conversation that it left.
    pub left: Option<usize>,
}

/// Returns every way through the tree. The first is the one to `current`, by default the last node; it is followed by the
/// others in the order of their last nodes. A way that begins with the same nodes as an earlier one left it.
pub fn paths(nodes: &[Node<'_>], current: Option<&str>) -> Vec<Path> {
    let at: HashMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
    let before: Vec<Option<usize>> = nodes
        .iter()
        .map(|node| at.get(node.before?).copied())
        .enumerate()
        .map(|(at, it)| it.filter(|it| *it != at))
        .collect();
    let mut is_leaf = vec![true; nodes.len()];
    before.iter().flatten().for_each(|at| is_leaf[*at] = false);
    let mut leaves: Vec<usize> = (0..nodes.len()).filter(|at| is_leaf[*at]).collect();
    let current = current.and_then(|id| at.get(id).copied()).or(leaves.last().copied());
    if let Some(current) = current {
        leaves.retain(|leaf| *leaf != current);
        leaves.insert(0, current);
    }
    // For each node, the first path that it is in.
    let mut owner: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut found = Vec::new();
    for leaf in leaves {
        let nodes = way(leaf, &before);
        let shared = nodes.iter().take_while(|at| owner[**at].is_some()).count();
        let left = nodes[..shared].last().and_then(|at| owner[*at]);
        nodes[shared..].iter().for_each(|at| owner[*at] = Some(found.len()));
        found.push(Path { nodes, shared, left });
    }
    found
}

/// The nodes from the first one to `last`. Ends where a damaged file goes in a circle.
fn way(last: usize, before: &[Option<usize>]) -> Vec<usize> {
    let mut nodes = vec![last];
    let mut at = last;
    while let Some(earlier) = before[at].filter(|_| nodes.len() < before.len()) {
        nodes.push(earlier);
        at = earlier;
    }
    nodes.reverse();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(nodes: &[(&str, &str)], current: Option<&str>) -> Vec<(String, usize, Option<usize>)> {
        let nodes: Vec<Node<'_>> = nodes
            .iter()
            .map(|(id, before)| Node { id, before: Some(before).filter(|it| !it.is_empty()).copied() })
            .collect();
        let named = |path: &Path| path.nodes.iter().map(|at| nodes[*at].id).collect();
        paths(&nodes, current).iter().map(|path| (named(path), path.shared, path.left)).collect()
    }

    #[test]
    fn a_branch_says_what_it_left_and_where() {
        let tree = [("a", ""), ("b", "a"), ("c", "b"), ("d", "b"), ("e", "d"), ("f", "d")];
        let all = [("abdf".to_owned(), 0, None), ("abc".into(), 2, Some(0)), ("abde".into(), 3, Some(0))];
        assert_eq!(found(&tree, None), all);
        let first = &found(&tree, Some("c"));
        assert_eq!(first[0], ("abc".to_owned(), 0, None));
        assert_eq!(first[2], ("abdf".to_owned(), 3, Some(1)), "it left a branch");
    }

    #[test]
    fn what_is_not_connected_is_a_conversation_of_its_own() {
        let tree = [("a", "gone"), ("b", "a"), ("x", "")];
        assert_eq!(found(&tree, Some("b")), [("ab".to_owned(), 0, None), ("x".into(), 0, None)]);
        assert_eq!(found(&[], None), []);
    }

    #[test]
    fn a_circle_ends() {
        assert_eq!(found(&[("a", "b"), ("b", "a")], None), []);
        assert_eq!(found(&[("a", "b"), ("b", "a"), ("c", "b")], None).len(), 1);
        assert_eq!(found(&[("a", "a")], None), [("a".to_owned(), 0, None)]);
    }
}
