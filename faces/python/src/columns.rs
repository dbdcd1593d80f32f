//! Replay's rows as Arrow columns.

use arrow_array::{ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};
use louver::plain_text::Speaker;
use louver_replay::report::RunRow;
use louver_replay::retention::Age;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What stands in a column. Counts are signed: Spark knows no others.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Count,
    Number,
    Texts,
    Counts,
    /// Counts by how they are billed.
    Tokens,
    /// Dollars by what they were paid for.
    Dollars,
    /// Shares by age.
    Ages,
    /// Shares by who said it.
    Speakers,
}

/// The fields of a row in the order in which it is written; what a row leaves out is null.
const COLUMNS: &[(&str, Kind)] = &[
    ("file", Kind::Text),
    ("format", Kind::Text),
    ("model", Kind::Text),
    ("policy", Kind::Text),
    ("requests", Kind::Count),
    ("cost_usd", Kind::Number),
    ("baseline", Kind::Text),
    ("baseline_usd", Kind::Number),
    ("baseline_overflows", Kind::Count),
    ("saving", Kind::Number),
    ("saving_of_paid", Kind::Number),
    ("saving_after_recall", Kind::Number),
    ("saving_after_recall_passage", Kind::Number),
    ("saving_after_found_recall", Kind::Number),
    ("saving_after_found_recall_passage", Kind::Number),
    ("input_saving_after_found_recall", Kind::Number),
    ("input_saving_after_found_recall_passage", Kind::Number),
    ("saving_after_reread", Kind::Number),
    ("recalls_per_request", Kind::Number),
    ("everything_usd", Kind::Number),
    ("everything_input_usd", Kind::Number),
    ("recorded_usd", Kind::Number),
    ("simulated_over_recorded", Kind::Number),
    ("regret", Kind::Number),
    ("overflows", Kind::Count),
    ("illegal", Kind::Count),
    ("inherited", Kind::Count),
    ("prefix_stability", Kind::Number),
    ("hit_rate", Kind::Number),
    ("tokens_kept", Kind::Number),
    ("recall_window", Kind::Number),
    ("recall_line", Kind::Number),
    ("recall_line_intact", Kind::Number),
    ("recall_line_old", Kind::Number),
    ("recall_passage", Kind::Number),
    ("recall_retrievable", Kind::Number),
    ("edit_recall", Kind::Number),
    ("user_recall", Kind::Number),
    ("cuts", Kind::Count),
    ("redundancy", Kind::Number),
    ("input_usd", Kind::Number),
    ("baseline_input_usd", Kind::Number),
    ("optimum_input_usd", Kind::Number),
    ("floor_tokens", Kind::Count),
    ("tokens", Kind::Tokens),
    ("usd", Kind::Dollars),
    ("recall_by_age", Kind::Ages),
    ("line_by_age", Kind::Ages),
    ("passage_by_age", Kind::Ages),
    ("recall_by_origin", Kind::Speakers),
    ("counter", Kind::Text),
    ("counter_factor", Kind::Number),
    ("overhead_tokens", Kind::Count),
    ("cache_life_seconds", Kind::Counts),
    ("context_window", Kind::Count),
    ("session", Kind::Text),
    ("project", Kind::Text),
    ("last_time", Kind::Count),
    ("warnings", Kind::Texts),
    ("micros_per_request", Kind::Number),
];

/// How input and output are billed.
const BILLED: [&str; 4] = ["uncached", "written", "read", "output"];

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Count => DataType::Int64,
            Self::Number => DataType::Float64,
            Self::Texts => DataType::new_list(DataType::Utf8, true),
            Self::Counts => DataType::new_list(DataType::Int64, true),
            Self::Tokens => of_each(&BILLED, &DataType::Int64),
            Self::Dollars => of_each(&BILLED, &DataType::Float64),
            Self::Ages => of_each(&Age::ALL.map(Age::name), &DataType::Float64),
            Self::Speakers => of_each(&Speaker::ALL.map(Speaker::name), &DataType::Float64),
        }
    }
}

fn of_each(names: &[&str], data_type: &DataType) -> DataType {
    DataType::Struct(names.iter().map(|name| Field::new(*name, data_type.clone(), true)).collect())
}

/// The columns: the same for every replay, so that tables of many can be put together.
pub(crate) fn schema() -> Schema {
    Schema::new(COLUMNS.iter().map(|(name, kind)| Field::new(*name, kind.data_type(), true)).collect::<Fields>())
}

/// Rows as columns, by what they are as JSON: nothing is said twice.
pub(crate) fn batch(rows: &[RunRow]) -> Result<RecordBatch, ArrowError> {
    let rows = rows.iter().map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
    let rows = rows.map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
    let schema = schema();
    let columns = schema.fields().iter().map(|field| {
        let values: Vec<Option<&Value>> = rows.iter().map(|row| row.get(field.name())).collect();
        column(field.data_type(), &values)
    });
    let columns = columns.collect::<Result<_, _>>()?;
    RecordBatch::try_new(Arc::new(schema), columns)
}

fn column(data_type: &DataType, values: &[Option<&Value>]) -> Result<ArrayRef, ArrowError> {
    Ok(match data_type {
        DataType::Utf8 => {
            Arc::new(values.iter().map(|value| value.and_then(Value::as_str)).collect::<StringArray>()) as ArrayRef
        }
        DataType::Int64 => Arc::new(values.iter().map(|value| value.and_then(Value::as_i64)).collect::<Int64Array>()),
        DataType::Float64 => {
            Arc::new(values.iter().map(|value| value.and_then(Value::as_f64)).collect::<Float64Array>())
        }
        DataType::List(item) => {
            let lists: Vec<Option<&Vec<Value>>> = values.iter().map(|value| value.and_then(Value::as_array)).collect();
            let items: Vec<Option<&Value>> = lists.iter().flatten().flat_map(|list| list.iter().map(Some)).collect();
            let offsets = OffsetBuffer::from_lengths(lists.iter().map(|list| list.map_or(0, Vec::len)));
            let nulls: NullBuffer = lists.iter().map(Option::is_some).collect();
            Arc::new(ListArray::try_new(Arc::clone(item), offsets, column(item.data_type(), &items)?, Some(nulls))?)
        }
        DataType::Struct(fields) => {
            let objects: Vec<Option<&Map<String, Value>>> =
                values.iter().map(|value| value.and_then(Value::as_object)).collect();
            let children = fields.iter().map(|field| {
                let members = objects.iter().map(|object| object.and_then(|object| object.get(field.name())));
                column(field.data_type(), &members.collect::<Vec<_>>())
            });
            let nulls: NullBuffer = objects.iter().map(Option::is_some).collect();
            let children = children.collect::<Result<_, _>>()?;
            Arc::new(StructArray::try_new_with_length(fields.clone(), children, Some(nulls), objects.len())?)
        }
        other => return Err(ArrowError::NotYetImplemented(format!("a column of {other}"))),
    })
}
