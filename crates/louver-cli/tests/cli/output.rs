//! Files appear whole or not at all; streams that go away are no accident.

use crate::{louver, root};
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn a_file_takes_the_place_of_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let run = louver(&format!("trim examples/agent.json --max-messages 30 -o {}", out.display()));
    assert_eq!(run.done(), "");
    assert_eq!(fs::read_to_string(&out).unwrap(), louver("trim examples/agent.json --max-messages 30").stdout);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    for command in ["check", "repair", "inspect"] {
        louver(&format!("{command} examples/chat.json -o {}", out.display())).done();
        assert_eq!(fs::read_to_string(&out).unwrap(), louver(&format!("{command} examples/chat.json")).stdout);
    }
}

#[test]
fn a_file_can_be_trimmed_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.json");
    fs::copy(root().join("examples/agent.json"), &file).unwrap();
    louver(&format!("trim {0} --max-messages 30 -o {0}", file.display())).done();
    assert!(fs::metadata(&file).unwrap().len() < 30_000);
}

#[test]
fn an_error_leaves_the_old_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    fs::write(&out, "old").unwrap();
    let report = folder.path().join("no/such/folder/report.json");
    let run = louver(&format!("trim examples/agent.json -o {} --report {}", out.display(), report.display()));
    assert!(run.refused().ends_with("report.json: no such file or directory"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&out).unwrap(), "old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(louver(&format!("trim examples/agent.json -o {}", folder.path().display())).code, 2);
}

#[cfg(unix)]
#[test]
fn a_file_keeps_its_mode_and_a_link_stays_a_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    louver(&format!("trim examples/chat.json -o {}", link.display())).done();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(&file).unwrap().starts_with('{'));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_a_device_is_written_to() {
    assert_eq!(louver("trim examples/chat.json -o /dev/full").refused(), "/dev/full: no space left on device");
    assert_eq!(louver("trim examples/chat.json -q -o /dev/null").code, 0);
}

#[test]
fn a_reader_that_goes_away_is_no_accident() {
    let mut child = Command::new(cargo_bin!("louver"))
        .args(["inspect", "--color", "always", "examples/agent.json"])
        .current_dir(root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}
