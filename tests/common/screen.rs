//! What a terminal shows: as much of ECMA-48 and of DEC's terminals as backoff and shells make use of, and lines that are
//! broken anew where the window becomes narrower, as most terminals do it.

#[derive(Debug)]
pub struct Screen {
    columns: usize,
    /// What has scrolled away.
    history: Vec<Row>,
    rows: Vec<Row>,
    cursor: (usize, usize),
    /// A character in the last column was the last; the next one goes to the next line.
    is_at_the_end: bool,
    saved: ((usize, usize), bool),
    /// The first and the last row that scroll.
    region: (usize, usize),
    /// What has come of a sequence.
    sequence: String,
}

#[derive(Debug, Clone, Default)]
struct Row {
    text: Vec<char>,
    /// It goes on in the next row.
    is_broken: bool,
}

impl Screen {
    pub fn new(rows: usize, columns: usize) -> Screen {
        Screen {
            columns,
            history: Vec::new(),
            rows: vec![Row::default(); rows],
            cursor: (0, 0),
            is_at_the_end: false,
            saved: ((0, 0), false),
            region: (0, rows.saturating_sub(1)),
            sequence: String::new(),
        }
    }

    /// All rows, those that have scrolled away as well, without blanks at their ends.
    pub fn rows(&self) -> Vec<String> {
        self.joined(|_| false)
    }

    /// The same, and what was broken at the end of a row is one line.
    pub fn lines(&self) -> Vec<String> {
        self.joined(|row| row.is_broken)
    }

    fn joined(&self, goes_on: impl Fn(&Row) -> bool) -> Vec<String> {
        let mut lines = vec![String::new()];
        for row in self.history.iter().chain(&self.rows) {
            let last = lines.len() - 1;
            lines[last].extend(&row.text);
            if !goes_on(row) {
                lines.push(String::new());
            }
        }
        let mut lines: Vec<String> = lines.iter().map(|line| line.trim_end().to_owned()).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    pub fn feed(&mut self, text: &str) {
        for c in text.chars() {
            if !self.sequence.is_empty() {
                self.sequence.push(c);
                self.act();
                continue;
            }
            match c {
                '\x1b' => self.sequence.push(c),
                '\r' => self.put_cursor((self.cursor.0, 0)),
                '\n' => self.line_feed(),
                '\x08' => self.put_cursor((self.cursor.0, self.cursor.1.saturating_sub(1))),
                c if c.is_control() => {}
                c => self.print(c),
            }
        }
    }

    fn put_cursor(&mut self, place: (usize, usize)) {
        (self.cursor, self.is_at_the_end) = (place, false);
    }

    fn print(&mut self, c: char) {
        if std::mem::take(&mut self.is_at_the_end) {
            self.rows[self.cursor.0].is_broken = true;
            self.line_feed();
            self.cursor.1 = 0;
        }
        let (row, column) = self.cursor;
        let text = &mut self.rows[row].text;
        text.resize(text.len().max(column + 1), ' ');
        text[column] = c;
        self.is_at_the_end = column + 1 == self.columns;
        self.cursor.1 = (column + 1).min(self.columns - 1);
    }

    fn line_feed(&mut self) {
        let (first, last) = self.region;
        if self.cursor.0 == last {
            let gone = self.rows.remove(first);
            if first == 0 {
                self.history.push(gone);
            }
            self.rows.insert(last, Row::default());
        } else if self.cursor.0 + 1 < self.rows.len() {
            self.cursor.0 += 1;
        }
    }

    /// A sequence may be complete.
    fn act(&mut self) {
        let Some(kind) = self.sequence.chars().nth(1) else {
            return;
        };
        let end = self.sequence.chars().last().unwrap();
        if kind == '[' && (self.sequence.len() == 2 || !end.is_ascii_alphabetic()) {
            return;
        }
        let sequence = std::mem::take(&mut self.sequence);
        let numbers = sequence[2..].trim_end_matches(end);
        let mut numbers = numbers.split(';').map(|number| number.parse::<usize>().ok());
        let mut number = |default: usize| numbers.next().flatten().unwrap_or(default);
        match (kind, end) {
            ('7', _) => self.saved = (self.cursor, self.is_at_the_end),
            ('8', _) => (self.cursor, self.is_at_the_end) = self.saved,
            ('D', _) => {
                let column = self.cursor.1;
                self.line_feed();
                self.put_cursor((self.cursor.0, column));
            }
            ('[', 'A') => self.put_cursor((self.cursor.0.saturating_sub(number(1)), self.cursor.1)),
            ('[', 'H') => {
                let row = number(1).min(self.rows.len()) - 1;
                let column = number(1).min(self.columns) - 1;
                self.put_cursor((row, column));
            }
            ('[', 'r') => {
                self.region = (number(1) - 1, number(self.rows.len()) - 1);
                self.put_cursor((0, 0));
            }
            ('[', 'K') => self.clear_line(),
            ('[', 'J') => {
                self.clear_line();
                self.rows[self.cursor.0 + 1..].fill(Row::default());
            }
            _ => {}
        }
    }

    fn clear_line(&mut self) {
        let (row, column) = self.cursor;
        self.rows[row].text.truncate(column);
        self.rows[row].is_broken = false;
    }

    /// Another width: what is too wide is broken anew, and the cursor stays where it is in its line.
    pub fn resize(&mut self, columns: usize) {
        let height = self.rows.len();
        let mut rows = Vec::new();
        let mut cursor = (0, 0);
        let mut line: Vec<char> = Vec::new();
        let old = std::mem::take(&mut self.rows);
        let last_used = old.iter().rposition(|row| !row.text.is_empty()).unwrap_or(0);
        for (i, row) in old.into_iter().enumerate().take(last_used.max(self.cursor.0) + 1) {
            if i == self.cursor.0 {
                let place = line.len() + self.cursor.1;
                cursor = (rows.len() + place / columns, place % columns);
            }
            line.extend(row.text);
            if row.is_broken {
                continue;
            }
            let mut pieces: Vec<Row> = line
                .chunks(columns)
                .map(|piece| Row {
                    text: piece.to_vec(),
                    is_broken: true,
                })
                .collect();
            match pieces.last_mut() {
                Some(last) => last.is_broken = false,
                None => pieces.push(Row::default()),
            }
            rows.append(&mut pieces);
            line.clear();
        }
        let above = rows.len().saturating_sub(height);
        self.history.extend(rows.drain(..above));
        rows.resize(height, Row::default());
        self.rows = rows;
        self.columns = columns;
        self.region = (0, height - 1);
        self.put_cursor((cursor.0.saturating_sub(above), cursor.1));
    }
}

#[test]
fn a_screen_shows_what_a_terminal_shows() {
    let mut screen = Screen::new(4, 10);
    screen.feed("one\r\ntwo and more\r\n\x1b[31mthree\x1b[m\r\x1b[Kfour");
    assert_eq!(screen.lines(), ["one", "two and more", "four"]);
    screen.feed("\r\nfive\r\n");
    assert_eq!(screen.lines(), ["one", "two and more", "four", "five"]);
    screen.resize(4);
    assert_eq!(screen.lines(), ["one", "two and more", "four", "five"]);
    screen.feed("\x1b7\x1b[1;3r\x1b[4;1Hend\x1b8\x1b[1;3r\x1b[3;1Hsix\r\nseven");
    assert_eq!(screen.rows[3].text, ['e', 'n', 'd']);
}
