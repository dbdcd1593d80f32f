//! One connection, and the statements that it has prepared.

use crate::error::Error;
use std::collections::HashMap;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

/// What a statement is given.
pub(super) type Values<'v> = &'v [&'v (dyn ToSql + Sync)];

/// A connection.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Client,
    statements: HashMap<Box<str>, Statement>,
}

impl Session {
    pub(super) fn new(client: Client) -> Self {
        Self { client, statements: HashMap::new() }
    }

    /// A statement, prepared once.
    pub(super) async fn statement(&mut self, sql: &str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    pub(super) async fn query(&mut self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        let statement = self.statement(sql).await?;
        Ok(self.client.query(&statement, values).await?)
    }

    pub(super) async fn query_one(&mut self, sql: &str, values: Values<'_>) -> Result<Row, Error> {
        let statement = self.statement(sql).await?;
        Ok(self.client.query_one(&statement, values).await?)
    }

    pub(super) async fn query_opt(&mut self, sql: &str, values: Values<'_>) -> Result<Option<Row>, Error> {
        let statement = self.statement(sql).await?;
        Ok(self.client.query_opt(&statement, values).await?)
    }

    /// Says how many rows were changed.
    pub(super) async fn execute(&mut self, sql: &str, values: Values<'_>) -> Result<u64, Error> {
        let statement = self.statement(sql).await?;
        Ok(self.client.execute(&statement, values).await?)
    }

    /// Statements without values.
    pub(super) async fn batch(&mut self, sql: &str) -> Result<(), Error> {
        Ok(self.client.batch_execute(sql).await?)
    }

    /// The numbers that a query finds.
    pub(super) async fn numbers(&mut self, sql: &str, values: Values<'_>) -> Result<Vec<i64>, Error> {
        let rows = self.query(sql, values).await?;
        Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
    }
}
