//! The script that makes a role which can do nothing but read.

use super::settings::quote;

/// SQL for an administrator to run with `psql`. The password is set by them, with `\password`, so that it stands nowhere.
pub fn role_script(role: &str, database: &str, schemas: &[String]) -> String {
    // In a comment a new line of its name would end it.
    let shown = match role.contains(char::is_control) {
        true => String::new(),
        false => format!(" {}", quote(role)),
    };
    let (role, database) = (quote(role), quote(database));
    let mut script = format!(
        "-- A role that can only read. Run this as the owner of the database, then set its password: \\password{shown}\n\
         CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 25;\n\
         ALTER ROLE {role} SET default_transaction_read_only = on;\n\
         ALTER ROLE {role} SET statement_timeout = '60s';\n\
         ALTER ROLE {role} SET idle_in_transaction_session_timeout = '60s';\n\
         -- Everybody may make temporary tables and call every function unless told otherwise. This changes it for all roles:\n\
         -- grant again what others need. Functions of extensions stay open, because their operators need them.\n\
         REVOKE TEMPORARY, CREATE ON DATABASE {database} FROM PUBLIC;\n\
         GRANT CONNECT ON DATABASE {database} TO {role};\n"
    );
    for schema in schemas {
        let revoke = revoke_functions(schema);
        let schema = quote(schema);
        script.push_str(&format!(
            "REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC;\n\
             {revoke}\
             GRANT USAGE ON SCHEMA {schema} TO {role};\n\
             GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role};\n\
             ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role};\n"
        ));
    }
    script
}

/// Takes every function of a schema from PUBLIC, except those of extensions: without them not even the owner of a table can
/// compare two values of an extension's type.
fn revoke_functions(schema: &str) -> String {
    let mut tag = "$revoke$".to_owned();
    while schema.contains(&tag) {
        tag.insert(1, '_');
    }
    let schema = literal(schema);
    format!(
        "DO {tag}\n\
         DECLARE f text;\n\
         BEGIN\n  \
           FOR f IN SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc p\n    \
             JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace\n    \
             WHERE n.nspname = {schema} AND p.prokind <> 'p' AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d\n      \
               WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')\n  \
           LOOP\n    \
             EXECUTE 'REVOKE EXECUTE ON ROUTINE ' || f || ' FROM PUBLIC';\n  \
           END LOOP;\n\
         END {tag};\n"
    )
}

fn literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    match text.contains('\\') {
        true => format!("E'{}'", doubled.replace('\\', "\\\\")),
        false => format!("'{doubled}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        let script = role_script("r\"; DROP", "db", &["public".to_owned(), "A b".to_owned()]);
        assert!(script.contains("CREATE ROLE \"r\"\"; DROP\" LOGIN NOSUPERUSER"));
        assert!(script.contains("GRANT USAGE ON SCHEMA \"A b\" TO"));
        assert!(script.contains("n.nspname = 'A b' AND"));
        // A name ends neither its string nor the block around it.
        let odd = role_script("r", "db", &["a'b\\$revoke$; DROP".to_owned()]);
        assert!(
            odd.contains("n.nspname = E'a''b\\\\$revoke$; DROP' AND"),
            "{odd}"
        );
        assert_eq!(odd.matches("$_revoke$").count(), 2, "{odd}");
        // Nothing that somebody chose stands where a new line would end it.
        let broken = role_script("qz\nDROP TABLE t; --", "db", &[]);
        let comments = broken.lines().filter(|line| line.starts_with("--"));
        assert!(
            comments.into_iter().all(|line| !line.contains("qz")),
            "{broken}"
        );
    }
}
