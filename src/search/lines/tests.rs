use super::*;

#[test]
fn lines_are_the_same_however_they_come() {
    let text = b"one\n\ntwo\r\nthree";
    for size in 1..text.len() {
        let mut lines = Lines::default();
        let mut seen: Vec<Vec<u8>> = Vec::new();
        for piece in text.chunks(size) {
            lines.push(piece, &mut |line| seen.push(line.to_vec()));
        }
        lines.finish(&mut |line| seen.push(line.to_vec()));
        assert_eq!(seen, [&b"one\n"[..], b"\n", b"two\n", b"three\n"]);
    }
}

#[test]
fn a_long_line_is_shown_in_parts_that_overlap() {
    let line: Vec<u8> = (0..5000)
        .flat_map(|n| format!(" {n}").into_bytes())
        .collect();
    for size in [1, 1000, line.len()] {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        let mut show = |part: &[u8]| {
            assert!(part.len() <= LONGEST + 1);
            let new = if seen.is_empty() { 0 } else { OVERLAP };
            assert!(seen.ends_with(&part[..new]));
            seen.extend_from_slice(&part[new..]);
        };
        for piece in line.chunks(size) {
            lines.push(piece, &mut show);
        }
        lines.finish(&mut show);
        assert!(seen == [&line[..], b"\n"].concat());
    }
}
