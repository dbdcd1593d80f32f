//! What a ledger says of how to have back what it stands for, and that it is so.

use crate::desk::{Cut, Desk, small};
use crate::talk::Talk;
use louver::Format;
use louver::address::Address;
use louver::wire::Message;
use louver_proxy::{Archive, Chain, KeeperSettings};
use louver_store::{ChainPoint, ChainTag, Content, RecallRequest, Recalled};

fn full() -> KeeperSettings {
    KeeperSettings { archive: Archive::Full, user: "ann".into(), ..small() }
}

/// The first line of the ledger in what was sent, without its title.
fn heading(format: Format, sent: &[String]) -> String {
    let ledger = sent.iter().find(|message| message.contains("[Conversation Ledger]")).expect("there is a ledger");
    let ledger = Message::parse(format, ledger).unwrap();
    let text: String = ledger.shape().parts.iter().map(|part| ledger.text_of(part)).collect();
    text.lines().next().unwrap().strip_prefix("[Conversation Ledger] ").unwrap().to_owned()
}

/// The hash of everything that a client held.
fn chain_end(talk: &Talk, held: &[String]) -> louver_store::ChainHash {
    let messages: Vec<Message> = held.iter().map(|raw| Message::parse(talk.format, raw).unwrap()).collect();
    Chain::of(talk.format, &messages).end()
}

async fn recalled(desk: &Desk, reader: &str, tag: &str, address: &str) -> Recalled {
    let point = ChainPoint::Tag(tag.parse().unwrap());
    let address: Address = address.parse().unwrap();
    let request = RecallRequest { reader: reader.into(), point, address, max_bytes: usize::MAX };
    desk.store.recall(request).await.unwrap()
}

#[tokio::test]
async fn a_ledger_names_its_place_and_the_command_that_reads_the_archive() {
    for format in Format::ALL {
        let desk = Desk::open(full()).await;
        let mut talk = Talk::new(format);
        let cut = desk.until_cut(&mut talk).await;
        let heading = heading(format, &cut.sent);
        let (tag, how) = heading.split_once(' ').unwrap();
        assert!(chain_end(&talk, &cut.held).starts_with(&tag.parse::<ChainTag>().unwrap()), "{heading}");
        let command = format!("To have message 12 back: louver recall --archive '{tag}:12'");
        assert!(how.starts_with(&command), "{heading}");
        let Recalled::Messages { messages, next: None } = recalled(&desk, "ann", tag, "3-4, 12").await else {
            panic!("{format}: what the ledger promises is not there");
        };
        let raws: Vec<&str> = messages.iter().map(|message| &*message.raw).collect();
        assert_eq!(raws, [&cut.held[3], &cut.held[4], &cut.held[12]], "{format}");
        assert_eq!(recalled(&desk, "bob", tag, "12").await, Recalled::UnknownTag);
    }
}

#[tokio::test]
async fn where_no_message_is_kept_no_command_is_named() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic);
    let cut = desk.until_cut(&mut talk).await;
    assert_eq!(heading(talk.format, &cut.sent), chain_end(&talk, &cut.held).tag(6).to_string());
}

#[tokio::test]
async fn a_tool_that_the_model_has_is_named_before_the_command() {
    let desk = Desk::open(full()).await;
    let mut talk = Talk::new(Format::Anthropic);
    talk.tools = "mcp__louver__recall".to_owned();
    let cut = desk.until_cut(&mut talk).await;
    let heading = heading(talk.format, &cut.sent);
    let tag = heading.split(' ').next().unwrap();
    assert!(heading.contains(&format!("the tool mcp__louver__recall: {tag}:12 ")), "{heading}");
    // What was written stays, whatever tools the client has later.
    talk.tools = "read_file".to_owned();
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
}

#[tokio::test]
async fn each_cut_names_its_own_place_and_a_restart_changes_none() {
    let mut desk = Desk::open(full()).await;
    let mut talk = Talk::new(Format::OpenAiResponses);
    talk.thinks = true;
    let first = desk.until_cut(&mut talk).await;
    desk.reopen().await;
    let second = loop {
        talk.turn();
        let asked = desk.ask(&talk).await;
        match asked.outcome() {
            "cut" => break Cut::of(&talk, &asked),
            _ => first.holds(&talk, &asked),
        }
    };
    let tag = |cut: &Cut| heading(talk.format, &cut.sent).split(' ').next().unwrap().to_owned();
    assert_ne!(tag(&first), tag(&second));
    assert_eq!(tag(&second), chain_end(&talk, &second.held).tag(6).to_string());
    // Reasoning is on no chain: a run of messages comes back without it.
    for cut in [&first, &second] {
        let Recalled::Messages { messages, .. } = recalled(&desk, "ann", &tag(cut), "0-9").await else { panic!() };
        let raws: Vec<&str> = messages.iter().map(|message| &*message.raw).collect();
        let held: Vec<&String> = cut.held[..10].iter().filter(|raw| !raw.contains(r#""reasoning""#)).collect();
        assert_eq!(raws, held);
    }
}
