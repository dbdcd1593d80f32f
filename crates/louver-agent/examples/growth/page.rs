//! The figures in the text of the page.

use crate::measure::{Api, ITERATIONS, Run};

const BEGIN: &str = "<!-- figures: written by the example `growth` -->\n";
const END: &str = "<!-- end of figures -->";

/// The page with its table written anew.
pub(crate) fn with_figures(page: &str, runs: &[Run]) -> Result<String, &'static str> {
    let (before, rest) = page.split_once(BEGIN).ok_or("the page has no place for figures")?;
    let (_, after) = rest.split_once(END).ok_or("the place for figures has no end")?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", table(runs)))
}

fn table(runs: &[Run]) -> String {
    let mut text =
        "\n| | kept | messages after 5 iterations | 10 | 20 | tokens after 5 iterations | 10 | 20 | tokens sent in \
                    all | of these from the cache | input, USD | without a cache |\n\
                    |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for run in runs {
        let at = |iteration: usize| &run.rows[iteration - 1];
        let last = at(ITERATIONS);
        let moments = [5, 10, ITERATIONS];
        let messages = moments.map(|iteration| at(iteration).messages.to_string());
        let tokens = moments.map(|iteration| grouped(at(iteration).tokens));
        text += &format!(
            "| {} | {} | {} | {} | {} | {} % | {:.2} | {:.2} |\n",
            title(run.api),
            run.kept.name(),
            messages.join(" | "),
            tokens.join(" | "),
            grouped(last.sent_tokens),
            last.read_tokens * 100 / last.sent_tokens,
            last.cost.usd(),
            last.uncached_cost.usd()
        );
    }
    text + "\n"
}

/// How a provider is called on the page.
pub(crate) fn title(api: Api) -> &'static str {
    match api {
        Api::Anthropic => "Anthropic Messages",
        Api::OpenAi => "OpenAI Chat Completions",
    }
}

/// A number with a comma before every three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
