//! `louver archive`: what the proxy keeps.

use super::store::open_existing;
use super::{Deliverable, Exit, Shell, proxy};
use crate::args::{Archive as Job, ArchiveList, ArchiveOne};
use crate::printer::{dollars, grouped, plural};
use anyhow::bail;
use louver_store::{
    ConversationAccount, ConversationId, Cursor, Page, PageRequest, RequestEntry, Retention, Store, Whose,
};
use serde_json::json;
use std::fmt::Write;

/// How many rows are asked for at once.
const ROWS: usize = 1_000;

pub(super) fn run(job: &Job, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let store = match job {
        Job::List(list) => &list.store,
        Job::Show(one) | Job::Export(one) | Job::Delete(one) => &one.store,
        Job::Vacuum(store) => store,
    };
    let store = open_existing(store.store.as_deref())?;
    let store = &*store;
    super::task::runtime()?.block_on(async {
        let exit = match job {
            Job::List(list) => self::list(store, list, shell).await,
            Job::Show(one) => show(store, one, shell).await,
            Job::Export(one) => export(store, one, shell).await,
            Job::Delete(one) => delete(store, one, shell).await,
            Job::Vacuum(_) => vacuum(store, shell).await,
        };
        store.close().await?;
        exit
    })
}

async fn list(store: &dyn Store, job: &ArchiveList, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let all = all(async |page| store.conversations(Whose::Everybody, page).await).await?;
    if job.json {
        let rows: Vec<_> = all.iter().map(conversation_json).collect();
        shell.show(&Deliverable::Json(&serde_json::to_string_pretty(&rows)?))?;
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        shell.printer.note("No conversations yet.");
        return Ok(Exit::Done);
    }
    let mut text = format!(
        "{:<18}{:>9}{:>6}{:>14}{:>14}{:>11}{:>11}  model\n",
        "id", "requests", "cuts", "sent", "held", "cost", "uncut"
    );
    for row in &all {
        let last = row.last_tokens.unwrap_or_default();
        writeln!(
            text,
            "{:<18}{:>9}{:>6}{:>14}{:>14}{:>11}{:>11}  {}",
            row.info.id.as_str(),
            row.requests,
            row.cuts,
            grouped(last.sent),
            grouped(last.held),
            dollars(row.cost.usd(), 4),
            dollars(row.baseline.usd(), 4),
            row.info.model
        )?;
    }
    shell.show(&Deliverable::Text(&text))?;
    Ok(Exit::Done)
}

async fn show(store: &dyn Store, job: &ArchiveOne, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let account = account(store, &job.id).await?;
    let requests = all(async |page| store.requests(account.info.id.clone(), page).await).await?;
    if job.json {
        let mut value = conversation_json(&account);
        value["request_list"] = requests.iter().map(request_json).collect();
        shell.show(&Deliverable::Json(&serde_json::to_string_pretty(&value)?))?;
        return Ok(Exit::Done);
    }
    let mut text = format!(
        "{} ({}, {})\n{}, {}, {} rescued; {} spent, {} uncut\n\n",
        account.info.id,
        account.info.model,
        account.info.format,
        plural(usize::try_from(account.requests)?, "request"),
        plural(usize::try_from(account.cuts)?, "cut"),
        account.rescued,
        dollars(account.cost.usd(), 4),
        dollars(account.baseline.usd(), 4),
    );
    writeln!(text, "{:>5}  {:<9}{:>12}{:>12}{:>12}{:>11}  why", "", "outcome", "sent", "held", "cached", "cost")?;
    for (number, request) in requests.iter().enumerate() {
        let tokens = request.tokens.unwrap_or_default();
        let cached = request.usage.map(|usage| usage.cache_read).unwrap_or_default();
        let why = request.cut_reason.as_deref().or(request.cache_break.as_deref()).unwrap_or_default();
        writeln!(
            text,
            "{:>5}  {:<9}{:>12}{:>12}{:>12}{:>11}  {why}",
            number + 1,
            request.outcome.name(),
            grouped(tokens.sent),
            grouped(tokens.held),
            grouped(cached),
            request.cost.map(|cost| dollars(cost.usd(), 4)).unwrap_or_default(),
        )?;
    }
    shell.show(&Deliverable::Text(&text))?;
    Ok(Exit::Done)
}

/// All messages as a list that `louver inspect` and the other commands read.
async fn export(store: &dyn Store, job: &ArchiveOne, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let id = ConversationId::from(job.id.as_str());
    let messages = all(async |page| store.content(Whose::Everybody, id.clone(), page).await).await?;
    let Some(first) = messages.first() else {
        account(store, &job.id).await?;
        bail!("{}: no messages are kept; they are with `--archive full`, as `louver wrap` has it", job.id);
    };
    let list = messages.iter().map(|message| &*message.raw).collect::<Vec<_>>().join(",\n");
    let text = format!("{{\"format\":\"{}\",\"messages\":[\n{list}\n]}}\n", first.place.format);
    shell.show(&Deliverable::Json(&text))?;
    Ok(Exit::Done)
}

async fn delete(store: &dyn Store, job: &ArchiveOne, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let id = ConversationId::from(job.id.as_str());
    let removed = store.delete_conversation(id).await?;
    if removed.requests == 0 && removed.messages == 0 {
        bail!("{}: no such conversation; `louver archive list` has them", job.id);
    }
    shell.printer.note(&format!(
        "Removed {} and {}.",
        plural(usize::try_from(removed.messages)?, "message"),
        plural(usize::try_from(removed.requests)?, "request")
    ));
    if !removed.is_erased {
        shell
            .printer
            .warning("somebody else is using the store: some bytes stay in it until `louver archive vacuum` is run");
    }
    Ok(Exit::Done)
}

async fn vacuum(store: &dyn Store, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let before = store.size().await?.file_bytes;
    let removed = store.retain(Retention::default_at(proxy::now())).await?;
    store.vacuum().await?;
    let after = store.size().await?;
    shell.printer.note(&format!(
        "{} bytes, {} before; {} left for their age, {} stay.",
        grouped(after.file_bytes),
        grouped(before),
        plural(usize::try_from(removed.decisions)?, "decision"),
        grouped(after.decisions)
    ));
    Ok(Exit::Done)
}

async fn account(store: &dyn Store, id: &str) -> anyhow::Result<ConversationAccount> {
    match store.conversation(ConversationId::from(id)).await? {
        Some(account) => Ok(account),
        None => bail!("{id}: no such conversation; `louver archive list` has them"),
    }
}

/// Every row of a list that comes in pages.
async fn all<T>(page: impl AsyncFn(PageRequest) -> Result<Page<T>, louver_store::Error>) -> anyhow::Result<Vec<T>> {
    let mut rows = Vec::new();
    let mut next: Option<Cursor> = None;
    loop {
        let found = page(PageRequest { after: next, rows: ROWS }).await?;
        rows.extend(found.rows);
        next = found.next;
        if next.is_none() {
            return Ok(rows);
        }
    }
}

fn conversation_json(account: &ConversationAccount) -> serde_json::Value {
    json!({
        "id": account.info.id.as_str(),
        "parent": account.info.parent.as_ref().map(ConversationId::as_str),
        "format": account.info.format.to_string(),
        "model": account.info.model,
        "requests": account.requests,
        "cuts": account.cuts,
        "rescued": account.rescued,
        "tokens": { "sent": account.tokens.sent, "held": account.tokens.held },
        "cost_usd": account.cost.usd(),
        "baseline_usd": account.baseline.usd(),
    })
}

fn request_json(request: &RequestEntry) -> serde_json::Value {
    json!({
        "at": request.at.0,
        "model": request.model,
        "outcome": request.outcome.name(),
        "status": request.status,
        "tokens": request.tokens.map(|tokens| json!({ "sent": tokens.sent, "held": tokens.held })),
        "cost_usd": request.cost.map(|cost| cost.usd()),
        "baseline_usd": request.baseline.map(|cost| cost.usd()),
        "cut": request.cut_reason,
        "cache_break": request.cache_break,
    })
}
