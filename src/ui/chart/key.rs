//! What keys mean on anything that slides.

/// A move along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// So many small steps.
    By(i64),
    /// To the beginning.
    First,
    /// To the end.
    Last,
}

/// The move of a key; Page keys are ten steps.
pub fn moved(key: &str) -> Option<Move> {
    Some(match key {
        "ArrowLeft" | "ArrowDown" => Move::By(-1),
        "ArrowRight" | "ArrowUp" => Move::By(1),
        "PageDown" => Move::By(-10),
        "PageUp" => Move::By(10),
        "Home" => Move::First,
        "End" => Move::Last,
        _ => return None,
    })
}

/// The index after a move among `count`.
pub fn walk(at: Option<usize>, step: Move, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(match (step, at) {
        (Move::First, _) => 0,
        (Move::Last, _) => last,
        (Move::By(n), None) => {
            if n < 0 {
                last
            } else {
                0
            }
        }
        (Move::By(n), Some(at)) => {
            let n_abs = usize::try_from(n.unsigned_abs()).unwrap_or(last);
            if n < 0 { at.saturating_sub(n_abs) } else { (at + n_abs).min(last) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walking_stays_inside() {
        assert_eq!(walk(None, Move::By(1), 0), None);
        assert_eq!(walk(None, Move::By(1), 3), Some(0));
        assert_eq!(walk(Some(1), Move::By(10), 3), Some(2));
        assert_eq!(walk(Some(1), Move::By(-10), 3), Some(0));
        assert_eq!(walk(Some(1), Move::Last, 3), Some(2));
        assert_eq!(moved("a"), None);
    }
}
