//! Lines with aligned columns.

use console::{Alignment, measure_text_width, pad_str};

/// The rows with their columns aligned, two spaces apart.
pub fn aligned<const N: usize>(rows: &[[String; N]], sides: [Alignment; N]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| measure_text_width(&row[column])).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = (0..N).map(|column| pad_str(&row[column], widths[column], sides[column], None));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "10", "x"], ["…bc", "9", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(
            aligned(&rows, [Alignment::Left, Alignment::Right, Alignment::Left]),
            ["a    10  x", "…bc   9"]
        );
    }
}
