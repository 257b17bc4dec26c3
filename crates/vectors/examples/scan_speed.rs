//! How fast our store searches: `cargo run --release -p vectors --example scan_speed [VECTORS] [DIMENSION]`.

use std::time::{Duration, Instant};
use vectors::embedded::Limits;
use vectors::{Embedded, Metadata, Query, Record, Space};

const SEARCHES: usize = 300;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "its output is its purpose")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |usual: usize| {
        let given = arguments.next().and_then(|text| text.parse().ok());
        given.unwrap_or(usual)
    };
    let (count, dimension) = (number(5_000), number(1_024));
    let deadline = Instant::now() + Duration::from_secs(600);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Embedded::open(folder.path(), Limits::default()).expect("the store opens");
    let mut seed = 1_u64;
    let mut vector = || -> Vec<f32> {
        let mut next = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..dimension).map(|_| next()).collect()
    };
    let records: Vec<Record> = (0..count)
        .map(|index| Record {
            id: format!("r{index}"),
            embedding: vector(),
            document: Some(format!("document {index}")),
            metadata: Metadata::new(),
        })
        .collect();
    for space in [Space::Cosine, Space::L2, Space::Ip] {
        let name = format!("speed-{space}");
        let began = Instant::now();
        store
            .create(&name, space, deadline)
            .await
            .expect("a collection");
        store
            .upsert(&name, records.clone(), deadline)
            .await
            .expect("stored");
        let stored = began.elapsed();
        let mut times = Vec::with_capacity(SEARCHES);
        for _ in 0..SEARCHES {
            let query = Query::new(vec![vector()], 10);
            let began = Instant::now();
            let found = store.query(&name, query, deadline).await.expect("found");
            times.push(began.elapsed());
            assert_eq!(found[0].len(), 10.min(count));
        }
        times.sort();
        println!(
            "{count} x {dimension} {space}: best {:.3} ms, p50 {:.3} ms, p99 {:.3} ms; stored in {:.0} ms",
            times[0].as_secs_f64() * 1e3,
            times[SEARCHES / 2].as_secs_f64() * 1e3,
            times[SEARCHES * 99 / 100].as_secs_f64() * 1e3,
            stored.as_secs_f64() * 1e3
        );
    }
}
