//! The cache of one conversation under one policy.

use super::{CacheRules, Settled};
use louver::catalog::CacheKind;
use louver::tokens::Millitokens;
use std::collections::HashMap;

/// One message of a request: which bytes it is, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Equal for equal bytes, and only for those.
    pub content: u32,
    /// What it costs.
    pub amount: Millitokens,
}

/// Before every request.
const NEVER: i64 = i64::MIN;

/// What is left of a cache that has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// System and tools: other conversations with the same ones keep them warm.
    Static,
}

/// A point in some request: everything up to and with one message.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// What everything up to here costs, system and tools included.
    amount: Millitokens,
    /// How long what leads here stays known, since the last request that went through.
    passed_until: i64,
    /// The same for the entry that ends here, if one does.
    entry_until: Option<i64>,
}

/// Every prefix that was ever sent, as a tree, with the time of its last use.
///
/// [`settle`](Self::settle) is O(the request's messages).
#[derive(Debug)]
pub struct Book {
    rules: CacheRules,
    nodes: Vec<Node>,
    children: HashMap<(u32, u32), u32>,
}

impl Book {
    /// An empty cache. `overhead` is what system and tools cost in every request.
    pub fn new(rules: CacheRules, overhead: Millitokens) -> Self {
        let root = Node { amount: overhead, passed_until: NEVER, entry_until: None };
        Self { rules, nodes: vec![root], children: HashMap::new() }
    }

    /// Forgets everything but what is left, as after a long pause.
    pub fn turn_cold(&mut self, left: Left, now: i64) {
        self.nodes.truncate(1);
        self.children.clear();
        let until = now.saturating_add(self.rules.ttl_millis);
        let (passed_until, entry_until) = match left {
            Left::Nothing => (NEVER, None),
            Left::Static => (until, Some(until)),
        };
        self.nodes[0] = Node { passed_until, entry_until, ..self.nodes[0] };
    }

    /// Forgets every prefix of more than so much: what stood behind it has been changed. System and tools are warm if
    /// they are less, even where no request was seen yet.
    pub fn reach(&mut self, amount: Millitokens, now: i64) {
        for node in self.nodes.iter_mut().filter(|node| node.amount > amount) {
            (node.passed_until, node.entry_until) = (NEVER, None);
        }
        if self.nodes[0].amount <= amount {
            let until = now.saturating_add(self.rules.ttl_millis);
            self.nodes[0] = Node { passed_until: until, entry_until: Some(until), ..self.nodes[0] };
        }
    }

    /// What is used from now on lives so long.
    pub fn set_life(&mut self, ttl_millis: i64) {
        self.rules.ttl_millis = ttl_millis;
    }

    /// Bills a request and remembers it. Its first `leading_system` pieces belong to the static part.
    pub fn settle(&mut self, pieces: &[Piece], leading_system: usize, now: i64) -> Settled {
        let path = self.walk(pieces);
        let total = self.nodes[path[path.len() - 1] as usize].amount;
        let known = self.known(&path, now);
        let settled = self.rules.settle(total, known.map_or(Millitokens::ZERO, |at| self.amount_at(&path, at)));
        self.remember(&path, known, leading_system, now);
        settled
    }

    /// The nodes of a request, those made that are new; a new one has no use yet.
    fn walk(&mut self, pieces: &[Piece]) -> Vec<u32> {
        let mut path = Vec::with_capacity(pieces.len() + 1);
        let mut at = 0;
        path.push(at);
        for piece in pieces {
            let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
            let amount = self.nodes[at as usize].amount + piece.amount;
            let (nodes, children) = (&mut self.nodes, &mut self.children);
            at = *children.entry((at, piece.content)).or_insert_with(|| {
                nodes.push(Node { amount, passed_until: NEVER, entry_until: None });
                next
            });
            path.push(at);
        }
        path
    }

    fn amount_at(&self, path: &[u32], at: usize) -> Millitokens {
        self.nodes[path[at] as usize].amount
    }

    /// How far into the request the cache reaches, as a position of its path.
    fn known(&self, path: &[u32], now: i64) -> Option<usize> {
        let node = |at: &u32| self.nodes[*at as usize];
        match self.rules.kind {
            CacheKind::Explicit => path.iter().rposition(|at| node(at).entry_until.is_some_and(|until| now < until)),
            // Whoever goes through a node goes through the nodes before it, so warmth only ends once.
            CacheKind::Automatic => path.iter().rposition(|at| now < node(at).passed_until),
        }
    }

    /// The client marks the static part, what it read, and the end.
    fn remember(&mut self, path: &[u32], known: Option<usize>, leading_system: usize, now: i64) {
        let until = now.saturating_add(self.rules.ttl_millis);
        for at in path {
            self.nodes[*at as usize].passed_until = until;
        }
        let last = path.len() - 1;
        for marked in [Some(leading_system.min(last)), known, Some(last)].into_iter().flatten() {
            self.nodes[path[marked] as usize].entry_until = Some(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPLICIT: CacheRules =
        CacheRules { kind: CacheKind::Explicit, ttl_millis: 1000, step_tokens: 1, min_tokens: 10 };
    const AUTOMATIC: CacheRules = CacheRules { kind: CacheKind::Automatic, ..EXPLICIT };

    fn pieces(contents: &[u32]) -> Vec<Piece> {
        contents.iter().map(|content| Piece { content: *content, amount: Millitokens::from_tokens(100) }).collect()
    }

    fn reads(rules: CacheRules, requests: &[&[u32]]) -> Vec<u64> {
        let mut book = Book::new(rules, Millitokens::from_tokens(50));
        requests.iter().map(|request| book.settle(&pieces(request), 0, 0).read).collect()
    }

    #[test]
    fn an_explicit_cache_reads_whole_requests_and_the_static_part() {
        assert_eq!(reads(EXPLICIT, &[&[1, 2], &[1, 2, 3], &[1, 9], &[1, 2, 3, 4]]), [0, 250, 50, 350]);
    }

    #[test]
    fn an_automatic_cache_reads_the_longest_run_of_equal_messages() {
        assert_eq!(reads(AUTOMATIC, &[&[1, 2], &[1, 2, 3], &[1, 9], &[2]]), [0, 250, 150, 50]);
    }

    #[test]
    fn an_entry_lives_as_long_as_it_is_used() {
        for rules in [EXPLICIT, AUTOMATIC] {
            let mut book = Book::new(rules, Millitokens::ZERO);
            let mut read = |length: u32, now| book.settle(&pieces(&(0..length).collect::<Vec<_>>()), 0, now).read;
            assert_eq!((read(1, 0), read(2, 999), read(3, 1998), read(4, 2998)), (0, 100, 200, 0));
        }
    }

    #[test]
    fn a_cold_turn_reads_nothing() {
        let mut book = Book::new(AUTOMATIC, Millitokens::from_tokens(50));
        book.settle(&pieces(&[1]), 0, 0);
        book.turn_cold(Left::Nothing, 0);
        assert_eq!(book.settle(&pieces(&[1, 2]), 0, 0).read, 0);
        assert_eq!(book.settle(&pieces(&[1, 2]), 0, 0).read, 250);
    }

    #[test]
    fn others_may_keep_the_static_part_warm() {
        for rules in [EXPLICIT, AUTOMATIC] {
            let mut book = Book::new(rules, Millitokens::from_tokens(50));
            book.turn_cold(Left::Static, 0);
            assert_eq!(book.settle(&pieces(&[1]), 0, 0).read, 50);
        }
    }

    #[test]
    fn a_change_far_back_leaves_what_stands_before_it() {
        for rules in [EXPLICIT, AUTOMATIC] {
            let mut book = Book::new(rules, Millitokens::from_tokens(50));
            book.settle(&pieces(&[1]), 0, 0);
            book.settle(&pieces(&[1, 2, 3]), 0, 0);
            book.reach(Millitokens::from_tokens(200), 0);
            assert_eq!(book.settle(&pieces(&[1, 2, 3, 4]), 0, 0).read, 150);
            let mut empty = Book::new(rules, Millitokens::from_tokens(50));
            empty.reach(Millitokens::from_tokens(200), 0);
            assert_eq!(empty.settle(&pieces(&[1, 2]), 0, 0).read, 50);
        }
    }

    #[test]
    fn an_entry_lives_as_long_as_was_paid_for_when_it_was_used() {
        for rules in [EXPLICIT, AUTOMATIC] {
            let mut book = Book::new(rules, Millitokens::ZERO);
            book.set_life(5_000);
            book.settle(&pieces(&[1]), 0, 0);
            book.set_life(1_000);
            assert_eq!(book.settle(&pieces(&[1, 2]), 0, 4_999).read, 100);
            assert_eq!(book.settle(&pieces(&[1, 2, 3]), 0, 6_000).read, 0);
        }
    }
}
