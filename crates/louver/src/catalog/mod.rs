//! Facts about models: windows, prices, cache rules, tokenizers. All of it data.
//!
//! Two files are compiled in: `models.json`, reduced from a public price table (see
//! `NOTICE`), and `traits.json`, our own rules for what that table does not say. Both are
//! parsed once, on first use.
//!
//! ```
//! # #[cfg(feature = "catalog")] {
//! use louver::catalog::Catalog;
//!
//! let found = Catalog::builtin().find("gemini-2.5-pro").expect("a known model");
//! assert_eq!(found.model.context_window, 1_048_576);
//! let short = found.model.prices_at(200_000);
//! let long = found.model.prices_at(200_001);
//! assert_eq!(short.input.usd_per_million(), 1.25);
//! assert_eq!(long.input.usd_per_million(), 2.5);
//! # }
//! ```

mod counting;
mod lookup;
mod model;
mod name;
mod price;
mod traits;

pub use lookup::{Catalog, CatalogError, Found, ModelWarning};
pub use model::Model;
pub use price::{Cost, Price, Prices, Tier};
pub use traits::{CacheKind, ThinkingBinding, Traits};
