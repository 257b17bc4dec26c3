//! What the configuration says about OpenTelemetry.

use super::{Config, Origin};
use telemetry::Settings;

const OTEL_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

impl Config {
    /// None where nothing is sent.
    pub(crate) fn telemetry(&self) -> Option<Settings> {
        let endpoint = self.text("telemetry.otlp_endpoint");
        if endpoint.is_empty() {
            return None;
        }
        let headers = self.names("telemetry.otlp_headers").into_iter();
        // OpenTelemetry's own variable is written like W3C's baggage; our file says what it means.
        let origin = &self.setting("telemetry.otlp_headers").origin;
        let is_encoded = *origin == Origin::Environment(OTEL_HEADERS.to_owned());
        let headers = headers.filter_map(|header| {
            let (name, value) = header.split_once('=')?;
            let value = match is_encoded {
                true => percent_decoded(value.trim()),
                false => value.trim().to_owned(),
            };
            Some((name.trim().to_owned(), value))
        });
        Some(Settings {
            endpoint: endpoint.to_owned(),
            headers: headers.collect(),
            service_name: self.text("telemetry.service_name").to_owned(),
            ratio: self.seconds("telemetry.trace_ratio"),
            instance: uuid::Uuid::new_v4().to_string(),
        })
    }
}

/// `%20` is a space; what is no such escape stays as it is.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escape = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let is_hex = |it: &&str| it.bytes().all(|digit| digit.is_ascii_hexdigit());
        match escape
            .filter(is_hex)
            .and_then(|it| u8::from_str_radix(it, 16).ok())
        {
            Some(meant) => {
                decoded.push(meant);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{Environment, Sources};
    use super::*;

    #[test]
    fn headers_of_opentelemetrys_variable_are_percent_encoded_and_ours_are_not() {
        let value = "authorization=Bearer%20a%2Cb,x-plain=50%,x-odd=%zz%C3%A4";
        for (variable, expected) in [
            (OTEL_HEADERS, ["Bearer a,b", "50%", "%zzä"]),
            (
                "TOOLCRIB_TELEMETRY_OTLP_HEADERS",
                ["Bearer%20a%2Cb", "50%", "%zz%C3%A4"],
            ),
        ] {
            let pairs = [
                (variable, value),
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"),
            ];
            let environment = Environment::of(&pairs);
            let config = Config::load(&Sources {
                environment,
                ..Sources::default()
            })
            .unwrap();
            let headers = config.telemetry().unwrap().headers;
            let values: Vec<&str> = headers.iter().map(|(_, value)| value.as_str()).collect();
            assert_eq!(values, expected, "{variable}");
        }
    }
}
