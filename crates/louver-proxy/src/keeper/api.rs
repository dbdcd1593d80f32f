//! What is asked of the keeper itself: MCP, figures for Prometheus, and the page.

use super::Keeper;
use crate::brain::PageBody;
use crate::mcp::{self, McpServer};
use crate::model_request::Reader;
use crate::page::{Page, answer};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use louver_store::ReaderId;
use std::sync::Arc;

const MCP: &str = "/louver/mcp";

impl Keeper {
    /// What is asked of the keeper itself; nothing where there is no such page.
    pub(super) async fn api(&self, request: &Request<Bytes>, reader: &Reader) -> Option<Response<PageBody>> {
        let path = request.uri().path();
        if path == MCP {
            return Some(self.mcp(request, reader).await);
        }
        if path == "/louver/metrics" && request.method() == Method::GET {
            return Some(answer(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", self.metrics()));
        }
        let (store, shared) = (Arc::clone(&self.store), Arc::clone(&self.pages));
        Page::new(store, shared, self.settings.archive, reader, &self.settings.user).answer(request).await
    }

    /// MCP over HTTP: a message is posted and answered. Nothing is remembered, so there is no stream to open or to end.
    async fn mcp(&self, request: &Request<Bytes>, reader: &Reader) -> Response<PageBody> {
        if request.method() != Method::POST {
            return answer(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "POST a message\n".to_owned());
        }
        let version = request.headers().get("mcp-protocol-version").map(|version| version.to_str().unwrap_or_default());
        if let Some(version) = version.filter(|version| !mcp::speaks(version)) {
            return answer(StatusCode::BAD_REQUEST, "text/plain", format!("{version} is not spoken here\n"));
        }
        let reader = match reader {
            Reader::Token(name) => ReaderId::from(&**name),
            Reader::LocalUser => self.settings.user.clone(),
        };
        let server = McpServer::new(Arc::clone(&self.store), reader);
        match server.answer(&String::from_utf8_lossy(request.body())).await {
            Some(text) => answer(StatusCode::OK, "application/json", text),
            None => answer(StatusCode::ACCEPTED, "application/json", String::new()),
        }
    }
}
