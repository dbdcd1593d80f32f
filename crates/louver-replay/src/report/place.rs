//! When and where a conversation was, in the words that people know it by.

use super::RunRow;

/// How many letters of a file's name are enough to tell it from others.
const ENOUGH: usize = 20;

/// The day of a time in milliseconds since 1970, as in `2026-10-01`.
pub(crate) fn day(millis: Option<i64>) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(millis?).ok()?;
    Some(time.to_string()[..10].to_owned())
}

/// The last part of a path.
pub(crate) fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Day, project and file; where the record names no project, the folder that the file is in.
pub(crate) fn place(row: &RunRow) -> String {
    joined(row, bare(last_part(&row.file)).as_str())
}

/// The same with the middle of a long name left out: its end tells branches apart.
pub(crate) fn short_place(row: &RunRow) -> String {
    let name: Vec<char> = bare(last_part(&row.file)).chars().collect();
    if name.len() <= ENOUGH {
        return place(row);
    }
    let (start, end) = (&name[..ENOUGH / 2], &name[name.len() - (ENOUGH / 2 - 1)..]);
    joined(row, &start.iter().chain(&['…']).chain(end).collect::<String>())
}

fn joined(row: &RunRow, name: &str) -> String {
    let day = day(row.origin.last_time).map(|day| format!("{day} ")).unwrap_or_default();
    match row.origin.project.as_deref().map(last_part).filter(|project| !project.is_empty()) {
        Some(project) => format!("{day}{project} {name}"),
        None => match row.file.rsplit('/').nth(1).filter(|folder| !folder.is_empty()) {
            Some(folder) => format!("{day}{folder}/{name}"),
            None => format!("{day}{name}"),
        },
    }
}

/// A file's name without what every such file ends with; which conversation of the file it is stays.
fn bare(name: &str) -> String {
    let (file, part) = name.split_at(name.find('#').unwrap_or(name.len()));
    let stem = file.strip_suffix(".jsonl").or(file.strip_suffix(".json")).unwrap_or(file);
    format!("{stem}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_that_of_utc() {
        assert_eq!(day(Some(1_772_359_200_000)).as_deref(), Some("2026-03-01"));
        assert_eq!(day(None), None);
    }

    #[test]
    fn a_name_keeps_what_tells_parts_of_a_file_apart() {
        assert_eq!(bare("04bbdfc1.jsonl#branch-1"), "04bbdfc1#branch-1");
        assert_eq!((bare("a.json").as_str(), bare("stdin").as_str()), ("a", "stdin"));
        assert_eq!((last_part("/work/shop/"), last_part("shop")), ("shop", "shop"));
    }
}
