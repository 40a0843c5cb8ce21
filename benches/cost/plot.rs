//! A chart of times over layers, both scales logarithmic, each line named at its end. Colours are in style.css.

use std::fmt::Write;

/// Times over layers.
pub struct Line {
    pub name: &'static str,
    /// Its colour in the style sheet.
    color: char,
    dashed: bool,
    /// Layers and seconds, by layers.
    pub points: Vec<(u32, f64)>,
    /// Layers where not all was proved.
    pub open: Vec<u32>,
}

impl Line {
    pub const fn new(name: &'static str, color: char) -> Self {
        Self { name, color, dashed: false, points: Vec::new(), open: Vec::new() }
    }

    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }
}

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 580.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 626.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 500.0;
/// Between two names.
const LEADING: f64 = 19.0;
const STYLE: &str = include_str!("style.css");

/// Ticks of time, by the power of ten of a second.
const TICKS: [(i32, &str); 9] = [
    (-6, "1 µs"),
    (-5, "10 µs"),
    (-4, "100 µs"),
    (-3, "1 ms"),
    (-2, "10 ms"),
    (-1, "100 ms"),
    (0, "1 s"),
    (1, "10 s"),
    (2, "100 s"),
];

/// Where layers and times are.
struct Scales {
    layers: (f64, f64),
    decades: (f64, f64),
}

impl Scales {
    fn of(lines: &[Line]) -> Self {
        let points = || lines.iter().flat_map(|line| &line.points);
        let layers = points().map(|point| f64::from(point.0).log10());
        let times = || points().map(|point| point.1.log10());
        Self {
            layers: (layers.clone().fold(f64::MAX, f64::min), layers.fold(f64::MIN, f64::max)),
            decades: (
                times().fold(f64::MAX, f64::min).floor(),
                times().fold(f64::MIN, f64::max).ceil(),
            ),
        }
    }

    fn x(&self, layers: u32) -> f64 {
        let (least, most) = self.layers;
        LEFT + (f64::from(layers).log10() - least) / (most - least) * (RIGHT - LEFT)
    }

    fn y(&self, decade: f64) -> f64 {
        let (least, most) = self.decades;
        BOTTOM - (decade - least) / (most - least) * (BOTTOM - TOP)
    }
}

/// The chart as a file of its own; `note` is a line below it.
pub fn svg(lines: &[Line], note: &str) -> Result<String, std::fmt::Error> {
    let (scales, mut out) = (Scales::of(lines), String::new());
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">
<title>Time of an answer over the number of layers, both logarithmic</title>
<style>
{STYLE}</style>
<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>"#
    )?;
    axes(&mut out, &scales, lines)?;
    for line in lines {
        let path: Vec<String> = line
            .points
            .iter()
            .map(|&(n, s)| format!("{:.1},{:.1}", scales.x(n), scales.y(s.log10())))
            .collect();
        let dashed = if line.dashed { " dashed" } else { "" };
        writeln!(out, r#"<g class="{}">"#, line.color)?;
        writeln!(out, r#"<polyline class="line{dashed}" points="{}"/>"#, path.join(" "))?;
        for &(n, s) in &line.points {
            let (x, y) = (scales.x(n), scales.y(s.log10()));
            let (class, r) = if line.open.contains(&n) { ("open", 4.2) } else { ("dot", 3.0) };
            writeln!(out, r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{r}"/>"#)?;
        }
        writeln!(out, "</g>")?;
    }
    names(&mut out, &scales, lines)?;
    writeln!(out, r#"<text class="note" x="{LEFT}" y="{}">{note}</text>"#, HEIGHT - 14.0)?;
    writeln!(out, "</svg>")?;
    Ok(out)
}

fn axes(out: &mut String, scales: &Scales, lines: &[Line]) -> std::fmt::Result {
    for (decade, text) in TICKS {
        let decade = f64::from(decade);
        if decade < scales.decades.0 || decade > scales.decades.1 {
            continue;
        }
        let y = scales.y(decade);
        writeln!(out, r#"<path class="grid" d="M{LEFT} {y:.1}H{RIGHT}"/>"#)?;
        let (x, y) = (LEFT - 10.0, y + 4.5);
        writeln!(out, r#"<text class="tick right" x="{x}" y="{y:.1}">{text}</text>"#)?;
    }
    for &(n, _) in lines.first().map_or(&[][..], |line| &line.points) {
        let (x, y) = (scales.x(n), BOTTOM + 20.0);
        writeln!(out, r#"<path class="grid" d="M{x:.1} {TOP}V{}"/>"#, BOTTOM + 5.0)?;
        writeln!(out, r#"<text class="tick middle" x="{x:.1}" y="{y}">{n}</text>"#)?;
    }
    let (x, y) = (f64::midpoint(LEFT, RIGHT), BOTTOM + 42.0);
    writeln!(out, r#"<text class="middle" x="{x}" y="{y}">layers (logarithmic)</text>"#)?;
    writeln!(out, r#"<text x="14" y="{}">time of one answer (logarithmic)</text>"#, TOP - 18.0)
}

/// Names beside the ends of their lines, pushed apart where these are close.
fn names(out: &mut String, scales: &Scales, lines: &[Line]) -> std::fmt::Result {
    let mut ends: Vec<(f64, f64, &Line)> = lines
        .iter()
        .filter_map(|line| {
            let y = scales.y(line.points.last()?.1.log10());
            Some((y, y, line))
        })
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    for i in 1..ends.len() {
        ends[i].1 = ends[i].1.max(ends[i - 1].1 + LEADING);
    }
    // Not below the lowest line of the grid.
    let mut most = BOTTOM;
    for end in ends.iter_mut().rev() {
        end.1 = end.1.min(most);
        most = end.1 - LEADING;
    }
    for (end, at, line) in ends {
        let (x, baseline) = (RIGHT + 30.0, at + 4.5);
        writeln!(out, r#"<g class="{}">"#, line.color)?;
        let (from, to) = (RIGHT + 6.0, RIGHT + 26.0);
        writeln!(out, r#"<path class="leader" d="M{from} {end:.1}L{to} {at:.1}"/>"#)?;
        writeln!(out, r#"<text class="name" x="{x}" y="{baseline:.1}">{}</text>"#, line.name)?;
        writeln!(out, "</g>")?;
    }
    Ok(())
}
