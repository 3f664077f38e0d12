//! Reports that `diff` gets.

use super::assert_refused;
use crate::support::Folder;

#[test]
fn reports_to_compare() {
    let report = |experiment: &str, charged: u64| {
        format!(
            "{{\"schema\":1,\"experiment\":\"{experiment}\",\"config_hash\":\"\",\"ledger\":{{\"v\":{{\
             \"elapsed_thread_cycles\":9,\"charges\":[{{\"owner\":\"idle\",\"function\":\"f\",\"offset\":0,\
             \"instruction\":\"\",\"cause\":\"wait.stop\",\"indirect\":false,\"cycles\":{charged}}}]}}}}}}"
        )
    };
    let functional = "{\"schema\":1,\"experiment\":\"e\",\"config_hash\":\"\",\"ledger\":{}}";
    let folder = Folder::new();
    folder.write("good.json", report("e", 9));
    for (name, text, expected) in [
        (
            "text.json",
            "cycles".to_owned(),
            "text.json: not a report (expected value at line 1 column 1); it must be what `powervisor run --format json` prints",
        ),
        (
            "newer.json",
            report("e", 9).replace("\"schema\":1", "\"schema\":2"),
            "newer.json: a report of form 2; this command reads form 1",
        ),
        (
            "functional.json",
            functional.to_owned(),
            "functional.json: the report has no ledger; it must be of an experiment that ran with timing",
        ),
        (
            "sum.json",
            report("e", 8),
            "sum.json: the charges of `v` add up to 8, not to its 9 cycles; write the report again",
        ),
        (
            "huge.json",
            report("e", u64::MAX)
                .replace("\"elapsed_thread_cycles\":9", "\"elapsed_thread_cycles\":8"),
            "huge.json: the charges of `v` add up to 18446744073709551615, not to its 8 cycles; write the report again",
        ),
        (
            "null.json",
            "null".to_owned(),
            "null.json: not a report (invalid type: null, expected an object at line 1 column 4); it must be what `powervisor run --format json` prints",
        ),
        (
            "other.json",
            report("other", 9),
            "other.json: a report of `other`, the first is of `e`; compare two reports of one experiment",
        ),
    ] {
        folder.write(name, text);
        assert_refused(&mut folder.command(&format!("diff good.json {name}")), expected);
    }
    assert_refused(
        &mut folder.command("diff good.json --variants v w"),
        "good.json: no variant is called `w`; did you mean `v`?",
    );
    assert_refused(
        &mut folder.command("diff good.json none.json"),
        "none.json: cannot be read: No such file or directory (os error 2); it must be a readable file",
    );
}
