//! Tables in plain text.

/// A table whose first column is left-aligned, and the others right-aligned.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table; `title` describes the rows.
    pub fn new(title: &str) -> Self {
        Self { rows: vec![vec![title.to_owned()]] }
    }

    /// Adds columns with these names.
    pub fn columns<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.rows[0].extend(names.into_iter().map(str::to_owned));
        self
    }

    /// Adds a row.
    pub fn row(&mut self, title: &str, cells: impl IntoIterator<Item = String>) {
        self.rows.push([title.to_owned()].into_iter().chain(cells).collect());
    }

    /// Prints it, followed by an empty line.
    pub fn print(&self) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let (title, cells) = (&row[0], row[1..].iter().zip(&widths[1..]));
            let cells = cells.map(|(cell, width)| format!("  {cell:>width$}"));
            let line = format!("{title:<0$}{1}", widths[0], cells.collect::<String>());
            println!("{}", line.trim_end());
        }
        println!();
    }
}

/// A part of `whole`, in percent.
pub fn percent(part: f64, whole: usize) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => format!("{:.1}", 100.0 * part / whole as f64),
    }
}

/// A number with thousands separators.
pub fn grouped(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}
