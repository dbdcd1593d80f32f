//! How a provider is reached.

use super::retry::RetryPolicy;
use crate::http_client;
use std::time::Duration;

/// The longest silence where nobody says otherwise.
const USUAL_MAX_SILENCE: Duration = Duration::from_secs(300);

/// Where a provider is and how patient to be with it.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The address before `/v1`, without a slash at its end.
    pub base_url: String,
    /// The time to connect.
    pub connect_timeout: Duration,
    /// The longest silence within a streamed answer, and before it starts; what is silent longer is tried again.
    pub idle_timeout: Duration,
    /// The longest silence of one call over all of its tries, waits between them included; then the call fails.
    pub max_silence: Duration,
    /// The time for one try, from the request to the end of the answer.
    pub total_timeout: Duration,
    /// When to try again.
    pub retry: RetryPolicy,
    /// Whether requests go through a proxy.
    pub proxy: ProxyChoice,
    /// Headers that every request has besides the API's own, such as beta features.
    pub headers: Vec<(String, String)>,
    /// Answers larger than this are refused.
    pub max_answer_bytes: usize,
}

/// Whether requests go through a proxy. Those to this machine never do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProxyChoice {
    /// As `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say.
    #[default]
    Environment,
    /// Never.
    Direct,
    /// Through this one, even to this machine.
    Url(String),
}

impl Connection {
    /// The usual patience with the provider at an address, which may be written with `/v1` at its end as other clients
    /// want it.
    pub fn to(base_url: &str) -> Self {
        Self {
            base_url: base_url.trim_end_matches('/').trim_end_matches("/v1").trim_end_matches('/').to_owned(),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: USUAL_MAX_SILENCE / 2,
            max_silence: USUAL_MAX_SILENCE,
            total_timeout: Duration::from_secs(900),
            retry: RetryPolicy::default(),
            proxy: ProxyChoice::default(),
            headers: Vec::new(),
            max_answer_bytes: 64 << 20,
        }
    }

    /// Whether anybody on the way can read the key and all that is said: plain HTTP to another machine.
    ///
    /// ```
    /// use louver_agent::provider::Connection;
    ///
    /// assert!(Connection::to("http://gateway.example").is_readable_on_the_way());
    /// assert!(!Connection::to("http://127.0.0.1:8080").is_readable_on_the_way());
    /// ```
    #[must_use]
    pub fn is_readable_on_the_way(&self) -> bool {
        http_client::is_readable_on_the_way(&self.base_url)
    }

    /// The same with another patience: a provider that says nothing has failed after this time. Half of it is for a second
    /// try, because a connection can be dead where the provider is not.
    ///
    /// ```
    /// use louver_agent::provider::Connection;
    /// use std::time::Duration;
    ///
    /// let connection = Connection::to("https://gateway.example/v1").with_max_silence(Duration::from_secs(60));
    /// assert_eq!((connection.max_silence.as_secs(), connection.idle_timeout.as_secs()), (60, 30));
    /// ```
    #[must_use]
    pub fn with_max_silence(self, max_silence: Duration) -> Self {
        Self { max_silence, idle_timeout: max_silence / 2, ..self }
    }
}
