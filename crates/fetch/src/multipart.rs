//! `multipart/form-data`: fields and files in one body.

use crate::request::Piece;
use bytes::Bytes;

/// The body, and the content type that names its boundary.
pub(crate) fn write(pieces: &[Piece]) -> (String, Bytes) {
    // No file can hold what was drawn only now.
    let mut random = [0; 16];
    if getrandom::fill(&mut random).is_err() {
        random = *b"no-random-bytes!";
    }
    let drawn: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let boundary = format!("toolcrib-{drawn}");
    let mut body = Vec::new();
    for piece in pieces {
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
            quoted(&piece.name)
        );
        if let Some(file_name) = &piece.file_name {
            head.push_str(&format!("; filename=\"{}\"", quoted(file_name)));
        }
        if let Some(content_type) = &piece.content_type {
            head.push_str(&format!("\r\nContent-Type: {}", one_line(content_type)));
        }
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(&piece.bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (
        format!("multipart/form-data; boundary={boundary}"),
        body.into(),
    )
}

/// As browsers write names: what would end the name or the line is encoded.
fn quoted(text: &str) -> String {
    text.replace('\r', "%0D")
        .replace('\n', "%0A")
        .replace('"', "%22")
}

fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stay_inside_their_boundaries() {
        let field = |name: &str, bytes: &'static [u8]| Piece {
            name: name.to_owned(),
            file_name: None,
            content_type: None,
            bytes: Bytes::from_static(bytes),
        };
        let file = Piece {
            file_name: Some("a\r\nb\".txt".to_owned()),
            content_type: Some("text/plain\r\nX: y".to_owned()),
            ..field("f", b"\x00\r\n--")
        };
        let (content_type, body) = write(&[field("a\"b", b"1"), file]);
        let boundary = content_type
            .strip_prefix("multipart/form-data; boundary=")
            .unwrap();
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"a%22b\"\r\n\r\n1\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a%0D%0Ab%22.txt\"\r\n\
             Content-Type: text/plain  X: y\r\n\r\n\0\r\n--\r\n--{boundary}--\r\n"
        );
        assert_eq!(body, expected.as_bytes());
        assert_ne!(write(&[]).0, write(&[]).0);
    }
}
