#![cfg(feature = "catalog")]

use super::*;
use crate::catalog::{CacheKind, Price, Prices, ThinkingBinding, Traits};
use crate::tokens::{ImageFormula, Tokenizer};
use proptest::prelude::*;

fn model(name: &str) -> Model {
    Catalog::builtin().find(name).unwrap_or_else(|| panic!("{name}")).model.into_owned()
}

/// What a name resolves to, and whether with a warning.
fn resolved(name: &str) -> Option<(String, bool)> {
    let found = Catalog::builtin().find(name)?;
    Some((found.model.name.clone(), found.warning.is_some()))
}

/// Names that real conversations carry, and what they resolve to.
const EXACT: &[(&str, &str)] = &[
    ("claude-fable-5", "claude-fable-5"),
    ("claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"),
    ("claude-opus-4-5", "claude-opus-4-5"),
    ("claude-opus-4-5-20251101", "claude-opus-4-5-20251101"),
    ("claude-opus-4-6", "claude-opus-4-6"),
    ("claude-opus-4-8", "claude-opus-4-8"),
    ("claude-sonnet-4-20250514", "claude-sonnet-4-20250514"),
    ("claude-3-5-sonnet-20241022", "claude-3-5-sonnet-20241022"),
    ("claude-sonnet-4-5", "claude-sonnet-4-5"),
    ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
    ("claude-sonnet-4-6", "claude-sonnet-4-6"),
    ("claude-sonnet-5", "claude-sonnet-5"),
    ("deepseek/deepseek-chat", "deepseek/deepseek-chat"),
    ("deepseek/deepseek-reasoner", "deepseek/deepseek-reasoner"),
    ("gemini-2.5-flash", "gemini/gemini-2.5-flash"),
    ("gemini-2.5-pro", "gemini/gemini-2.5-pro"),
    ("gemini-3-flash-preview", "gemini/gemini-3-flash-preview"),
    ("gpt-4", "gpt-4"),
    ("gpt-4.1", "gpt-4.1"),
    ("gpt-4.1-mini", "gpt-4.1-mini"),
    ("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini-2025-04-14"),
    ("gpt-4o", "gpt-4o"),
    ("gpt-5", "gpt-5"),
    ("gpt-5-mini", "gpt-5-mini"),
    ("gpt-5.2", "gpt-5.2"),
    ("gpt-5.4", "gpt-5.4"),
    ("gpt-5.4-mini", "gpt-5.4-mini"),
    ("gpt-5.5", "gpt-5.5"),
    ("gpt-5.6-sol", "gpt-5.6-sol"),
    ("o4-mini", "o4-mini"),
];

/// Names of models that are gone, and what stands in.
const STAND_INS: &[(&str, &str)] = &[
    ("claude-sonnet-4-0", "claude-sonnet-4-20250514"),
    ("gemini-2.0-flash", "gemini-flash-latest"),
    ("gemini-3-pro-preview", "gemini/gemini-2.5-pro"),
];

/// Open weights without a listed price, people, and a tool around a model.
const UNKNOWN: &[&str] = &["gpt-oss-120b", "replay/human demo", "human/gpt-4 demo", "aide-gpt-5"];

#[test]
fn names_in_real_conversations_resolve_but_for_a_few() {
    for (name, expected) in EXACT {
        assert_eq!(resolved(name), Some((expected.to_string(), false)), "{name}");
    }
    for (name, expected) in STAND_INS {
        assert_eq!(resolved(name), Some((expected.to_string(), true)), "{name}");
    }
    for name in UNKNOWN {
        assert_eq!(resolved(name), None, "{name}");
    }
}

#[test]
fn every_model_finds_itself() {
    for model in Catalog::builtin().models() {
        let found = Catalog::builtin().find(&model.name).unwrap();
        assert_eq!(found, Found { model: Cow::Borrowed(model), warning: None });
    }
}

#[test]
fn prefixes_dates_and_spellings_do_not_matter() {
    for (name, expected) in [
        ("anthropic/claude-opus-4-8", "claude-opus-4-8"),
        ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("claude-opus-4-8-20260601", "claude-opus-4-8"),
        ("claude-opus-4-8@20260601", "claude-opus-4-8"),
        ("claude-opus-5-5-latest", "claude-opus-5-5"),
        ("openai/gpt-5.2", "gpt-5.2"),
        ("gpt-5.4-2027-01-01", "gpt-5.4"),
        ("gpt-4-0314", "gpt-4"),
        ("models/gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("google/gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("deepseek-r1", "deepseek/deepseek-r1"),
        ("ft:gpt-4o-2024-08-06:someone::id7", "ft:gpt-4o-2024-08-06"),
        (" GPT-4o ", "gpt-4o"),
    ] {
        assert_eq!(resolved(name), Some((expected.to_owned(), false)), "{name}");
    }
}

#[test]
fn a_family_stands_in_with_its_own_version_or_the_one_below() {
    for (name, expected) in [
        ("claude-4-5-sonnet", "claude-sonnet-4-5"),
        ("gemini-2.5-pro-preview-06-05", "gemini/gemini-2.5-pro"),
        ("claude-sonnet-4-4-thinking", "claude-sonnet-4-20250514"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ("claude-sonnet", "claude-sonnet-4-5"),
        ("claude-opus-9", "claude-opus-5-5"),
        ("gpt-7-sol", "gpt-6.1-sol"),
        ("o5-mini", "o4-mini"),
        ("grok-9", "xai/grok-4.7"),
        ("deepseek-v5-pro", "deepseek-v4-pro"),
    ] {
        assert_eq!(resolved(name), Some((expected.to_owned(), true)), "{name}");
    }
    for name in ["", " ", "-", "/", "4.5", "preview", "llama-4-maverick", "20251101"] {
        assert_eq!(resolved(name), None, "{name:?}");
    }
}

#[test]
fn a_stand_in_keeps_the_traits_of_the_name_asked_for_but_binds_thinking_as_its_family_may() {
    let asked = model("claude-sonnet-4-4");
    assert_eq!(asked.name, "claude-sonnet-4-20250514");
    let Traits { thinking, .. } = asked.traits;
    assert_eq!(thinking, ThinkingBinding::Prefix, "as the strictest of its family");
    assert_eq!(Traits { thinking: ThinkingBinding::OpenTurn, ..asked.traits }, model("claude-sonnet-4-5").traits);
}

#[test]
fn a_stand_in_has_the_smallest_window_and_the_dearest_prices_of_its_family() {
    let of = |family: &str| Catalog::builtin().models().filter(|model| model.name.contains(family)).cloned().collect();
    let sonnets: Vec<Model> = of("sonnet");
    for name in ["claude-sonnet-4-4", "claude-sonnet-9", "claude-sonnet"] {
        let asked = model(name);
        for tokens in [1, 150_000, 250_000, 900_000] {
            let prices = asked.prices_at(tokens);
            let dearest =
                |price: fn(&Prices) -> Price| sonnets.iter().map(|model| price(model.prices_at(tokens))).max();
            assert!(Some(prices.input) >= dearest(|prices| prices.input), "{name} at {tokens}");
            assert!(Some(prices.output) >= dearest(|prices| prices.output), "{name} at {tokens}");
        }
    }
    assert_eq!(model("claude-sonnet").context_window, sonnets.iter().map(|model| model.context_window).min().unwrap());
    let warning = Catalog::builtin().find("claude-sonnet-4-4").unwrap().warning.unwrap().to_string();
    assert!(warning.contains("200000 tokens") && warning.contains("`claude-sonnet-4-20250514`"), "{warning}");
}

#[test]
fn thinking_is_bound_as_the_wire_rules_say() {
    let bound = |binding| {
        let models = Catalog::builtin().models().filter(|model| model.traits.thinking == binding);
        models.map(|model| model.name.as_str()).collect::<Vec<_>>()
    };
    let prefix = ["claude-fable-5-1", "claude-haiku-5-5", "claude-opus-5-5", "claude-sonnet-5-5"];
    assert_eq!(bound(ThinkingBinding::Prefix), prefix);
    let open_turn = [
        "claude-3-7-sonnet-20250219",
        "claude-haiku-4-5",
        "claude-haiku-4-5-20251001",
        "claude-opus-4-1-20250805",
        "claude-opus-4-20250514",
        "claude-opus-4-5",
        "claude-opus-4-5-20251101",
        "claude-opus-4-6",
        "claude-opus-4-6-20260205",
        "claude-sonnet-4-20250514",
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-6",
    ];
    assert_eq!(bound(ThinkingBinding::OpenTurn), open_turn);
}

#[test]
fn claude_models_differ_as_the_wire_rules_say() {
    let traits = |name| {
        let traits = model(name).traits;
        (traits.tokenizer, traits.refuses_prefill, traits.system_in_messages)
    };
    assert_eq!(traits("claude-haiku-4-5"), (Tokenizer::Claude3, false, false));
    assert_eq!(traits("claude-sonnet-4-6"), (Tokenizer::Claude3, true, false));
    assert_eq!(traits("claude-opus-4-7-20260416"), (Tokenizer::Claude47, true, false));
    assert_eq!(traits("claude-opus-4-8"), (Tokenizer::Claude47, true, true));
    assert_eq!(traits("claude-fable-5"), (Tokenizer::Claude47, true, true));
    assert_eq!(model("claude-opus-5").traits.cache_kind, CacheKind::Explicit);
}

#[test]
fn openai_models_differ_as_the_wire_rules_say() {
    let cache = |name| {
        let model = model(name);
        (model.cache_min_tokens, model.traits.cache_step_tokens, model.traits.cache_kind)
    };
    for older in ["gpt-4o", "gpt-4.1", "gpt-5.5", "o3", "ft:gpt-4o-2024-08-06", "chat-latest"] {
        assert_eq!(cache(older), (1024, 128, CacheKind::Automatic), "{older}");
    }
    for newer in ["gpt-5.6", "gpt-5.6-sol", "gpt-6.1-sol", "daybreak-blue-latest"] {
        assert_eq!(cache(newer), (1024, 1, CacheKind::Automatic), "{newer}");
    }
    let tokenizer = |name| model(name).traits.tokenizer;
    for old in ["gpt-4", "gpt-4-0613", "gpt-4-turbo-2024-04-09", "gpt-3.5-turbo", "ft:gpt-3.5-turbo"] {
        assert_eq!(tokenizer(old), Tokenizer::Cl100k, "{old}");
    }
    for new in ["gpt-4o", "gpt-4.1", "gpt-4.1-mini", "gpt-5", "o1", "gpt-6-astra", "ft:gpt-4.1-2025-04-14"] {
        assert_eq!(tokenizer(new), Tokenizer::O200k, "{new}");
    }
}

#[test]
fn image_formulas_follow_the_model() {
    let tiles = |base, tile| ImageFormula::Tiles512 { base, tile };
    let patches =
        |factor_thousandths| ImageFormula::Patches32 { max_patches: 1536, max_original: 1536, factor_thousandths };
    for (name, expected) in [
        ("gpt-4o", tiles(85, 170)),
        ("gpt-4o-mini", tiles(2833, 5667)),
        ("gpt-4.1", tiles(85, 170)),
        ("gpt-5", tiles(70, 140)),
        ("gpt-5-2025-08-07", tiles(70, 140)),
        ("gpt-5.1-codex", tiles(70, 140)),
        ("o3", tiles(75, 150)),
        ("gpt-4.1-mini", patches(1620)),
        ("gpt-5-nano", patches(2460)),
        ("o4-mini", patches(1720)),
        ("gpt-5.2", patches(1000)),
        ("claude-sonnet-4-5", ImageFormula::Area { max_edge: 1568, max_tokens: 1600 }),
        ("gemini-2.5-flash", ImageFormula::Tiles768 { tile: 258 }),
        ("mistral/mistral-large-4", ImageFormula::DataLength),
    ] {
        assert_eq!(model(name).traits.image, expected, "{name}");
    }
}

#[test]
fn smallest_cached_prefixes_come_from_the_table_or_the_rules() {
    for (name, expected) in [
        ("claude-opus-4-5", 4096),
        ("claude-sonnet-5", 1024),
        ("gemini-2.5-pro", 2048),
        ("gemini-2.5-flash", 1024),
        ("gemini-3-flash-preview", 1024),
        ("gemini-3.5-flash-lite", 4096),
        ("gemini/gemini-4-argon", 4096),
    ] {
        assert_eq!(model(name).cache_min_tokens, expected, "{name}");
    }
}

#[test]
fn the_table_is_sound() {
    for model in Catalog::builtin().models() {
        let Model { prices, tiers, name, .. } = model;
        let ordered = |prices: &Prices| {
            prices.cache_read <= prices.input
                && prices.input <= prices.cache_write
                && prices.cache_write <= prices.cache_write_1h
        };
        assert!(model.context_window > 0, "{name}");
        assert!(ordered(prices) && tiers.iter().all(|tier| ordered(&tier.prices)), "{name}");
        assert!(tiers.is_sorted_by_key(|tier| tier.above_input_tokens), "{name}");
    }
    assert_eq!(model("mistral/mistral-large-4").max_output, None);
    assert_eq!(model("claude-sonnet-4-5").retires.as_deref(), Some("2026-11-30"));
}

#[test]
fn a_tier_applies_to_the_whole_request_above_its_size() {
    let model = model("gpt-6.1-sol");
    assert_eq!(model.prices_at(0), &model.prices);
    assert_eq!(model.prices_at(272_000), &model.prices);
    assert_eq!(model.prices_at(272_001), &model.tiers[0].prices);
    assert_eq!(model.prices_at(u64::MAX).cache_write.usd_per_million(), 5.0);
}

#[test]
fn malformed_tables_are_refused() {
    let traits = include_str!("traits.json");
    let error = |models: &str| Catalog::from_json(models, traits).unwrap_err().to_string();
    assert_eq!(error("[]"), "the table of models cannot be read");
    let without_price =
        r#"{"m": {"provider": "p", "context_window": 1, "max_output": 1, "usd_per_million": {"input": 1}}}"#;
    assert_eq!(error(without_price), "model `m` has no usable prices");
    let without_window = without_price.replace("\"context_window\": 1", "\"context_window\": null");
    assert_eq!(error(&without_window), "model `m` has no context window");
    let fraction = without_price.replace("\"context_window\": 1", "\"context_window\": 1.5");
    assert!(matches!(Catalog::from_json(&fraction, traits), Err(CatalogError::Models(_))));
    assert!(matches!(Catalog::from_json("{}", "{}"), Err(CatalogError::Traits(_))));
}

#[test]
fn endless_prefixes_and_dates_neither_overflow_nor_hang() {
    let long = "anthropic/".repeat(100_000) + "claude-opus-5" + &"-latest".repeat(100_000);
    assert_eq!(resolved(&long), Some(("claude-opus-5".to_owned(), false)));
}

proptest! {
    #[test]
    fn no_name_panics(name in "\\PC{0,40}") {
        let _ = Catalog::builtin().find(&name);
    }

    #[test]
    fn no_likely_name_panics(name in "[a-c/@:.0-9v-]{0,30}") {
        let _ = Catalog::builtin().find(&name);
    }
}
