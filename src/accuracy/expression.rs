//! How a figure is read off outcomes: a number is itself; a text is a path into the outcome, the sum of all that it leads to; a list is
//! an operation on what follows: `+`, `-`, `*`, `/`, `count` (how many a path leads to) and `is` (1 where a path leads to a value and
//! nothing else, 0 otherwise).
//!
//! Steps of a path are keys, places in a list (-1 is the last), `*` for all of a list, and `[key=text]` for those
//! whose `key` is that text: `/layers/[kind=block]/saved/*/bytes`. Behind `1:` it leads into the outcome of the request that the case is compared
//! with.

use serde_json::Value;

/// The value of an expression; none where a path leads nowhere or to no number.
#[must_use]
pub fn value(expression: &Value, outcomes: &[Value]) -> Option<f64> {
    match expression {
        Value::Number(number) => number.as_f64(),
        Value::String(path) => {
            let found = select(path, outcomes);
            if found.is_empty() { None } else { found.into_iter().map(Value::as_f64).sum() }
        }
        Value::Array(list) => operation(list, outcomes),
        _ => None,
    }
}

fn operation(list: &[Value], outcomes: &[Value]) -> Option<f64> {
    let (name, rest) = list.split_first()?;
    let name = name.as_str()?;
    if let "count" | "is" = name {
        let found = select(rest.first()?.as_str()?, outcomes);
        return Some(match rest.get(1) {
            None => count(found.len()),
            Some(value) => f64::from(u8::from(found.len() == 1 && found[0] == value)),
        });
    }
    let mut numbers = rest.iter().map(|part| value(part, outcomes));
    let first = numbers.next()??;
    numbers.try_fold(first, |sum, number| {
        let number = number?;
        match name {
            "+" => Some(sum + number),
            "-" => Some(sum - number),
            "*" => Some(sum * number),
            "/" => Some(sum / number),
            _ => None,
        }
    })
}

/// What a path leads to.
fn select<'a>(path: &str, outcomes: &'a [Value]) -> Vec<&'a Value> {
    let (at, path) = match path.strip_prefix("1:") {
        Some(path) => (1, path),
        None => (0, path),
    };
    let Some(path) = path.strip_prefix('/') else { return Vec::new() };
    let mut found: Vec<&Value> = outcomes.get(at).into_iter().collect();
    for step in path.split('/') {
        found = found.into_iter().flat_map(|value| follow(value, step)).collect();
    }
    found
}

fn follow<'a>(value: &'a Value, step: &str) -> Vec<&'a Value> {
    let Value::Array(list) = value else { return value.get(step).into_iter().collect() };
    if step == "*" {
        return list.iter().collect();
    }
    let filter = step.strip_prefix('[').and_then(|step| step.strip_suffix(']')?.split_once('='));
    if let Some((key, text)) = filter {
        return list.iter().filter(|item| item[key] == text).collect();
    }
    let place = step.strip_prefix('-').map_or_else(
        || step.parse().ok(),
        |back| back.parse().ok().and_then(|back: usize| list.len().checked_sub(back)),
    );
    place.and_then(|place: usize| list.get(place)).into_iter().collect()
}

#[expect(clippy::cast_precision_loss, reason = "a list's length")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(expression: &Value) -> Option<f64> {
        let first = json!({"peak": 12, "layers": [
            {"kind": "embedding", "bytes": 1}, {"kind": "block", "bytes": 10}, {"kind": "block", "bytes": 20},
            {"kind": "head", "bytes": 100, "action": "keep"},
        ]});
        value(expression, &[first, json!({"peak": 48})])
    }

    #[test]
    fn a_path_sums_what_it_leads_to() {
        assert_eq!(of(&json!("/peak")), Some(12.0));
        assert_eq!(of(&json!("1:/peak")), Some(48.0));
        assert_eq!(of(&json!("/layers/[kind=block]/bytes")), Some(30.0));
        assert_eq!(of(&json!("/layers/*/bytes")), Some(131.0));
        assert_eq!(of(&json!("/layers/-1/bytes")), Some(100.0));
        assert_eq!(of(&json!("/layers/1/bytes")), Some(10.0));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_no_number() {
        for path in [
            "/peaks",
            "/layers/9/bytes",
            "/layers/-9/bytes",
            "/layers/[kind=moe]/bytes",
            "2:/peak",
            "/layers/0/kind",
        ] {
            assert_eq!(of(&json!(path)), None, "{path}");
        }
        assert_eq!(of(&json!(["+", "/peak", "/peaks"])), None);
        assert_eq!(of(&json!(["%", 1, 2])), None);
    }

    #[test]
    fn operations() {
        assert_eq!(of(&json!(["-", 1, ["/", "/peak", "1:/peak"]])), Some(0.75));
        assert_eq!(of(&json!(["*", 2, ["+", "/peak", 1, 1]])), Some(28.0));
        assert_eq!(of(&json!(["count", "/layers/[kind=block]"])), Some(2.0));
        assert_eq!(of(&json!(["is", "/layers/-1/action", "keep"])), Some(1.0));
        assert_eq!(of(&json!(["is", "/layers/*/kind", "block"])), Some(0.0));
    }
}
