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
        assert_eq!(seen, [&b"one"[..], b"", b"two\r", b"three"]);
    }
}

#[test]
fn a_long_line_is_cut() {
    let mut lines = Lines::default();
    let mut length = 0;
    lines.push(&vec![b'x'; 3 * LONGEST], &mut |_| unreachable!());
    lines.push(b"y\n", &mut |line| length = line.len());
    assert_eq!(length, LONGEST);
}
