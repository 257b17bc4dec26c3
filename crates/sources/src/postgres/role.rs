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
         -- grant again what others need.\n\
         REVOKE TEMPORARY, CREATE ON DATABASE {database} FROM PUBLIC;\n\
         GRANT CONNECT ON DATABASE {database} TO {role};\n"
    );
    for schema in schemas {
        let schema = quote(schema);
        script.push_str(&format!(
            "REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC;\n\
             REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC;\n\
             GRANT USAGE ON SCHEMA {schema} TO {role};\n\
             GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role};\n\
             ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role};\n"
        ));
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        let script = role_script("r\"; DROP", "db", &["public".to_owned(), "A b".to_owned()]);
        assert!(script.contains("CREATE ROLE \"r\"\"; DROP\" LOGIN NOSUPERUSER"));
        assert!(script.contains("GRANT USAGE ON SCHEMA \"A b\" TO"));
        // Nothing that somebody chose stands where a new line would end it.
        let broken = role_script("x\nDROP TABLE t; --", "db", &[]);
        let comments = broken.lines().filter(|line| line.starts_with("--"));
        assert!(
            comments.into_iter().all(|line| !line.contains('x')),
            "{broken}"
        );
    }
}
