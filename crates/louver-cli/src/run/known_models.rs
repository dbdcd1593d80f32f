//! `louver models`: what does the catalogue know?

use super::{Deliverable, Exit, Shell};
use crate::args::Models;
use crate::output::json_list;
use crate::printer::{grouped, plural, safe};
use louver::catalog::{Catalog, Model, Prices};
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) fn run(job: &Models, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let catalog = Catalog::builtin();
    let asked = job.name.as_deref().unwrap_or_default();
    let listed: Vec<&Model> = catalog.models().filter(|model| model.name.contains(asked)).collect();
    if let Some(found) = job.name.as_deref().and_then(|name| catalog.find(name)) {
        // A part of many names is no name, though a family may stand in for it.
        if found.warning.is_none() || listed.is_empty() {
            found.warning.iter().for_each(|warning| shell.printer.warning(&warning.to_string()));
            return show(job, &[&*found.model], &details(&found.model), shell);
        }
    }
    if listed.is_empty() {
        shell.printer.note(&format!("{}: the catalogue knows no such model, nor one of its family", safe(asked)));
        return Ok(Exit::Finding);
    }
    show(job, &listed, &table(&listed), shell)?;
    shell.printer.note(&format!("{}; prices are dollars per million tokens.", plural(listed.len(), "model")));
    Ok(Exit::Done)
}

fn show(job: &Models, models: &[&Model], text: &str, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    match job.json {
        true => {
            shell.show(&Deliverable::Json(&json_list(&models.iter().map(|model| value(model)).collect::<Vec<_>>())?))?
        }
        false => shell.show(&Deliverable::Text(text))?,
    }
    Ok(Exit::Done)
}

/// What a name has of a line of 80 columns; a longer one stands on a line of its own.
const NAME_COLUMNS: usize = 31;

fn table(models: &[&Model]) -> String {
    let longest = models.iter().map(|model| model.name.chars().count()).max().unwrap_or_default();
    let width = longest.min(NAME_COLUMNS);
    let mut text = format!(
        "{:<width$}{:>10}{:>10}{:>7}{:>7}{:>7}{:>8}\n",
        "model", "window", "writes", "input", "output", "read", "write"
    );
    for model in models {
        let Prices { input, output, cache_read, cache_write, .. } = model.prices;
        let breaks = model.name.chars().count() > width;
        let name = if breaks { format!("{}\n{:<width$}", model.name, "") } else { format!("{:<width$}", model.name) };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{name}{:>10}{:>10}{:>7}{:>7}{:>7}{:>8}",
            grouped(model.context_window),
            model.max_output.map(grouped).unwrap_or_default(),
            input.usd_per_million(),
            output.usd_per_million(),
            cache_read.usd_per_million(),
            cache_write.usd_per_million(),
        );
    }
    text
}

/// One model, a line for each thing that is known.
fn details(model: &Model) -> String {
    let counter = louver::tokens::CounterChoice::Auto.resolve(Some(model));
    let mut rows = vec![
        ("model", model.name.clone()),
        ("provider", model.provider.clone()),
        ("context window", format!("{} tokens", grouped(model.context_window))),
        ("writes at most", model.max_output.map_or("unknown".to_owned(), |most| format!("{} tokens", grouped(most)))),
        ("counted", super::explain::counted(&*counter)),
        ("prices", spoken(&model.prices)),
    ];
    for tier in &model.tiers {
        rows.push((
            "",
            format!("above {} tokens of input: {}", grouped(tier.above_input_tokens), spoken(&tier.prices)),
        ));
    }
    rows.push(("cached from", format!("{} tokens", grouped(model.cache_min_tokens))));
    rows.extend(model.retires.clone().map(|day| ("retires", day)));
    rows.into_iter().map(|(name, value)| format!("{name:<16}{value}\n")).collect()
}

fn spoken(prices: &Prices) -> String {
    format!(
        "input ${}, output ${}, cache read ${}, cache write ${} per million tokens",
        prices.input.usd_per_million(),
        prices.output.usd_per_million(),
        prices.cache_read.usd_per_million(),
        prices.cache_write.usd_per_million()
    )
}

fn value(model: &Model) -> Value {
    let prices = |prices: &Prices| {
        json!({
            "input": prices.input.usd_per_million(),
            "output": prices.output.usd_per_million(),
            "cache_read": prices.cache_read.usd_per_million(),
            "cache_write": prices.cache_write.usd_per_million(),
        })
    };
    let tier = |tier: &louver::catalog::Tier| json!({ "above_input_tokens": tier.above_input_tokens, "usd_per_million": prices(&tier.prices) });
    json!({
        "name": model.name,
        "provider": model.provider,
        "context_window": model.context_window,
        "max_output": model.max_output,
        "usd_per_million": prices(&model.prices),
        "tiers": model.tiers.iter().map(tier).collect::<Vec<_>>(),
        "cache_min_tokens": model.cache_min_tokens,
        "retires": model.retires,
    })
}
