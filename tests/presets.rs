//! Each week, `tests/presets/matrix.py` runs the real tools of the presets. These tests show that it works.

use crate::util::documents::ROOT;
use crate::util::{BIN, Ends, clean, within};

tests! {
    a_tool_is_run_recorded_and_judged ["python3", "curl", "openssl", "git"]
    the_table_holds_every_byte ["python3"]
}

fn a_tool_is_run_recorded_and_judged() {
    let dir = tempfile::tempdir().unwrap();
    let table = within(&dir, "samples.tsv");
    let matrix = |words: &str| {
        let mut command = clean("python3");
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.arg(format!("{ROOT}/tests/presets/matrix.py"));
        command.args(words.split(' '));
        command.args(["-t", "curl", "-m", "plain", "-o", &table]);
        command
    };
    let recorded = matrix("record").code(0).out();
    assert!(
        recorded.ends_with("cells recorded, 0 without a sample\n"),
        "{recorded}"
    );
    // The output does not change within a second.
    let compared = matrix("compare").code(0).out();
    assert!(compared.starts_with("0 of "), "{compared}");
    let judged = matrix(&format!("judge {}", *BIN)).code(0).out();
    assert!(judged.starts_with("curl "), "{judged}");
}

fn the_table_holds_every_byte() {
    let script = "import samples; every = bytes(range(256)) + '\u{2009}\u{2713}'.encode(); \
                  assert samples.unescaped(samples.escaped(every)) == every; \
                  assert not set(samples.escaped(every)) & set('\\t\\n\\r')";
    clean("python3")
        .current_dir(format!("{ROOT}/tests/presets"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["-c", script])
        .code(0);
}
