//! Learned facts in SQLite.

use super::SqliteStore;
use super::values::counted;
use crate::bounds::{bounded, count};
use crate::error::Error;
use crate::facts::{Facts, LIMIT_DAYS, LearnedFacts, LimitScope, ServedModel};
use crate::time::UnixMillis;
use async_trait::async_trait;
use louver::tokens::Factor;
use rusqlite::{Connection, OptionalExtension, params};

#[async_trait]
impl Facts for SqliteStore {
    async fn facts(&self, scope: LimitScope, now: UnixMillis) -> Result<LearnedFacts, Error> {
        self.reads.ask(move |connection| facts(connection, &scope, now)).await
    }

    async fn learn_calibration(&self, served: ServedModel, factor: Factor) -> Result<(), Error> {
        served.check()?;
        let sql = "INSERT INTO served_models (upstream, model, calibration_millionths) VALUES (?1, ?2, ?3)
            ON CONFLICT (upstream, model) DO UPDATE SET calibration_millionths = excluded.calibration_millionths
            WHERE calibration_millionths IS NOT excluded.calibration_millionths";
        self.learn(sql, served, count(factor.millionths())).await
    }

    async fn learn_limit(&self, scope: LimitScope, tokens: u64, now: UnixMillis) -> Result<(), Error> {
        scope.served.check()?;
        bounded("the beta's name", &scope.beta)?;
        let sql = "INSERT INTO context_limits (upstream, model, beta, credential, tokens, learned_ms)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT DO UPDATE SET tokens = excluded.tokens, learned_ms = excluded.learned_ms";
        let learn = move |connection: &Connection| {
            let LimitScope { served, beta, credential } = &scope;
            let values = params![served.upstream, served.model, beta, credential.0, count(tokens), now.0];
            connection.prepare_cached(sql)?.execute(values)?;
            Ok(())
        };
        self.writes.ask(learn).await
    }

    async fn learn_accepted(&self, scope: LimitScope, input_tokens: u64) -> Result<bool, Error> {
        let sql = "UPDATE context_limits SET tokens = ?5
            WHERE upstream = ?1 AND model = ?2 AND beta = ?3 AND credential = ?4 AND tokens < ?5";
        let learn = move |connection: &Connection| {
            let LimitScope { served, beta, credential } = &scope;
            let values = params![served.upstream, served.model, beta, credential.0, count(input_tokens)];
            Ok(connection.prepare_cached(sql)?.execute(values)? > 0)
        };
        self.writes.ask(learn).await
    }

    async fn learn_answer(&self, served: ServedModel, output_tokens: u64) -> Result<(), Error> {
        served.check()?;
        let sql = "INSERT INTO served_models (upstream, model, longest_answer) VALUES (?1, ?2, ?3)
            ON CONFLICT (upstream, model) DO UPDATE SET longest_answer = excluded.longest_answer
            WHERE coalesce(longest_answer, -1) < excluded.longest_answer";
        self.learn(sql, served, count(output_tokens)).await
    }
}

impl SqliteStore {
    async fn learn(&self, sql: &'static str, served: ServedModel, value: i64) -> Result<(), Error> {
        let learn = move |connection: &Connection| {
            connection.prepare_cached(sql)?.execute(params![served.upstream, served.model, value])?;
            Ok(())
        };
        self.writes.ask(learn).await
    }
}

fn facts(connection: &Connection, scope: &LimitScope, now: UnixMillis) -> Result<LearnedFacts, Error> {
    let LimitScope { served, beta, credential } = scope;
    let model = "SELECT calibration_millionths, longest_answer FROM served_models WHERE upstream = ?1 AND model = ?2";
    let model = connection.prepare_cached(model)?.query_row(params![served.upstream, served.model], |row| {
        Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
    });
    let (calibration, longest_answer) = model.optional()?.unwrap_or_default();
    let limit = "SELECT tokens FROM context_limits
        WHERE upstream = ?1 AND model = ?2 AND beta = ?3 AND credential = ?4 AND learned_ms > ?5";
    let oldest = now.plus_days(-LIMIT_DAYS).0;
    let values = params![served.upstream, served.model, beta, credential.0, oldest];
    let context_limit = connection.prepare_cached(limit)?.query_row(values, |row| counted(row, 0)).optional()?;
    let unsigned = |number: i64| u64::try_from(number).unwrap_or_default();
    Ok(LearnedFacts {
        calibration: calibration.map(unsigned).map(Factor::from_millionths),
        context_limit,
        longest_answer: longest_answer.map(unsigned),
    })
}
