use super::*;

#[test]
fn the_summary_agrees_with_the_table() {
    for line in SUMMARY
        .lines()
        .filter(|line| line.trim_start().starts_with('-') && !line.contains("--help"))
    {
        let name = line
            .split("--")
            .nth(1)
            .and_then(|rest| rest.split([' ', '[']).next());
        let opt = OPTIONS
            .iter()
            .find(|opt| Some(opt.long) == name)
            .expect(line);
        assert!(
            opt.kind.is_switch()
                || line.contains(&format!(" <{}> ", opt.kind.placeholder()))
                || line.contains(&format!("[={}] ", opt.kind.placeholder())),
            "{line}"
        );
        let shown = line
            .split_once("[default: ")
            .map(|(_, rest)| rest.trim_end_matches(']'));
        assert_eq!(shown.unwrap_or_default(), opt.default, "{line}");
    }
}
