//! One sort for everything that is put in order: the standard library's is compiled anew for each type, and the page would carry ten of
//! them. Stable, as that is.

use std::cmp::Ordering;

/// The places `0..count` in the order of their keys, equal ones as they stand.
#[must_use]
pub fn order<K: Ord>(count: usize, key: impl Fn(usize) -> K) -> Vec<usize> {
    order_by(count, &|a, b| key(a).cmp(&key(b)))
}

/// The same by a comparison.
#[must_use]
pub fn order_by(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}

/// The items in the order of their keys, equal ones as they stand.
#[must_use]
pub fn sorted<T: Clone, K: Ord>(items: &[T], key: impl Fn(&T) -> K) -> Vec<T> {
    order(items.len(), |i| key(&items[i])).into_iter().map(|i| items[i].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ones_stay_as_they_stand() {
        let items = [(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd'), (0, 'e')];
        let text: String = sorted(&items, |item| item.0).iter().map(|item| item.1).collect();
        assert_eq!(text, "ebdac");
        assert_eq!(order(3, std::cmp::Reverse), [2, 1, 0]);
        assert!(order_by(0, &|_, _| Ordering::Equal).is_empty());
    }
}
