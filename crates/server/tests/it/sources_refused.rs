//! Sources that can never work are refused when they are added, and those that turn out to be ours when they are used.

use crate::sources::tested;
use crate::testapp::{TestApp, on_both, postgres_url};
use serde_json::json;

const PATH: &str = "/api/v1/sources";

#[tokio::test]
async fn our_own_files_are_no_sources() {
    on_both(async |app: &TestApp| {
        let data = app.folder.path().join(".toolcrib");
        std::fs::write(data.join("other.db"), "x").unwrap();
        std::os::unix::fs::symlink(data.join("other.db"), app.folder.path().join("link.db")).unwrap();
        let mut paths = vec![".toolcrib/other.db", "link.db", ".toolcrib/../.toolcrib/other.db"];
        if !app.is_postgres() {
            std::fs::hard_link(data.join("registry.db"), app.folder.path().join("hard.db")).unwrap();
            paths.extend([".toolcrib/registry.db", "hard.db"]);
        }
        for (number, path) in paths.iter().enumerate() {
            let name = format!("own{number}");
            let own = json!({"name": name, "kind": "sqlite", "path": path});
            let refused = app.post(PATH, own).await;
            assert_eq!(refused.status, 422, "{path}: {}", refused.body);
            assert!(refused.message().contains("our own"), "{path}: {}", refused.body);
            // It may become ours later, by a name that was free.
            let later = format!("later{number}.db");
            let made = app.post(PATH, json!({"name": name, "kind": "sqlite", "path": later})).await;
            assert_eq!(made.status, 201, "{}", made.body);
            std::os::unix::fs::symlink(app.folder.path().join(path), app.folder.path().join(later)).unwrap();
            let found = tested(app, &name).await;
            assert!(found["problem"].as_str().unwrap().contains("our own"), "{path}: {found}");
            let schema = app.get(&format!("{PATH}/{name}/schema")).await;
            assert_eq!(schema.status, 409, "{path}: {}", schema.body);
        }
        if let store::Db::Postgres(pool, ..) = &app.server.app.store {
            let url = postgres_url().unwrap();
            let database = pool.connect_options().get_database().unwrap().to_owned();
            let url = format!("{}/{database}", url.rsplit_once('/').unwrap().0);
            let body = json!({"name": "registry", "kind": "postgres", "url": url, "allow_superuser": true});
            let refused = app.post(PATH, body).await;
            assert_eq!(refused.status, 422, "{}", refused.body);
            assert!(refused.message().contains("our own registry"), "{}", refused.body);
        }
        let odd = json!({"name": "odd", "kind": "postgres", "url": "postgres://u@h/db?sslmode=maybe"});
        let refused = app.post(PATH, odd).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.message().contains("sslmode is `maybe`; expected"), "{}", refused.body);
    })
    .await;
}
