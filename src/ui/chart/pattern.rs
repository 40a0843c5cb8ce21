//! Colours doubled by patterns. Solid classes are coloured by the style sheet; patterned ones by a `<pattern>` whose parts are.

use yew::prelude::*;

/// Classes that have a pattern.
const PATTERNED: [&str; 16] = [
    "recompute",
    "offload",
    "prefetch",
    "stall-room",
    "stall-copy",
    "ssd",
    "ssd-write",
    "ssd-read",
    "gradients",
    "optimizer",
    "unmodelled",
    "in-flight",
    "workspace",
    "mixed",
    "overflow",
    "infeasible",
];

/// The `fill` of a class: a pattern of the picture `id`, or none where the style sheet says it.
pub fn fill(id: &str, class: &str) -> Option<AttrValue> {
    PATTERNED.contains(&class).then(|| AttrValue::from(format!("url(#{id}-{class})")))
}

/// The patterns of a picture.
pub fn patterns(id: &str, classes: &[&'static str]) -> Html {
    let used = classes.iter().filter(|class| PATTERNED.contains(*class));
    html! { <defs>{ for used.map(|class| pattern(id, class)) }</defs> }
}

fn pattern(id: &str, class: &'static str) -> Html {
    let (size, turn, marks) = marks(class);
    let ground = classes!("ground", format!("ground-{class}"));
    html! {
        <pattern id={format!("{id}-{class}")} patternUnits="userSpaceOnUse" width={size.to_string()} height={size.to_string()}
            patternTransform={turn.map(|turn| format!("rotate({turn})"))}>
            <rect class={ground} width={size.to_string()} height={size.to_string()} />
            <path class={classes!("grain", format!("grain-{class}"))} d={marks} />
        </pattern>
    }
}

/// Size, rotation and marks: hatches for work done again, dots for what travels, a lattice for what waits.
fn marks(class: &str) -> (u32, Option<u32>, &'static str) {
    match class {
        "recompute" => (6, Some(45), "M0 0V6"),
        "offload" | "in-flight" => (6, None, "M1.5 1.5h0M4.5 4.5h0"),
        "prefetch" => (7, None, "M2 3.5h3"),
        "stall-room" | "stall-copy" => (5, Some(45), "M0 0V5M0 0H5"),
        "ssd" | "ssd-write" | "ssd-read" => (5, None, "M1 0V5"),
        "gradients" => (5, None, "M0 1H5"),
        "optimizer" => (8, None, "M2 2h0M6 6h0"),
        "workspace" => (6, None, "M1 0V6"),
        "mixed" => (8, Some(45), "M2 0V8"),
        "unmodelled" => (7, Some(135), "M0 0V7"),
        _ => (7, Some(45), "M0 0V7"),
    }
}

/// A small square of a class, for legends.
pub fn swatch(id: &str, class: &str) -> Html {
    html! {
        <svg class="swatch" width="14" height="14" aria-hidden="true">
            <rect class={format!("mark mark-{class}")} fill={fill(id, class)} width="14" height="14" rx="2" />
        </svg>
    }
}
