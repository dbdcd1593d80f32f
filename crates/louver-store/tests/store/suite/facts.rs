use super::{NOW, Tested};
use louver::tokens::Factor;
use louver_store::{CredentialHash, LearnedFacts, LimitScope, ServedModel};

fn served(upstream: &str, model: &str) -> ServedModel {
    ServedModel { upstream: upstream.to_owned(), model: model.to_owned() }
}

fn scope(beta: &str, credential: u8) -> LimitScope {
    LimitScope {
        served: served("anthropic", "sonnet"),
        beta: beta.to_owned(),
        credential: CredentialHash([credential; 32]),
    }
}

pub(crate) async fn facts_are_kept_apart(store: Tested<'_>) {
    assert_eq!(store.facts(scope("", 1), NOW).await.unwrap(), LearnedFacts::default());
    let factor = Factor::from_millionths(1_234_567);
    store.learn_calibration(served("anthropic", "sonnet"), Factor::ONE).await.unwrap();
    store.learn_calibration(served("anthropic", "sonnet"), factor).await.unwrap();
    store.learn_calibration(served("anthropic", "opus"), Factor::from_millionths(2)).await.unwrap();
    store.learn_calibration(served("openai", "sonnet"), Factor::from_millionths(3)).await.unwrap();
    store.learn_limit(scope("", 1), 200_000, NOW).await.unwrap();
    store.learn_limit(scope("context-1m", 1), 1_000_000, NOW).await.unwrap();
    let facts = |context_limit| LearnedFacts { calibration: Some(factor), context_limit, longest_answer: None };
    assert_eq!(store.facts(scope("", 1), NOW).await.unwrap(), facts(Some(200_000)));
    assert_eq!(store.facts(scope("context-1m", 1), NOW).await.unwrap(), facts(Some(1_000_000)));
    assert_eq!(store.facts(scope("", 2), NOW).await.unwrap(), facts(None));
}

pub(crate) async fn a_limit_is_raised_and_forgotten(store: Tested<'_>) {
    let limit = async |days| store.facts(scope("", 1), NOW.plus_days(days)).await.unwrap().context_limit;
    assert!(!store.learn_accepted(scope("", 1), 5).await.unwrap());
    assert_eq!(limit(0).await, None);
    store.learn_limit(scope("", 1), 1_000, NOW).await.unwrap();
    assert!(!store.learn_accepted(scope("", 1), 1_000).await.unwrap());
    assert!(store.learn_accepted(scope("", 1), 1_500).await.unwrap());
    assert!(!store.learn_accepted(scope("", 2), 9_000).await.unwrap());
    assert_eq!((limit(0).await, limit(6).await, limit(7).await), (Some(1_500), Some(1_500), None));
    // A clock that was set back forgets nothing, and a new word counts anew.
    assert_eq!(limit(-30).await, Some(1_500));
    store.learn_limit(scope("", 1), 800, NOW.plus_days(8)).await.unwrap();
    assert_eq!((limit(8).await, limit(14).await, limit(15).await), (Some(800), Some(800), None));
}

pub(crate) async fn the_longest_answer_counts(store: Tested<'_>) {
    for tokens in [300, 9_000, 20, 8_999] {
        store.learn_answer(served("anthropic", "sonnet"), tokens).await.unwrap();
    }
    store.learn_answer(served("anthropic", "opus"), 64_000).await.unwrap();
    assert_eq!(store.facts(scope("", 1), NOW).await.unwrap().longest_answer, Some(9_000));
}
