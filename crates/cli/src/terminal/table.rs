//! Lines with aligned columns.

/// The alignment of a column.
#[derive(Clone, Copy)]
pub enum Side {
    /// Texts.
    Left,
    /// Numbers.
    Right,
}

/// The rows with their columns aligned, two spaces apart.
pub fn aligned<const N: usize>(rows: &[[String; N]], sides: [Side; N]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| console::measure_text_width(&row[column])).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let cell = |row: &[String; N], column: usize| {
        let side = match sides[column] {
            Side::Left => console::Alignment::Left,
            Side::Right => console::Alignment::Right,
        };
        console::pad_str(&row[column], widths[column], side, None).into_owned()
    };
    let line = |row: &[String; N]| {
        let cells: Vec<_> = (0..N).map(|column| cell(row, column)).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "10", "x"], ["…bc", "9", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&rows, [Side::Left, Side::Right, Side::Left]), ["a    10  x", "…bc   9"]);
    }
}
