//! How authorization servers know us where we registered there: kept for as long as somebody is signed in that way.

use super::Tokens;
use oauth::Registered;
use store::Write;
use store::server_tokens::ServerClientRow;
use uuid::Uuid;

impl Tokens {
    /// Us at an issuer, for this address to come back to.
    pub(in crate::sign_in) fn registered(
        &self,
        server: &str,
        issuer: &str,
        redirect: &str,
    ) -> Option<Registered> {
        let row = self.client(server, issuer, redirect)?;
        self.opened(row.secret_id, Registered::from_secret)
    }

    fn client(&self, server: &str, issuer: &str, redirect: &str) -> Option<ServerClientRow> {
        let known = self.known();
        let mut all = known.clients.iter();
        all.find(|it| it.server == server && it.issuer == issuer && it.redirect_uri == redirect)
            .cloned()
    }

    /// The row of a registration: a new one takes the place of the old one, and its sealed text that of the old one.
    pub(super) fn client_row(&self, server: &str, issuer: &str, redirect: &str) -> ServerClientRow {
        let old = self.client(server, issuer, redirect);
        ServerClientRow {
            server: server.to_owned(),
            issuer: issuer.to_owned(),
            redirect_uri: redirect.to_owned(),
            secret_id: old.map_or_else(Uuid::new_v4, |old| old.secret_id),
            created_at: self.clock.now(),
        }
    }

    pub(super) fn put_client(&self, row: Option<ServerClientRow>) {
        let mut known = self.known();
        if let Some(row) = row {
            known.clients.retain(|it| it.secret_id != row.secret_id);
            known.clients.push(row);
        }
    }

    /// The authorization server does not know this registration any more: the next sign-in makes another.
    pub(in crate::sign_in) async fn drop_client(&self, server: &str, issuer: &str, redirect: &str) {
        let _one_at_a_time = self.vault.changes.lock().await;
        let Some(row) = self.client(server, issuer, redirect) else {
            return;
        };
        match self.store.write(&gone(&[row.secret_id])).await {
            Ok(_) => {
                self.vault.remove(&[row.secret_id]);
                let mut known = self.known();
                known.clients.retain(|it| it.secret_id != row.secret_id);
            }
            Err(error) => {
                tracing::warn!(server, %error, "a registration that is of no use any more could not be removed");
            }
        }
    }

    /// The writes that take away how we are registered for a server.
    pub(super) fn clients_gone(&self, server: &str) -> Vec<Write> {
        gone(&self.clients_of(server))
    }

    pub(super) fn forget_clients(&self, server: &str) {
        self.vault.remove(&self.clients_of(server));
        self.known().clients.retain(|it| it.server != server);
    }

    fn clients_of(&self, server: &str) -> Vec<Uuid> {
        let known = self.known();
        let own = known.clients.iter().filter(|it| it.server == server);
        own.map(|it| it.secret_id).collect()
    }
}

fn gone(clients: &[Uuid]) -> Vec<Write> {
    let rows = clients.iter().map(|id| Write::NoServerClient(*id));
    rows.chain([Write::NoSecrets(clients.to_vec())]).collect()
}
