//! The store, wherever it is: a file, or a database on a PostgreSQL server.

use anyhow::{Context, anyhow, bail};
use louver_store::postgres::{PostgresOptions, is_postgres, without_password};
use louver_store::sqlite::SqliteOptions;
use louver_store::{Error, SqliteStore, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens a store, and makes it where it is missing.
pub(super) fn open(place: &Path) -> anyhow::Result<Arc<dyn Store>> {
    if let Some(address) = on_server(place) {
        let store = PostgresOptions::default().open(address);
        return Ok(Arc::new(store.map_err(|error| anyhow!("{error}; name another store with --store"))?));
    }
    // What the database itself says helps nobody.
    let store = SqliteStore::open(place).map_err(|error| anyhow!("{error}; name another file with --store"))?;
    Ok(Arc::new(store))
}

/// Opens a store to be read, and makes it where it is missing.
pub(super) fn open_to_read(place: &Path) -> anyhow::Result<Arc<dyn Store>> {
    if on_server(place).is_some() || !place.exists() {
        return open(place);
    }
    Ok(Arc::new(file(place).map_err(|error| anyhow!("{error}; name another file with --store"))?))
}

/// A store that is there; none is made by looking for it.
pub(super) fn open_existing(named: Option<&Path>) -> anyhow::Result<Arc<dyn Store>> {
    let place = named.map_or_else(default_place, |path| Ok(path.to_owned()))?;
    if let Some(address) = on_server(&place) {
        return Ok(Arc::new(PostgresOptions::default().create(false).connections(2).open(address)?));
    }
    if !place.exists() {
        bail!("{}: there is no store here; `louver proxy` and `louver wrap` make one", place.display());
    }
    Ok(Arc::new(file(&place)?))
}

/// A file that is there. Where it cannot be written, as in the sandboxes of agents, it is only read.
fn file(place: &Path) -> Result<SqliteStore, Error> {
    SqliteStore::open(place).or_else(|error| {
        let is_unwritable = error.is_read_only() || error.is_transient();
        let read = is_unwritable.then(|| SqliteOptions::default().read_only().open(place));
        read.and_then(Result::ok).ok_or(error)
    })
}

/// Where a store is, as it may be shown.
pub(super) fn shown(place: &Path) -> String {
    on_server(place).map_or_else(|| place.display().to_string(), without_password)
}

/// Where a store is, as another program in another folder has to name it.
pub(super) fn named_anywhere(place: &Path) -> String {
    match on_server(place) {
        Some(address) => without_password(address),
        None => std::path::absolute(place).unwrap_or_else(|_| place.to_owned()).display().to_string(),
    }
}

fn on_server(place: &Path) -> Option<&str> {
    place.to_str().filter(|place| is_postgres(place))
}

/// Where decisions are kept if nothing is said: in the user's data folder.
pub(super) fn default_place() -> anyhow::Result<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")));
    let data =
        data.or_else(|| folder("LOCALAPPDATA")).context("there is no home folder: name the store with --store")?;
    Ok(data.join("louver").join("louver.db"))
}
