//! A process that stores and stores, and is killed without warning: what it said it had stored is there.

use crate::soon;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use vectors::embedded::Limits;
use vectors::{Embedded, Get, Metadata, Record, Space};

const FOLDER: &str = "VECTORS_TEST_KILLED";
const KILLS: usize = 15;
const BATCH: usize = 40;

/// The other process is this test again; without its folder it has nothing to do.
#[test]
fn storing_until_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Embedded::open(folder, Limits::default()).unwrap();
        store.create("columns", Space::L2, soon()).await.unwrap();
        loop {
            let stored = store.count("columns", soon()).await.unwrap();
            let records = (stored..stored + BATCH).map(|index| Record {
                id: format!("r{index}"),
                embedding: vec![index as f32; 256],
                document: Some(format!("document {index}")),
                metadata: Metadata::new(),
            });
            store
                .upsert("columns", records.collect(), soon())
                .await
                .unwrap();
            println!("stored {}", stored + BATCH);
        }
    });
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::storing_until_killed", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut stored = lines.map_while(Result::ok).filter_map(|line| {
            let (_, count) = line.split_once("stored ")?;
            count.parse::<usize>().ok()
        });
        // At another moment of the next change each time.
        for _ in 0..=kill % 3 {
            acknowledged = stored.next().expect("it stores until it is killed");
        }
        std::thread::yield_now();
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged = stored.last().unwrap_or(acknowledged);
        whole(folder.path(), acknowledged).await;
    }
    assert!(acknowledged >= KILLS * BATCH);
}

/// Whole batches, at least those that were acknowledged and at most one more, each record as it was stored.
async fn whole(folder: &std::path::Path, acknowledged: usize) {
    let store = Embedded::open(folder, Limits::default()).unwrap();
    let mut get = Get::default();
    get.include.embeddings = true;
    let found = store.get("columns", get, soon()).await.unwrap();
    assert!(found.len() == acknowledged || found.len() == acknowledged + BATCH);
    for (index, found) in found.iter().enumerate() {
        assert_eq!(found.id, format!("r{index}"));
        assert_eq!(
            found.embedding.as_deref(),
            Some(&vec![index as f32; 256][..])
        );
    }
    assert_eq!(
        std::fs::read_dir(folder).unwrap().count(),
        1,
        "nothing is left lying about"
    );
}
