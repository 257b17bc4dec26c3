//! The crate through its public face: our store beside a real ChromaDB server, which TOOLCRIB_TEST_MCP holds as
//! scripts/mcp-programs made it, and embeddings from an endpoint on this machine.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

mod chroma;
mod chroma_server;
mod embeddings;
mod endpoint;
mod forgetting;
mod importing;
mod killed;
mod same;
mod seed;

use std::time::{Duration, Instant};

/// Nothing here takes so long, even on a slow machine.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(120)
}

fn fetcher() -> fetch::Fetcher {
    fetch::Fetcher::new(fetch::Options::default())
}

/// Numbers from -1 to 1 that look like chance and are the same every time.
struct Chance(u64);

impl Chance {
    fn number(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.number()).collect()
    }
}
