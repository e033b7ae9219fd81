//! What is stored of what was said in one conversation, in the order said.

use super::{
    given_ids::Ids, order::Order, summary::Told, survey::Findings, units::Units, window::WindowMeasures,
};
use crate::domain::{Head, Policy, Ranges, Revision, Sequence, Utterance};

/// The utterances of a conversation, as far as they were seen.
pub(super) struct Said<'h> {
    head: &'h Head,
    told: &'h Told,
    /// The ids that clients gave.
    pub(super) ids: Ids,
    seen: Ranges,
    in_window: u64,
    units: Units,
    order: Order,
    window: WindowMeasures,
}

impl<'h> Said<'h> {
    pub(super) fn of(head: &'h Head, told: &'h Told) -> Self {
        Self {
            head,
            told,
            ids: Ids::default(),
            seen: Ranges::new(),
            in_window: 0,
            units: Units::default(),
            order: Order::default(),
            window: WindowMeasures::default(),
        }
    }

    /// The next utterance that is stored; `None` when it cannot be read.
    pub(super) fn add(
        &mut self,
        sequence: Sequence,
        utterance: Option<&Utterance>,
        findings: &mut Findings<'_, '_>,
    ) {
        if let Some(id) = utterance.and_then(Utterance::given_id) {
            self.ids.add(id, sequence);
        }
        let archived = self.head.archived.contains(sequence);
        match place(sequence, self.head) {
            Ok(()) => self.placed(sequence, utterance, archived, findings),
            Err(wrong) => findings.add(wrong),
        }
    }

    fn placed(
        &mut self,
        sequence: Sequence,
        utterance: Option<&Utterance>,
        archived: bool,
        findings: &mut Findings<'_, '_>,
    ) {
        let one_is_missing = self.misses_before(sequence);
        self.seen.add(sequence);
        self.in_window += u64::from(!archived);
        let Some(utterance) = utterance else {
            self.units.pass(sequence);
            self.order.pass(sequence);
            self.window.pass();
            return;
        };
        if one_is_missing {
            self.units.pass(Sequence(sequence.0 - 1));
        }
        findings.check(self.units.add(utterance, archived));
        findings.check(self.order.add(utterance, archived));
        if !archived {
            self.window.add(utterance);
        }
        if !utterance.is_live() && self.told.sentences.contains(sequence) {
            findings.add(format_args!("a segment tells of utterance {sequence}, which is forgotten"));
        }
    }

    /// Whether the utterance before `sequence` should have been there.
    fn misses_before(&self, sequence: Sequence) -> bool {
        let before = Sequence(sequence.0 - 1);
        before >= Sequence::FIRST && !self.seen.contains(before) && self.belongs(before)
    }

    /// Whether an utterance is stored for certain: an archived one is, and so is one that neither
    /// left the window nor can have been erased.
    fn belongs(&self, sequence: Sequence) -> bool {
        let never_erased = self.head.erased_at == Revision::NONE;
        self.head.archived.contains(sequence) || never_erased && !self.head.left.contains(sequence)
    }

    /// All that is counted is there, and the head tells of the newest.
    pub(super) fn check(&self, policy: Option<&Policy>, findings: &mut Findings<'_, '_>) {
        self.check_counts(findings);
        let newest = Sequence(self.head.next.0 - 1);
        if self.seen.contains(newest) || newest < Sequence::FIRST || !self.belongs(newest) {
            findings.check(self.units.check(self.head));
            findings.check(self.order.check(self.head));
        }
        // An undone compaction leaves the window above its limits until something is said.
        if let Some(policy) = policy.filter(|_| self.head.compacted_at != self.head.next) {
            findings.check(self.window.check(policy));
        }
    }

    fn check_counts(&self, findings: &mut Findings<'_, '_>) {
        let mut missing = (*self.head.archived).clone();
        missing.subtract(&self.seen);
        let mut there = self.in_window + self.head.archived.count();
        if self.head.erased_at == Revision::NONE {
            let mut lost = Ranges::of(Sequence::FIRST, self.head.next);
            lost.remove(self.head.next, self.head.next);
            lost.subtract(&self.head.left);
            lost.subtract(&self.seen);
            there += lost.count();
            missing.union(&lost);
        }
        if !missing.is_empty() {
            findings.add(format_args!("utterances are missing: {missing}"));
        }
        if self.head.stored != there {
            let stored = self.head.stored;
            findings.add(format_args!("its head counts {stored} utterances, and {there} are there"));
        }
    }
}

/// Whether there may be an utterance with `sequence`.
fn place(sequence: Sequence, head: &Head) -> Result<(), String> {
    if sequence >= head.next {
        return Err(format!("utterance {sequence} is stored, and the next one to be said is {}", head.next));
    }
    if head.left.contains(sequence) && !head.archived.contains(sequence) {
        return Err(format!("utterance {sequence} is stored, and it is neither in the window nor archived"));
    }
    Ok(())
}
