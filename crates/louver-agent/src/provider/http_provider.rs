//! Sending, waiting, trying again: the same for every API.

use super::anthropic::MESSAGES;
use super::dialect::{Dialect, Unreadable};
use super::openai_chat::CHAT;
use super::openai_responses::RESPONSES;
use super::{Answer, Connection, Provider, ProviderError, ProxyChoice, Request, web_page};
use crate::overhead::count_overhead;
use crate::{ApiKey, Observer, RunEvent, http_client};
use louver::catalog::Catalog;
use louver::count::count_message;
use louver::sse::SseParser;
use louver::tokens::{CounterChoice, Millitokens};
use louver::{Format, Message};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};
use std::str::FromStr;
use std::time::{Duration, SystemTime};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Bytes at the start of a stream that are enough to tell what it is where it is none.
const HEAD_BYTES: usize = 4096;

/// One API at one address with one key.
#[derive(Debug)]
pub struct HttpProvider {
    dialect: &'static Dialect,
    connection: Connection,
    key: ApiKey,
    client: Client,
}

#[async_trait::async_trait]
impl Provider for HttpProvider {
    fn format(&self) -> Format {
        self.dialect.format
    }

    async fn send(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<Answer, ProviderError> {
        let body = (self.dialect.body)(request);
        self.retrying(request.observer, cancel, |patience| self.ask(&body, request.is_streamed, patience)).await
    }

    async fn count_tokens(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<u64, ProviderError> {
        let Some((path, body)) = self.dialect.counting else {
            return Ok(own_count(self.dialect.format, request));
        };
        let body = body(request);
        self.retrying(request.observer, cancel, |patience| self.count(path, &body, patience)).await
    }
}

impl HttpProvider {
    /// Where Anthropic's API is.
    pub const ANTHROPIC_URL: &'static str = "https://api.anthropic.com";
    /// Where OpenAI's API is.
    pub const OPENAI_URL: &'static str = "https://api.openai.com";

    /// Anthropic's Messages.
    ///
    /// # Errors
    ///
    /// A connection that cannot be set up.
    pub fn anthropic(connection: Connection, key: ApiKey) -> Result<Self, ProviderError> {
        Self::new(&MESSAGES, connection, key)
    }

    /// OpenAI's Chat Completions, which others speak, too.
    ///
    /// # Errors
    ///
    /// A connection that cannot be set up.
    pub fn openai_chat(connection: Connection, key: ApiKey) -> Result<Self, ProviderError> {
        Self::new(&CHAT, connection, key)
    }

    /// OpenAI's Responses, with nothing kept by the provider: the history is the client's.
    ///
    /// # Errors
    ///
    /// A connection that cannot be set up.
    pub fn openai_responses(connection: Connection, key: ApiKey) -> Result<Self, ProviderError> {
        Self::new(&RESPONSES, connection, key)
    }

    fn new(dialect: &'static Dialect, connection: Connection, key: ApiKey) -> Result<Self, ProviderError> {
        let headers = headers(dialect, &connection, &key)?;
        let builder = http_client::builder().connect_timeout(connection.connect_timeout).default_headers(headers);
        let builder = match &connection.proxy {
            ProxyChoice::Url(url) => builder.proxy(reqwest::Proxy::all(url).map_err(|error| unsendable(error, &key))?),
            ProxyChoice::Environment if !http_client::is_local(&connection.base_url) => builder,
            ProxyChoice::Environment | ProxyChoice::Direct => builder.no_proxy(),
        };
        let client = builder.build().map_err(|error| unsendable(error, &key))?;
        Ok(Self { dialect, connection, key, client })
    }

    /// Tries until there is an answer, the error is final, the tries are used up, or somebody asks to stop.
    async fn retrying<T, F>(
        &self,
        observer: Option<&Observer>,
        cancel: &CancellationToken,
        attempt: impl Fn(Duration) -> F,
    ) -> Result<T, ProviderError>
    where
        F: Future<Output = Result<T, ProviderError>>,
    {
        let limit = self.connection.total_timeout;
        let trying = async {
            let (mut failed, mut silence) = (0, Duration::ZERO);
            loop {
                let patience = self.connection.idle_timeout.min(self.connection.max_silence.saturating_sub(silence));
                let error = match timeout(limit, attempt(patience)).await.unwrap_or_else(|_| Err(too_slow(limit))) {
                    Ok(answer) => return Ok(answer),
                    Err(error) => error,
                };
                failed += 1;
                silence += error.silence();
                let Some(wait) = self.connection.retry.wait(failed, &error) else {
                    return Err(error);
                };
                if !error.silence().is_zero() {
                    silence += wait;
                    if silence >= self.connection.max_silence {
                        return Err(error);
                    }
                }
                tracing::warn!(attempt = failed, wait_ms = wait.as_millis(), %error, "a call to the provider failed and is tried again");
                if let Some(observer) = observer {
                    observer.emit(&RunEvent::Retrying { reason: error.to_string(), wait });
                }
                tokio::time::sleep(wait).await;
            }
        };
        cancel.run_until_cancelled(trying).await.unwrap_or_else(|| Err(ProviderError::cancelled()))
    }

    async fn ask(&self, body: &str, is_streamed: bool, patience: Duration) -> Result<Answer, ProviderError> {
        // An answer in one piece starts when it is finished, so only a stream has to start soon.
        let head = if is_streamed { patience } else { self.connection.total_timeout };
        let response = self.post(self.dialect.path, body, head, patience).await?;
        // Some servers do not stream, whatever they are asked for, and what is no API answers with a page.
        if is_streamed && !has_type(&response, &["json", "html"]) {
            return self.gather(response, patience).await;
        }
        let text = self.read(response, patience).await?;
        match (self.dialect.whole)(&text) {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.not_an_answer(&text).unwrap_or_else(|| self.unreadable(error))),
        }
    }

    async fn count(&self, path: &str, body: &str, patience: Duration) -> Result<u64, ProviderError> {
        let response = self.post(path, body, self.connection.total_timeout, patience).await?;
        let text = self.read(response, patience).await?;
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        value["input_tokens"].as_u64().ok_or_else(|| ProviderError::unusable("the count has no input_tokens"))
    }

    /// Sends and waits for the head of a good answer, up to a first patience; what is wrong with one that is not good is
    /// read with the second.
    async fn post(
        &self,
        path: &str,
        body: &str,
        head: Duration,
        patience: Duration,
    ) -> Result<Response, ProviderError> {
        let url = format!("{}{path}", self.connection.base_url);
        let sent = self.client.post(url).header("content-type", "application/json").body(body.to_owned()).send();
        let response = match timeout(head, sent).await {
            Ok(response) => response.map_err(|error| self.broken(error))?,
            Err(_) => return Err(ProviderError::silent(head, None)),
        };
        if response.status().is_success() {
            return Ok(response);
        }
        if response.status().is_redirection() {
            return Err(redirected(&response));
        }
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers(), SystemTime::now());
        let text = self.read(response, patience).await.unwrap_or_default();
        Err(ProviderError::refused(status, &self.key.redact(&text), retry_after))
    }

    /// A whole body, within the bounds of size and silence.
    async fn read(&self, mut response: Response, patience: Duration) -> Result<String, ProviderError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk(&mut response, patience).await? {
            bytes.extend_from_slice(&chunk);
            self.check_size(bytes.len())?;
        }
        String::from_utf8(bytes).map_err(|_| ProviderError::network("the answer is not UTF-8", None))
    }

    async fn gather(&self, mut response: Response, patience: Duration) -> Result<Answer, ProviderError> {
        let mut parser = SseParser::default();
        let mut answer = (self.dialect.gather)();
        let (mut received, mut head) = (0, Vec::new());
        'stream: while let Some(chunk) = self.chunk(&mut response, patience).await? {
            received += chunk.len();
            self.check_size(received)?;
            if head.len() < HEAD_BYTES {
                head.extend_from_slice(&chunk);
            }
            for event in parser.push(&chunk) {
                if answer.event(&event).map_err(|error| self.unreadable(error))? {
                    break 'stream;
                }
            }
        }
        let not_an_answer = || self.not_an_answer(&String::from_utf8_lossy(&head));
        answer.finish().map_err(|error| not_an_answer().unwrap_or_else(|| self.unreadable(error)))
    }

    /// What something is that came with status 200 and is no answer, where it can be told: an error, or a web page.
    fn not_an_answer(&self, text: &str) -> Option<ProviderError> {
        let text = self.key.redact(text);
        if let Some(title) = web_page::title(&text) {
            let title = if title.is_empty() { String::new() } else { format!(": {title}") };
            let message = format!("the answer is a web page (HTML), not an answer of the API{title}");
            return Some(ProviderError::unusable(message));
        }
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        value.get("error").filter(|error| !error.is_null()).map(ProviderError::in_stream)
    }

    async fn chunk(
        &self,
        response: &mut Response,
        patience: Duration,
    ) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]>>, ProviderError> {
        match timeout(patience, response.chunk()).await {
            Ok(chunk) => chunk.map_err(|error| self.broken(error)),
            Err(_) => Err(ProviderError::silent(patience, None)),
        }
    }

    fn broken(&self, error: reqwest::Error) -> ProviderError {
        // Whoever does not answer a knock is as silent as who does not answer a question.
        if error.is_connect() && error.is_timeout() {
            return ProviderError::silent(self.connection.connect_timeout, Some(cause(error, &self.key)));
        }
        let message = if error.is_connect() { "cannot connect to the provider" } else { "the connection broke" };
        ProviderError::network(message, Some(cause(error, &self.key)))
    }

    fn check_size(&self, bytes: usize) -> Result<(), ProviderError> {
        let limit = self.connection.max_answer_bytes;
        if bytes > limit {
            Err(ProviderError::unusable(format!("the answer is larger than {limit} bytes")))
        } else {
            Ok(())
        }
    }

    fn unreadable(&self, error: Unreadable) -> ProviderError {
        match error {
            Unreadable::Broken(reason) => ProviderError::network(&self.key.redact(&reason), None),
            Unreadable::Failed(error) => error,
        }
    }
}

fn headers(dialect: &Dialect, connection: &Connection, key: &ApiKey) -> Result<HeaderMap, ProviderError> {
    let mut headers = HeaderMap::new();
    let own = connection.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in dialect.headers.iter().copied().chain(own) {
        let bad = || ProviderError::unusable(format!("the header {name} cannot be sent"));
        let name = HeaderName::from_str(name).map_err(|_| bad())?;
        headers.insert(name, HeaderValue::from_str(value).map_err(|_| bad())?);
    }
    let (name, prefix) = dialect.key_header;
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose()))
        .map_err(|_| ProviderError::unusable("the key cannot be sent"))?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_static(name), value);
    Ok(headers)
}

/// Whether a response says that it is one of these types.
fn has_type(response: &Response, types: &[&str]) -> bool {
    let said = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    types.iter().any(|kind| said.to_ascii_lowercase().contains(kind))
}

/// How long the provider asks to wait: milliseconds, seconds, or until a date, which may be over.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim());
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"));
    let until = || httpdate::parse_http_date(text("retry-after")?).ok();
    match seconds {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => Some(until()?.duration_since(now).unwrap_or_default()),
    }
}

/// A redirect, with the host it names and no more: the rest of an address can hold passwords.
fn redirected(response: &Response) -> ProviderError {
    let location = response.headers().get(reqwest::header::LOCATION).and_then(|location| location.to_str().ok());
    let target = location.and_then(|location| response.url().join(location).ok());
    let host = target.and_then(|url| Some((url.host_str()?.to_owned(), url.port())));
    let host = match host {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host,
        None => "nowhere".to_owned(),
    };
    let message = format!(
        "it wants the request elsewhere ({host}), which is not done, since the key is not for them; if they are right, \
         make that the base URL"
    );
    ProviderError::said(response.status().as_u16(), "", &message)
}

fn unsendable(error: reqwest::Error, key: &ApiKey) -> ProviderError {
    ProviderError::unusable(format!("the connection cannot be set up: {}", cause(error, key)))
}

/// An error's whole chain in words, without addresses, which can hold passwords, and without the key.
fn cause(error: reqwest::Error, key: &ApiKey) -> Box<dyn std::error::Error + Send + Sync> {
    let error = error.without_url();
    let chain = std::iter::successors(Some(&error as &(dyn std::error::Error + 'static)), |&error| error.source());
    key.redact(&chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")).into()
}

fn too_slow(limit: Duration) -> ProviderError {
    ProviderError::network(&format!("the answer took more than {} ms", limit.as_millis()), None)
}

/// The engine's count.
fn own_count(format: Format, request: &Request<'_>) -> u64 {
    let found = Catalog::builtin().find(request.model);
    let counter = CounterChoice::Auto.resolve(found.as_ref().map(|found| &*found.model));
    let messages = request.messages.iter().filter_map(|raw| Message::parse(format, raw).ok());
    let history: Millitokens = messages.map(|message| count_message(&*counter, &message)).sum();
    (history + count_overhead(&*counter, request.system, request.tools)).ceil_tokens()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_can_be_a_number_or_a_date() {
        let now = httpdate::parse_http_date("Tue, 17 Nov 2026 08:00:00 GMT").unwrap();
        let waits = |name: &'static str, value: &'static str| {
            let headers = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))]);
            retry_after(&headers, now).map(|wait| wait.as_millis())
        };
        assert_eq!(waits("retry-after", "7"), Some(7000));
        assert_eq!(waits("retry-after", "0.5"), Some(500));
        assert_eq!(waits("retry-after-ms", "250"), Some(250));
        assert_eq!(waits("retry-after", "Tue, 17 Nov 2026 08:00:09 GMT"), Some(9000));
        assert_eq!(waits("retry-after", "Tuesday, 17-Nov-26 08:01:00 GMT"), Some(60_000));
        assert_eq!(waits("retry-after", "Tue, 17 Nov 2026 07:59:00 GMT"), Some(0), "what is over is not waited for");
        assert_eq!(waits("retry-after", "soon"), None);
        assert_eq!(waits("retry-after", "-3"), None);
    }
}
