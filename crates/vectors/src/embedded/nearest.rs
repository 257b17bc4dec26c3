//! The nearest few of many, without sorting the many.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Where a record stands, and how far away it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Near {
    pub(crate) distance: f32,
    pub(crate) position: usize,
}

/// The nearest `count`, nearest first. Of two that are equally far, the one that was stored first comes first, as in
/// ChromaDB.
pub(crate) fn nearest(candidates: impl Iterator<Item = Near>, count: usize) -> Vec<Near> {
    // The farthest of those kept is on top.
    let mut kept: BinaryHeap<Near> = BinaryHeap::new();
    for candidate in candidates {
        if kept.len() < count {
            kept.push(candidate);
        } else if let Some(mut farthest) = kept.peek_mut()
            && candidate < *farthest
        {
            *farthest = candidate;
        }
    }
    kept.into_sorted_vec()
}

impl Eq for Near {}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance
            .total_cmp(&other.distance)
            .then(self.position.cmp(&other.position))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(distances: &[f32], count: usize) -> Vec<usize> {
        let candidates = distances.iter().enumerate();
        let candidates = candidates.map(|(position, distance)| Near {
            distance: *distance,
            position,
        });
        let found = nearest(candidates, count);
        found.into_iter().map(|near| near.position).collect()
    }

    #[test]
    fn nearest_first_and_of_equals_the_older_one() {
        let distances = [0.5, 0.1, 0.9, 0.1, 0.5, 0.1];
        assert_eq!(positions(&distances, 2), [1, 3]);
        assert_eq!(positions(&distances, 4), [1, 3, 5, 0]);
        assert_eq!(positions(&distances, 9), [1, 3, 5, 0, 4, 2]);
        assert_eq!(positions(&[], 3), [0; 0]);
        assert_eq!(positions(&[f32::NAN, f32::INFINITY, 1.0], 2), [2, 1]);
    }
}
