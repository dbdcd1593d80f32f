//! `trim --explain` for a policy that decides by price: its reasons in money.

use crate::printer::{dollars, grouped, plural};
use louver::catalog::Model;
use louver::plan::Trigger;
use louver::policy::Account;
use louver::tokens::Millitokens;

/// What was weighed, and what all requests so far came to.
pub(super) fn reasons(account: &Account, trigger: Option<Trigger>, model: Option<&Model>) -> Vec<String> {
    let money = |amount: Millitokens| spoken(amount, model);
    let removable = grouped(account.removable.ceil_tokens());
    let (rent, rewrite) = (money(account.rent), money(account.rewrite));
    let decision = match trigger {
        Some(Trigger::PaysOff) => format!(
            "It cut at this request: reading the {removable} tokens that could leave had cost {rent} since the last \
             cut, writing what stays anew costs {rewrite}, and the rest of the conversation can be expected to pay it \
             back."
        ),
        Some(Trigger::ColdCache) => format!(
            "It cut at this request because the cache has expired: everything is written anew anyway, and \
             {removable} tokens less of it."
        ),
        Some(_) => format!(
            "It had to cut at this request, whatever it costs: the window or a price step is reached. Writing what \
             stays anew costs {rewrite}."
        ),
        None if account.removable == Millitokens::ZERO => "It does not cut now: nothing could leave.".to_owned(),
        None => format!(
            "It does not cut now: reading the {removable} tokens that could leave has cost {rent} since the last cut, \
             writing what stays anew would cost {rewrite}, and a cut has to pay off."
        ),
    };
    let bill = format!(
        "With a request before each answer, this is request {}, with {} so far. Input came to {} in all; sending \
         everything every time would have come to {}.",
        grouped(u64::from(account.requests)),
        if account.cuts == 0 { "no cut".to_owned() } else { plural(account.cuts as usize, "cut") },
        money(account.spent),
        money(account.everything)
    );
    vec![decision, bill]
}

/// Dollars where the model's price is known, else as many input tokens.
fn spoken(amount: Millitokens, model: Option<&Model>) -> String {
    match model {
        Some(model) => dollars(model.prices.input.of(amount.ceil_tokens()).usd(), 4),
        None => format!("as much as {} input tokens", grouped(amount.ceil_tokens())),
    }
}

#[cfg(test)]
mod tests {
    use super::reasons;
    use louver::catalog::Catalog;
    use louver::plan::Trigger;
    use louver::policy::Account;
    use louver::tokens::Millitokens;

    #[test]
    fn reasons_are_told_in_dollars_or_in_tokens() {
        let account = Account {
            requests: 7,
            cuts: 1,
            everything: Millitokens::from_tokens(3_000_000),
            spent: Millitokens::from_tokens(1_000_000),
            removable: Millitokens::from_tokens(9_000),
            rent: Millitokens::from_tokens(2_000_000),
            rewrite: Millitokens::from_tokens(1_000_000),
        };
        let model = Catalog::builtin().find("claude-sonnet-4-5").unwrap().model;
        let told = reasons(&account, Some(Trigger::PaysOff), Some(&model)).join(" ");
        assert!(told.contains("9,000 tokens that could leave had cost $6.0000"), "{told}");
        assert!(told.contains("request 7") && told.contains("1 cut") && told.contains("$9.0000"), "{told}");
        let told = reasons(&account, None, None).join(" ");
        assert!(told.contains("does not cut now") && told.contains("as much as 1,000,000 input tokens"), "{told}");
    }
}
