//! A pooler as PgBouncer is with `pool_mode = transaction`: everybody who connects speaks in the same session of the server, one
//! statement at a time.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

struct Session {
    server: TcpStream,
    greeting: Vec<u8>,
}

/// The same database through a pooler. It goes on until the test ends.
pub(crate) fn in_front_of(url: &str) -> String {
    let rest = url.split_once('@').map_or("", |(_, rest)| rest);
    let (address, database) = rest.split_once('/').expect("the URL names a database");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has one").port();
    let session: Arc<Mutex<Option<Session>>> = Arc::default();
    let address = address.to_owned();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (session, address) = (Arc::clone(&session), address.clone());
            std::thread::spawn(move || speak(client, &session, &address));
        }
    });
    format!(
        "postgres://postgres@127.0.0.1:{port}/{database}?sslmode=disable&statement-cache-capacity=0"
    )
}

fn speak(mut client: TcpStream, session: &Mutex<Option<Session>>, address: &str) -> Option<()> {
    let hello = message(&mut client, false)?;
    {
        let mut session = session.lock().ok()?;
        if session.is_none() {
            let mut server = TcpStream::connect(address).ok()?;
            server.write_all(&hello).ok()?;
            let greeting = answer(&mut server)?;
            *session = Some(Session { server, greeting });
        }
        client.write_all(&session.as_ref()?.greeting).ok()?;
    }
    loop {
        // Up to Sync or a simple query is one turn of the client's.
        let mut said = Vec::new();
        loop {
            let next = message(&mut client, true)?;
            let letter = next[0];
            said.extend(next);
            match letter {
                b'X' => return None,
                b'S' | b'Q' => break,
                _ => {}
            }
        }
        let mut session = session.lock().ok()?;
        let server = &mut session.as_mut()?.server;
        server.write_all(&said).ok()?;
        let said = answer(server)?;
        drop(session);
        client.write_all(&said).ok()?;
    }
}

/// What the server says until it is ready for the next one.
fn answer(server: &mut TcpStream) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let next = message(server, true)?;
        let is_ready = next[0] == b'Z';
        all.extend(next);
        if is_ready {
            return Some(all);
        }
    }
}

/// One message of the protocol; the first one of a client has no letter in front.
fn message(from: &mut TcpStream, has_letter: bool) -> Option<Vec<u8>> {
    let head = if has_letter { 5 } else { 4 };
    let mut bytes = vec![0; head];
    from.read_exact(&mut bytes).ok()?;
    let length = u32::from_be_bytes(bytes[head - 4..].try_into().ok()?);
    bytes.resize(head + usize::try_from(length).ok()? - 4, 0);
    from.read_exact(&mut bytes[head..]).ok()?;
    Some(bytes)
}
