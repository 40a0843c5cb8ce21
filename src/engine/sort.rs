//! One sort for everything that is put in order: the standard library's is compiled anew for each type, and the page would carry ten of
//! them. Keys are three whole numbers, taken once, so that it is as fast as those.

/// What things are put in order by: by the first, then the second, then the third.
pub type Key = (u64, u64, u64);

/// The places `0..count` in the order of their keys, equal ones as they stand.
#[must_use]
pub fn order(count: usize, key: impl Fn(usize) -> Key) -> Vec<usize> {
    places((0..count).map(|place| (key(place), place)).collect())
}

/// The items in the order of their keys, equal ones as they stand.
#[must_use]
pub fn sorted<T: Clone>(items: &[T], key: impl Fn(&T) -> Key) -> Vec<T> {
    order(items.len(), |i| key(&items[i])).into_iter().map(|i| items[i].clone()).collect()
}

/// A number as a key, in the order of [`f64::total_cmp`].
#[must_use]
pub const fn float(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

#[inline(never)]
fn places(mut keyed: Vec<(Key, usize)>) -> Vec<usize> {
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ones_stay_as_they_stand() {
        let items = [(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd'), (0, 'e')];
        let text: String =
            sorted(&items, |item| (item.0, 0, 0)).iter().map(|item| item.1).collect();
        assert_eq!(text, "ebdac");
        assert_eq!(order(4, |i| [(1, 0, 2), (1, 0, 1), (0, 9, 9), (1, 1, 0)][i]), [2, 1, 0, 3]);
        assert!(order(0, |_| (0, 0, 0)).is_empty());
    }

    #[test]
    fn numbers_are_in_their_order() {
        let numbers = [f64::NEG_INFINITY, -2.5, -0.0, 0.0, 1e-300, 1.0, 2.0, f64::INFINITY];
        assert!(numbers.windows(2).all(|pair| float(pair[0]) < float(pair[1])));
    }
}
