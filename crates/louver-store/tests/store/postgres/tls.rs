//! A server that is reached in secret only, with a certificate of the tests' own authority.

use super::server::Server;
use crate::suite::decision;
use base64::Engine;
use louver_store::{Decisions, Error, Maintenance, PostgresStore};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const ADDRESS: &str = "LOUVER_STORE_ADDRESS";

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Bytes as PostgreSQL reads them.
fn pem(kind: &str, bytes: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"))
}

fn write_certificate(folder: &TempDir, name: &str, authority: &Authority) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, pem("CERTIFICATE", authority.der())).unwrap();
    path
}

/// A server with a certificate for these names that lets nobody in who does not speak TLS.
fn secret_server(authority: &Authority, names: &[&str]) -> Option<Server> {
    let server = Server::start()?;
    let key = KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, authority).unwrap();
    server.write_own("server.crt", &pem("CERTIFICATE", certificate.der()));
    server.write_own("server.key", &pem("PRIVATE KEY", &key.serialize_der()));
    server.sql("postgres", "ALTER SYSTEM SET ssl = on");
    server.write_own("pg_hba.conf", "hostssl all all 127.0.0.1/32 trust\n");
    server.down("fast");
    server.up();
    Some(server)
}

/// Makes a database in secret, and says how it is asked for.
fn database(server: &Server, name: &str, root: &Path) -> String {
    let address = format!("{}?sslmode=verify-full&sslrootcert={}", server.address("postgres"), root.display());
    let made = Command::new("psql").args(["-X", "-q", "-c", &format!("CREATE DATABASE {name}"), &address]).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    server.address(name)
}

async fn kept(store: &PostgresStore) -> u64 {
    store.insert_decision(decision(1, 0, "in secret")).await.unwrap();
    store.size().await.unwrap().decisions
}

/// Why a store cannot be opened, behind its address.
fn refused(address: &str) -> (Error, String) {
    let error = PostgresStore::open(address).unwrap_err();
    let told = error.to_string();
    let (shown, reason) = told.split_once(": ").unwrap();
    assert!(shown.starts_with("postgres://postgres@127.0.0.1:") && !shown.contains('?'), "{told}");
    let reason = reason.to_owned();
    (error, reason)
}

#[tokio::test]
async fn whoever_shows_a_trusted_certificate_is_talked_to_in_secret() {
    let ours = authority("Louver tests");
    let Some(server) = secret_server(&ours, &["127.0.0.1", "localhost"]) else { return };
    let root = write_certificate(&server.folder, "root.pem", &ours);
    let address = database(&server, "secret", &root);
    for mode in ["sslmode=require&", "sslmode=verify-full&", "sslmode=verify-ca&", "sslmode=prefer&", ""] {
        let store = PostgresStore::open(&format!("{address}?{mode}sslrootcert={}", root.display())).unwrap();
        assert_eq!(kept(&store).await, 1, "{mode}");
        let sql = "SELECT DISTINCT s.ssl || ' ' || s.version FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
            WHERE a.application_name = 'louver'";
        let query = format!("{address}?sslmode=require");
        let seen = Command::new("psql").args(["-X", "-q", "-t", "-A", "-c", sql, &query]).output().unwrap();
        assert_eq!(String::from_utf8(seen.stdout).unwrap().trim(), "true TLSv1.3", "{mode}");
        store.close().await.unwrap();
    }
    // The server takes nobody else, so what was asked above was asked in secret.
    let (error, told) = refused(&format!("{address}?sslmode=disable"));
    assert!(error.is_read_only() && told.starts_with("the store's server does not let this user in"), "{told}");

    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "postgres::tls::with_the_machines_roots", "--ignored"]);
    let output = again.env("SSL_CERT_FILE", &root).env_remove("SSL_CERT_DIR").env(ADDRESS, &address).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[tokio::test]
#[ignore = "run as a child"]
async fn with_the_machines_roots() {
    let address = std::env::var(ADDRESS).unwrap();
    for mode in ["require", "verify-full"] {
        assert_eq!(kept(&PostgresStore::open(&format!("{address}?sslmode={mode}")).unwrap()).await, 1);
    }
}

#[tokio::test]
async fn whoever_shows_another_is_refused_in_one_sentence() {
    let (ours, theirs) = (authority("Louver tests"), authority("Somebody else"));
    let Some(server) = secret_server(&ours, &["db.example.com"]) else { return };
    let (root, wrong) =
        (write_certificate(&server.folder, "root.pem", &ours), write_certificate(&server.folder, "wrong.pem", &theirs));
    let advice = "): name its authority's file with sslrootcert=FILE in the address or with SSL_CERT_FILE";
    for mode in ["require", "verify-full", "prefer"] {
        let address = format!("{}?sslmode={mode}", server.address("postgres"));
        let (error, told) = refused(&format!("{address}&sslrootcert={}", wrong.display()));
        assert_eq!(told, format!("the certificate of the store's server is not trusted (UnknownIssuer{advice}"));
        assert!(error.is_transient());
        // Nobody on this machine knows the tests' authority either.
        let (_, told) = refused(&address);
        assert!(told.contains("is not trusted (UnknownIssuer"), "{told}");
        // The right authority, but for another name.
        let (_, told) = refused(&format!("{address}&sslrootcert={}", root.display()));
        assert!(told.contains("is not trusted (") && told.contains("db.example.com"), "{told}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_not_talked_to_where_it_is_wanted() {
    let Some(server) = Server::shared() else { return };
    let (error, told) = refused(&format!("{}?sslmode=require", server.database().address));
    assert!(error.is_transient() && told.contains("server does not support TLS"), "{told}");
}
