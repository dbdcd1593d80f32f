//! Other settings for a proxy that runs.

use crate::bind_error::BindError;
use crate::brain::Brain;
use crate::config::ProxyConfig;
use crate::service::Service;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

/// Gives a running proxy other settings: new requests see them, running ones end with those they began with.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use louver_proxy::{Mode, Passing, Proxy, ProxyConfig};
///
/// let config = ProxyConfig { listen: "127.0.0.1:0".parse()?, ..ProxyConfig::default() };
/// let proxy = Proxy::bind(config.clone(), Passing).await?;
/// let reloader = proxy.reloader();
/// assert!(reloader.reload(ProxyConfig { mode: Mode::Off, ..config }, Passing).is_ok());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Reloader<B: Brain> {
    listen: SocketAddr,
    service: Arc<RwLock<Arc<Service<B>>>>,
}

impl<B: Brain> Clone for Reloader<B> {
    fn clone(&self) -> Self {
        Self { listen: self.listen, service: Arc::clone(&self.service) }
    }
}

impl<B: Brain> Reloader<B> {
    pub(crate) fn new(listen: SocketAddr, service: Service<B>) -> Self {
        Self { listen, service: Arc::new(RwLock::new(Arc::new(service))) }
    }

    /// What serves requests now.
    pub(crate) fn service(&self) -> Arc<Service<B>> {
        Arc::clone(&self.service.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes new settings over. The address that is listened on, the number of connections and the room that bodies share
    /// stay as they are.
    ///
    /// # Errors
    ///
    /// See [`BindError`]; the old settings then stay.
    pub fn reload(&self, config: ProxyConfig, brain: B) -> Result<(), BindError> {
        let room = self.service().room.clone();
        let service = Service::new(ProxyConfig { listen: self.listen, ..config }, brain, room)?;
        *self.service.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(service);
        Ok(())
    }

    /// The brain that decides now.
    #[must_use]
    pub fn brain(&self) -> Arc<B> {
        Arc::clone(&self.service().brain)
    }
}
