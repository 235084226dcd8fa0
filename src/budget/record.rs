//! The layout of a shared file: two copies of one record, of fixed size.
//!
//! An update overwrites the older copy, so that a process killed in the middle of it, or a machine that
//! loses its power, leaves the other one whole. A checksum tells a whole copy from a torn or foreign one.
//!
//! A copy is, in little-endian order: the 16 bytes `backoff state 1` with a line feed, a sequence number (8), the length of the record
//! (8), a checksum over these two and the record (8), the record, zeros.

/// The size of one copy: one page, as memory and file systems have it.
pub const COPY: usize = 4096;
/// The size of a file.
pub const FILE: usize = 2 * COPY;
const HEADER: usize = 40;
/// The longest record.
pub const MOST: usize = COPY - HEADER;
const MAGIC: &[u8; 16] = b"backoff state 1\n";

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Nothing yet.
    Blank,
    /// The newest whole copy, its sequence number and its place, 0 or 1.
    Record(&'a [u8], u64, usize),
    /// Something that backoff did not write, or that was damaged since.
    Foreign,
}

/// Reads a file of at most [`FILE`] bytes; what is missing counts as zeros.
pub fn read(file: &[u8]) -> Content<'_> {
    let mut newest = None;
    for place in 0..2 {
        let copy = file.get(place * COPY..).unwrap_or_default();
        let copy = &copy[..copy.len().min(COPY)];
        if let Some((record, sequence)) = whole(copy)
            && newest.is_none_or(|(_, newest, _)| is_later(sequence, newest))
        {
            newest = Some((record, sequence, place));
        }
    }
    match newest {
        Some((record, sequence, place)) => Content::Record(record, sequence, place),
        None if file.iter().all(|byte| *byte == 0) => Content::Blank,
        None => Content::Foreign,
    }
}

/// Numbers wrap, so that every number has one after it, also in a file that somebody else has made.
fn is_later(sequence: u64, other: u64) -> bool {
    sequence.wrapping_sub(other).cast_signed() > 0
}

fn whole(copy: &[u8]) -> Option<(&[u8], u64)> {
    let rest = copy.strip_prefix(MAGIC)?;
    let (sequence, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let record = rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let sequence = u64::from_le_bytes(*sequence);
    (checksum(sequence, record) == u64::from_le_bytes(*sum)).then_some((record, sequence))
}

/// A copy of a record of at most [`MOST`] bytes, and where in the file it goes, such that `content` stays
/// whole until it is written.
pub fn next(content: &Content<'_>, record: &[u8]) -> (Vec<u8>, u64) {
    let (sequence, place) = match content {
        Content::Record(_, sequence, place) => (sequence.wrapping_add(1), 1 - place),
        Content::Blank | Content::Foreign => (1, 0),
    };
    let mut copy = MAGIC.to_vec();
    copy.extend(sequence.to_le_bytes());
    copy.extend((record.len() as u64).to_le_bytes());
    copy.extend(checksum(sequence, record).to_le_bytes());
    copy.extend(record);
    copy.resize(COPY, 0);
    (copy, (place * COPY) as u64)
}

/// FNV-1a, 64 bits: enough against accidents; nobody else may write the file.
fn checksum(sequence: u64, record: &[u8]) -> u64 {
    let length = (record.len() as u64).to_le_bytes();
    let bytes = sequence
        .to_le_bytes()
        .into_iter()
        .chain(length)
        .chain(record.iter().copied());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes a record as an update does.
    fn update(file: &mut [u8], record: &[u8]) {
        let (copy, at) = next(&read(file), record);
        file[at as usize..at as usize + COPY].copy_from_slice(&copy);
    }

    fn record(file: &[u8]) -> Option<&[u8]> {
        match read(file) {
            Content::Record(record, ..) => Some(record),
            _ => None,
        }
    }

    #[test]
    fn the_last_record_counts() {
        let mut file = vec![0; FILE];
        assert_eq!(read(&file), Content::Blank);
        assert_eq!(read(&[]), Content::Blank);
        for n in 0..5_u8 {
            update(&mut file, &vec![n; MOST]);
            assert_eq!(record(&file), Some(&*vec![n; MOST]));
        }
    }

    #[test]
    fn an_update_is_the_newest_whatever_the_number_before_it() {
        for before in [0, 7, 1 << 63, u64::MAX - 1, u64::MAX] {
            let mut file = vec![0; FILE];
            let (copy, at) = next(&Content::Record(&[], before, 1), b"first");
            file[at as usize..at as usize + COPY].copy_from_slice(&copy);
            for new in [b"second", b"third!", b"fourth"] {
                update(&mut file, new);
                assert_eq!(record(&file), Some(&new[..]), "after {before}");
            }
        }
    }

    #[test]
    fn what_others_wrote_is_foreign() {
        for other in [&b"hello"[..], MAGIC, &[0, 0, 1], &[255; FILE]] {
            assert_eq!(read(other), Content::Foreign);
        }
    }

    proptest! {
        #[test]
        fn a_torn_update_leaves_the_one_before_it(
            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..MOST), 2..5),
            torn in 0..COPY,
        ) {
            let mut file = vec![0; FILE];
            let (last, earlier) = records.split_last().unwrap();
            for record in earlier {
                update(&mut file, record);
            }
            let (copy, at) = next(&read(&file), last);
            let at = at as usize;
            file[at..at + torn].copy_from_slice(&copy[..torn]);
            let found = record(&file).unwrap().to_vec();
            // The end of a copy is zeros, so that a late tear may be none.
            prop_assert!(found == *earlier.last().unwrap() || found == *last);
        }

        #[test]
        fn any_bytes_can_be_read(file in prop::collection::vec(any::<u8>(), 0..200), magic: bool) {
            let file = if magic { [MAGIC.as_slice(), &file].concat() } else { file };
            let _ = read(&file);
        }

        #[test]
        fn a_changed_bit_is_noticed(bytes in prop::collection::vec(any::<u8>(), 0..100), at in 0..140_usize, bit in 0..8_u8) {
            let mut file = vec![0; FILE];
            update(&mut file, &bytes);
            let at = at % (HEADER + bytes.len());
            file[at] ^= 1 << bit;
            prop_assert_eq!(read(&file), Content::Foreign);
        }
    }
}
