//! The picture of a chat in `docs/pictures/chat.svg`: made from the program's screen, so that it stays true.

use std::{env, fmt::Write, fs, path::Path};

use unicode_width::UnicodeWidthStr;
use vt100::{Cell, Color, Screen};

use crate::{
    chat::{
        model::{Model, stream},
        terminal::Terminal,
    },
    support::binary::Server,
};

const COLUMNS: u16 = 84;
const ROWS: u16 = 18;
/// The size of a cell in pixels, and the margin around the cells.
const CELL: (f32, f32) = (8.4, 19.0);
const MARGIN: (f32, f32) = (16.0, 46.0);
/// The background of the terminal, dark on a page of any colour.
const GROUND: &str = "#0d1117";

/// `UPDATE_GOLDENFILES=1 cargo test --test e2e chat::picture` rewrites the picture.
#[test]
fn the_picture_shows_what_a_chat_looks_like() {
    let server = Server::start(&["--preset", "session", "--backend", "fjall"]);
    let model = Model::start();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    let trip = fs::read_to_string(sources.join("examples/data/trip.json")).expect("the sample");
    server.file("trip.json", &trip);
    server.run(&["import", "--as", "lisbon", "trip.json"]).worked();
    let url = model.url();
    let arguments = ["lisbon", "--model", "gpt-4o-mini", "--base-url", &url];
    let mut chat = Terminal::open_with(&server, &arguments, &[("OPENAI_API_KEY", "secret")]);
    chat.shows(&["model gpt-4o-mini"]);
    chat.resize(COLUMNS, ROWS);
    chat.line("/compact 2");
    chat.shows(&["[Summary + 3 messages]"]);
    let talk = [
        (
            "Which hotel did we take, and until when can I cancel it?",
            "Casa do Miradouro, four nights for 436 euros, booking CDM-20418. You can cancel it free of charge until 9 April.",
        ),
        ("When do we land on Thursday?", "At 11:05, with TAP from Orly."),
    ];
    for (question, reply) in talk {
        model.next(stream(&[reply], true));
        chat.line(question);
        chat.shows(&[reply.rsplit(' ').next().unwrap_or(reply), "  /help"]);
    }
    chat.keys("/rem");
    chat.shows(&["/remember WORDS", "> /rem"]);
    let drawn = chat.screen(svg);
    let picture = sources.join("docs/pictures/chat.svg");
    if env::var_os("UPDATE_GOLDENFILES").is_some() {
        fs::write(&picture, &drawn).expect("the picture is written");
    }
    let kept = fs::read_to_string(&picture).unwrap_or_default();
    assert!(kept == drawn, "UPDATE_GOLDENFILES=1 writes the picture anew; now it would be\n{drawn}");
}

/// The screen as a picture; text is placed by cell columns, whatever the font.
fn svg(screen: &Screen) -> String {
    let (width, height) =
        (f32::from(COLUMNS) * CELL.0 + 2.0 * MARGIN.0, f32::from(ROWS) * CELL.1 + MARGIN.1 + MARGIN.0);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" role="img" aria-labelledby="title">
<title id="title">utterd chat in a terminal</title>
<style>text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }}</style>
<rect x=".5" y=".5" width="{:.0}" height="{:.0}" rx="9" fill="{GROUND}" stroke="#3d444d"/>
<g fill="#3d444d"><circle cx="20" cy="19" r="6"/><circle cx="40" cy="19" r="6"/><circle cx="60" cy="19" r="6"/></g>
<text x="{:.0}" y="24" fill="#9198a1" text-anchor="middle">utterd chat --model gpt-4o-mini</text>
"##,
        width - 1.0,
        height - 1.0,
        width / 2.0,
    );
    for row in 0..ROWS {
        runs(screen, row).iter().for_each(|run| draw(&mut svg, row, run));
    }
    let (x, y) = place(ROWS - 1, cursor(screen));
    write!(
        svg,
        r##"<rect x="{x:.1}" y="{y:.1}" width="{:.1}" height="{:.1}" fill="#f0f6fc"/>"##,
        CELL.0, CELL.1
    )
    .expect("a string takes all");
    svg + "\n</svg>\n"
}

/// Adjacent cells that look the same.
struct Run {
    column: u16,
    columns: u16,
    text: String,
    look: (Color, bool, bool, bool, bool),
}

fn runs(screen: &Screen, row: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let cells = (0..COLUMNS).filter_map(|column| Some((column, screen.cell(row, column)?)));
    for (column, cell) in cells.filter(|(_, cell)| !cell.is_wide_continuation()) {
        let look = (cell.fgcolor(), cell.bold(), cell.dim(), cell.italic(), cell.inverse());
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let columns = columns(cell);
        match runs.last_mut().filter(|run| run.look == look) {
            Some(run) => {
                run.text += text;
                run.columns += columns;
            }
            None => runs.push(Run { column, columns, text: text.into(), look }),
        }
    }
    runs
}

fn columns(cell: &Cell) -> u16 {
    if cell.is_wide() { 2 } else { 1 }
}

fn draw(svg: &mut String, row: u16, run: &Run) {
    let (colour, bold, dim, italic, inverse) = run.look;
    let (x, y) = place(row, run.column);
    let fill = match colour {
        Color::Idx(1) => "#ff7b72",
        Color::Idx(2) => "#3fb950",
        Color::Idx(6) => "#39c5cf",
        _ if dim => "#9198a1",
        _ => "#f0f6fc",
    };
    let width = f32::from(run.columns) * CELL.0;
    let mut write = |text: std::fmt::Arguments| svg.write_fmt(text).expect("a string takes all");
    if inverse {
        write(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{fill}\"/>\n",
            CELL.1
        ));
    }
    let fill = if inverse { GROUND } else { fill };
    let weight = if bold { " font-weight=\"600\"" } else { "" };
    let style = if italic { " font-style=\"italic\"" } else { "" };
    for (column, text) in words(&run.text) {
        let (x, width) = (x + column as f32 * CELL.0, text.width() as f32 * CELL.0);
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        write(format_args!(
            "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{fill}\"{weight}{style}>{text}</text>\n",
            y + 14.0,
        ));
    }
}

/// The parts of a text between two or more spaces, which a picture would draw as one, and their columns.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut column = 0;
    let parts = text.split("  ").map(|part| {
        let place = column + part.len() - part.trim_start().len();
        column += part.width() + 2;
        (place, part.trim())
    });
    parts.filter(|(_, part)| !part.is_empty()).collect()
}

fn place(row: u16, column: u16) -> (f32, f32) {
    (MARGIN.0 + f32::from(column) * CELL.0, MARGIN.1 + f32::from(row) * CELL.1)
}

/// The column after the input.
fn cursor(screen: &Screen) -> u16 {
    let typed = screen.contents_between(ROWS - 1, 0, ROWS - 1, COLUMNS);
    typed.trim_end().width() as u16
}
