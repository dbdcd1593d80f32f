//! Learned facts in PostgreSQL.

use super::PostgresStore;
use super::pool::Lane;
use super::session::Session;
use super::values::{counted, optional_count, text};
use crate::bounds::{bounded, count};
use crate::error::Error;
use crate::facts::{Facts, LIMIT_DAYS, LearnedFacts, LimitScope, ServedModel};
use crate::time::UnixMillis;
use async_trait::async_trait;
use louver::tokens::Factor;

#[async_trait]
impl Facts for PostgresStore {
    async fn facts(&self, scope: LimitScope, now: UnixMillis) -> Result<LearnedFacts, Error> {
        self.pool.run(Lane::Quick, (scope, now), |session, (scope, now)| Box::pin(facts(session, scope, *now))).await
    }

    async fn learn_calibration(&self, served: ServedModel, factor: Factor) -> Result<(), Error> {
        let sql = "INSERT INTO louver.served_models AS m (upstream, model, calibration_millionths) VALUES ($1, $2, $3)
            ON CONFLICT (upstream, model) DO UPDATE SET calibration_millionths = excluded.calibration_millionths
            WHERE m.calibration_millionths IS DISTINCT FROM excluded.calibration_millionths";
        self.learn(sql, served, count(factor.millionths())).await
    }

    async fn learn_limit(&self, scope: LimitScope, tokens: u64, now: UnixMillis) -> Result<(), Error> {
        scope.served.check()?;
        bounded("the beta's name", &scope.beta)?;
        let asked = (scope, count(tokens), now);
        self.pool
            .run(Lane::Quick, asked, |session, (scope, tokens, now)| {
                Box::pin(learn_limit(session, scope, *tokens, *now))
            })
            .await
    }

    async fn learn_accepted(&self, scope: LimitScope, input_tokens: u64) -> Result<bool, Error> {
        let asked = (scope, count(input_tokens));
        self.pool
            .run(Lane::Quick, asked, |session, (scope, tokens)| Box::pin(learn_accepted(session, scope, *tokens)))
            .await
    }

    async fn learn_answer(&self, served: ServedModel, output_tokens: u64) -> Result<(), Error> {
        let sql = "INSERT INTO louver.served_models AS m (upstream, model, longest_answer) VALUES ($1, $2, $3)
            ON CONFLICT (upstream, model) DO UPDATE SET longest_answer = excluded.longest_answer
            WHERE coalesce(m.longest_answer, -1) < excluded.longest_answer";
        self.learn(sql, served, count(output_tokens)).await
    }
}

impl PostgresStore {
    async fn learn(&self, sql: &'static str, served: ServedModel, value: i64) -> Result<(), Error> {
        served.check()?;
        self.pool
            .run(Lane::Quick, (sql, served, value), |session, (sql, served, value)| {
                Box::pin(learn(session, sql, served, *value))
            })
            .await
    }
}

async fn learn(session: &mut Session, sql: &str, served: &ServedModel, value: i64) -> Result<(), Error> {
    session.execute(sql, &[&text(&served.upstream), &text(&served.model), &value]).await.map(drop)
}

async fn learn_limit(session: &mut Session, scope: &LimitScope, tokens: i64, now: UnixMillis) -> Result<(), Error> {
    let sql = "INSERT INTO louver.context_limits (upstream, model, beta, credential, tokens, learned_ms)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (upstream, model, beta, credential)
            DO UPDATE SET tokens = excluded.tokens, learned_ms = excluded.learned_ms";
    let LimitScope { served, beta, credential } = scope;
    let (upstream, model, beta) = (text(&served.upstream), text(&served.model), text(beta));
    session.execute(sql, &[&upstream, &model, &beta, &&credential.0[..], &tokens, &now.0]).await.map(drop)
}

async fn learn_accepted(session: &mut Session, scope: &LimitScope, tokens: i64) -> Result<bool, Error> {
    let sql = "UPDATE louver.context_limits SET tokens = $5
        WHERE upstream = $1 AND model = $2 AND beta = $3 AND credential = $4 AND tokens < $5";
    let LimitScope { served, beta, credential } = scope;
    let (upstream, model, beta) = (text(&served.upstream), text(&served.model), text(beta));
    Ok(session.execute(sql, &[&upstream, &model, &beta, &&credential.0[..], &tokens]).await? > 0)
}

async fn facts(session: &mut Session, scope: &LimitScope, now: UnixMillis) -> Result<LearnedFacts, Error> {
    let LimitScope { served, beta, credential } = scope;
    let (upstream, model) = (text(&served.upstream), text(&served.model));
    let sql =
        "SELECT calibration_millionths, longest_answer FROM louver.served_models WHERE upstream = $1 AND model = $2";
    let (calibration, longest_answer) = match session.query_opt(sql, &[&upstream, &model]).await? {
        Some(row) => (optional_count(&row, 0)?, optional_count(&row, 1)?),
        None => (None, None),
    };
    let sql = "SELECT tokens FROM louver.context_limits
        WHERE upstream = $1 AND model = $2 AND beta = $3 AND credential = $4 AND learned_ms > $5";
    let oldest = now.plus_days(-LIMIT_DAYS).0;
    let row = session.query_opt(sql, &[&upstream, &model, &text(beta), &&credential.0[..], &oldest]).await?;
    let context_limit = row.map(|row| counted(&row, 0)).transpose()?;
    Ok(LearnedFacts { calibration: calibration.map(Factor::from_millionths), context_limit, longest_answer })
}
