//! What the configuration says about OpenTelemetry.

use super::Config;
use telemetry::Settings;

impl Config {
    /// None where nothing is sent.
    pub(crate) fn telemetry(&self) -> Option<Settings> {
        let endpoint = self.text("telemetry.otlp_endpoint");
        if endpoint.is_empty() {
            return None;
        }
        let headers = self.names("telemetry.otlp_headers").into_iter();
        let headers = headers.filter_map(|header| {
            let (name, value) = header.split_once('=')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
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
