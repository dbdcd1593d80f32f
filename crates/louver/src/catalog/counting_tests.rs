//! Which counter a choice and a model come to.

use super::*;
use crate::catalog::Catalog;
use crate::tokens::Image;

#[test]
fn auto_follows_the_model_and_names_do_not() {
    let name_for = |choice: CounterChoice, model: &str| {
        let found = Catalog::builtin().find(model).unwrap();
        choice.resolve(Some(&found.model)).name().to_owned()
    };
    let auto = |model| name_for(CounterChoice::Auto, model);
    assert_eq!(auto("gpt-4"), "cl100k");
    assert_eq!(auto("gpt-5.6-sol"), "o200k");
    assert_eq!(auto("claude-sonnet-4-5"), "claude-3 (estimate)");
    assert_eq!(auto("claude-sonnet-5"), "claude-4.7 (estimate)");
    assert_eq!(auto("gemini-2.5-pro"), "gemini (estimate)");
    assert_eq!(auto("deepseek-chat"), "other (estimate)");
    assert_eq!(name_for(CounterChoice::Chars4, "gpt-4"), "chars4");
}

#[test]
fn only_auto_counts_images_by_pixels() {
    let found = Catalog::builtin().find("gpt-4o").unwrap();
    let low = Image { detail: Some(crate::tokens::Detail::Low), ..Image::from_base64("AAAA") };
    let tokens = |choice: CounterChoice| choice.resolve(Some(&found.model)).image(&low).ceil_tokens();
    assert_eq!(tokens(CounterChoice::Auto), 85);
    assert_eq!(tokens(CounterChoice::O200k), 3);
}
