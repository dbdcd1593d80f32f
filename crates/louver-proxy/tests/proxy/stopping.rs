//! A proxy that stops lets running answers end.

use crate::world::{Client, Running, SOON, Step, TestBrain, Upstream, config_to, eventually, sse_answer, with_limits};
use louver_proxy::End;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::Notify;

const EVENT: &str = "data: {\"n\":1}\n\n";

async fn hesitant(go_on: &Arc<Notify>) -> Upstream {
    let go_on = Arc::clone(go_on);
    Upstream::start(move |_, _| {
        let mut steps = sse_answer(&[EVENT, EVENT]);
        steps.insert(2, Step::Wait(Arc::clone(&go_on)));
        steps
    })
    .await
}

#[tokio::test]
async fn running_streams_end_and_new_connections_do_not_begin() {
    let go_on = Arc::new(Notify::new());
    let upstream = hesitant(&go_on).await;
    let mut proxy = Running::start(config_to(upstream.address), TestBrain::default()).await;
    let mut client = Client::connect(proxy.address).await;
    client.post("/v1/messages", "", "{}").await;
    client.read_until("\"n\":1").await;
    let mut idle = Client::connect(proxy.address).await;
    idle.send("").await;
    proxy.begin_to_stop();
    let address = proxy.address;
    eventually("nobody listens any more", move || std::net::TcpStream::connect(address).is_err()).await;
    go_on.notify_one();
    let answer = client.answer().await;
    assert_eq!((answer.text(), answer.is_cut_off), (format!("{EVENT}{EVENT}"), false));
    proxy.stop().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn streams_that_do_not_end_in_time_are_dropped() {
    let upstream = hesitant(&Arc::new(Notify::new())).await;
    let brain = TestBrain::default();
    let config = with_limits(config_to(upstream.address), |limits| limits.shutdown_grace = SOON);
    let proxy = Running::start(config, brain.clone()).await;
    let mut client = Client::connect(proxy.address).await;
    client.post("/v1/messages", "", "{}").await;
    client.read_until("\"n\":1").await;
    proxy.stop().await;
    assert!(client.answer().await.is_cut_off);
    assert_eq!(brain.ended().await.answered.end, End::ClientGone);
    eventually("the upstream is let go", || upstream.open() == 0).await;
}
