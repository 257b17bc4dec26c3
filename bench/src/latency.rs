//! Latencies of one run and their percentiles, kept exactly: 4 bytes a request, so a bounded run stays small.

use std::time::Duration;

/// Latencies in steps of 100 ns; a value past 429 s is kept as 429 s.
#[derive(Default)]
pub(crate) struct Latencies {
    steps: Vec<u32>,
}

impl Latencies {
    pub(crate) fn add(&mut self, took: Duration) {
        let steps = took.as_nanos() / 100;
        self.steps.push(u32::try_from(steps).unwrap_or(u32::MAX));
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Values in microseconds at each of `ranks` (0.5 = median, 1.0 = the largest), nearest-rank; `None` when nothing was measured.
    pub(crate) fn percentiles_us<const N: usize>(&mut self, ranks: [f64; N]) -> Option<[f64; N]> {
        if self.steps.is_empty() {
            return None;
        }
        self.steps.sort_unstable();
        let count = self.steps.len();
        Some(ranks.map(|rank| {
            let place = (rank * count as f64).ceil() as usize;
            f64::from(self.steps[place.clamp(1, count) - 1]) / 10.0
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_us(values: impl IntoIterator<Item = u64>) -> Latencies {
        let mut all = Latencies::default();
        for value in values {
            all.add(Duration::from_micros(value));
        }
        all
    }

    #[test]
    fn nearest_rank_of_a_hundred_values_in_any_order() {
        let mut all = of_us((1..=100).rev());
        let at = all.percentiles_us([0.5, 0.95, 0.99, 1.0]).unwrap();
        assert_eq!(at, [50.0, 95.0, 99.0, 100.0]);
        assert_eq!(
            of_us([1, 2, 3]).percentiles_us([0.5, 0.7]),
            Some([2.0, 3.0])
        );
    }

    #[test]
    fn one_value_is_every_percentile_and_none_is_none() {
        assert_eq!(of_us([7]).percentiles_us([0.0, 0.5, 1.0]), Some([7.0; 3]));
        assert_eq!(Latencies::default().percentiles_us([0.5]), None);
    }

    #[test]
    fn a_single_slow_answer_in_a_hundred_shows_only_past_p99() {
        let mut all = of_us(std::iter::repeat_n(10, 99).chain([5_000]));
        assert_eq!(all.percentiles_us([0.99, 1.0]), Some([10.0, 5_000.0]));
    }

    #[test]
    fn huge_values_are_capped() {
        let mut all = of_us([1, 3, 2]);
        all.add(Duration::from_secs(100_000));
        assert_eq!(all.len(), 4);
        let at = all.percentiles_us([0.5, 1.0]).unwrap();
        assert_eq!(at, [2.0, f64::from(u32::MAX) / 10.0]);
    }
}
