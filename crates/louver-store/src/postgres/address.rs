//! Where a server is, and how it is reached.

use super::tls::{Tls, distrust};
use crate::error::{Error, Kind};
use percent_encoding::percent_decode_str;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// After how long a silent connection is asked whether it is still there, and how long what was sent may stay unheard.
const KEEPALIVE: Duration = Duration::from_secs(30);
const UNHEARD: Duration = Duration::from_secs(10);

/// A database, with whatever is needed to get in. What is shown of it has no password.
#[derive(Clone)]
pub(super) struct Address {
    config: Config,
    tls: Option<Tls>,
    shown: String,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Address {
    /// Reads an address. Where it names no password, `password` is used.
    pub(super) fn parse(url: &str, password: Option<String>) -> Result<Self, Error> {
        // What is wrong with it could quote a password.
        let unreadable = || {
            let message = "the store's address cannot be read: expected postgres://USER@HOST/DATABASE";
            Error::new(Kind::Invalid, message)
        };
        let (url, authorities) = understood(url);
        let mut config: Config = url.parse().map_err(|_| unreadable())?;
        if let (None, Some(password)) = (config.get_password(), password) {
            config.password(password);
        }
        // Text goes over the network in secret, unless somebody wrote that it need not.
        if !url.contains("sslmode=") {
            let is_plain = is_here(&config) && authorities.is_none();
            config.ssl_mode(if is_plain { SslMode::Disable } else { SslMode::Require });
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("louver");
        }
        config.keepalives_idle(KEEPALIVE).tcp_user_timeout(UNHEARD);
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let is_secret = config.get_ssl_mode() != SslMode::Disable;
        let tls = is_secret.then(|| Tls::new(authorities.as_deref())).transpose()?;
        Ok(Self { shown: shown(&config), config, tls })
    }

    /// Makes a connection, which lives on the runtime that this is called on.
    pub(super) async fn connect(&self) -> Result<Client, Error> {
        match &self.tls {
            Some(tls) => {
                let (client, connection) =
                    self.config.connect(tls.clone()).await.map_err(|error| self.failed(error))?;
                tokio::spawn(async move { drop(connection.await) });
                Ok(client)
            }
            None => {
                let connected = self.config.connect(tokio_postgres::NoTls).await;
                let (client, connection) = connected.map_err(|error| self.failed(error))?;
                tokio::spawn(async move { drop(connection.await) });
                Ok(client)
            }
        }
    }

    fn failed(&self, error: tokio_postgres::Error) -> Error {
        let told = match (error.code(), distrust(&error)) {
            (Some(_), _) => Error::from(error),
            (None, Some(reason)) => {
                let message = format!(
                    "the certificate of the store's server is not trusted ({reason}): name its authority's file with \
                     sslrootcert=FILE in the address or with SSL_CERT_FILE"
                );
                Error::new(Kind::Io, message).caused_by(error)
            }
            (None, None) => {
                let message = format!("the store's server cannot be reached ({})", with_causes(&error));
                Error::new(Kind::Io, message).caused_by(error)
            }
        };
        Error::new(told.kind(), format!("{}: {told}", self.shown)).caused_by(told)
    }
}

/// An error and everything that it came from.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// An address with the words of PostgreSQL's own clients that the driver does not know: a certificate is checked in full
/// wherever there is TLS, and `sslrootcert` names a file with the authorities that count.
fn understood(url: &str) -> (String, Option<PathBuf>) {
    let Some((place, settings)) = url.split_once('?') else { return (url.to_owned(), None) };
    let (mut known, mut authorities) = (Vec::new(), None);
    for setting in settings.split('&') {
        match setting.split_once('=') {
            Some(("sslmode", "verify-ca" | "verify-full")) => known.push("sslmode=require"),
            Some(("sslrootcert", "system")) => {}
            Some(("sslrootcert", file)) => {
                authorities = Some(PathBuf::from(&*percent_decode_str(file).decode_utf8_lossy()))
            }
            _ => known.push(setting),
        }
    }
    let query = if known.is_empty() { String::new() } else { format!("?{}", known.join("&")) };
    (format!("{place}{query}"), authorities)
}

/// Whether everything stays on this machine.
fn is_here(config: &Config) -> bool {
    let is_loopback = |name: &str| {
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    config.get_hostaddrs().iter().all(IpAddr::is_loopback)
        && config.get_hosts().iter().all(|host| match host {
            Host::Tcp(name) => is_loopback(name),
            #[cfg(unix)]
            Host::Unix(_) => true,
        })
}

/// The address without its secrets.
fn shown(config: &Config) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string().replace('/', "%2F"),
    };
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let port = match config.get_ports() {
        [port] => format!(":{port}"),
        _ => String::new(),
    };
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    format!("postgres://{user}{}{port}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Address {
        Address::parse(url, Some("from the environment".to_owned())).unwrap()
    }

    #[test]
    fn a_password_is_never_shown() {
        let address = parsed("postgres://ann:hunter2@db.example.com:5433/louver?application_name=x");
        assert_eq!(address.to_string(), "postgres://ann@db.example.com:5433/louver");
        assert_eq!(format!("{address:?}"), address.to_string());
        assert_eq!(address.config.get_password(), Some(&b"hunter2"[..]));
        assert_eq!(parsed("postgres://ann@localhost/x").config.get_password(), Some(&b"from the environment"[..]));
        let error = Address::parse("postgres://ann:hunter2@h:not a port/x", None).unwrap_err();
        assert!(error.is_invalid() && !format!("{error:?}").contains("hunter2"));
    }

    #[test]
    fn text_leaves_the_machine_in_secret() {
        for (url, mode) in [
            ("postgres://localhost/x", SslMode::Disable),
            ("postgres://127.0.0.1,[::1]/x", SslMode::Disable),
            ("postgres:///x?host=/run/postgresql", SslMode::Disable),
            ("postgres://db.example.com/x", SslMode::Require),
            ("postgres://127.0.0.1,db.example.com/x", SslMode::Require),
            ("postgres://db.example.com/x?sslmode=disable", SslMode::Disable),
            ("postgres://localhost/x?sslmode=require", SslMode::Require),
            ("postgres://localhost/x?sslmode=verify-full&application_name=x", SslMode::Require),
            ("postgres://db.example.com/x?sslrootcert=system", SslMode::Require),
        ] {
            assert_eq!(parsed(url).config.get_ssl_mode(), mode, "{url}");
        }
    }

    #[test]
    fn authorities_may_be_named() {
        let (url, file) = understood("postgres://h/x?sslmode=verify-ca&sslrootcert=/my%20keys/100%25%.pem&user=ann");
        assert_eq!(
            (url.as_str(), file),
            ("postgres://h/x?sslmode=require&user=ann", Some("/my keys/100%%.pem".into()))
        );
        assert_eq!(understood("postgres://h/x?sslrootcert=system"), ("postgres://h/x".to_owned(), None));
        let error = Address::parse("postgres://localhost/x?sslrootcert=/nowhere/ca.pem", None).unwrap_err();
        assert!(error.is_invalid(), "{error}");
        assert_eq!(error.to_string(), "/nowhere/ca.pem: no certificate of an authority can be read here");
    }
}
