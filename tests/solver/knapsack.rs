//! The knapsack: proved optima, published cases, brute force.

use super::{SOLVER, number, part, rows, sizes, times, vector, whole};
use galley::engine::search::additive::{Kept, Knapsack};
use proptest::prelude::*;

#[track_caller]
fn consistent(knapsack: &Knapsack, answer: &Kept) {
    let bytes: u64 = answer.kept.iter().map(|&i| knapsack.sizes[i]).sum();
    let saved = answer.kept.iter().fold(0.0, |sum, &i| sum + knapsack.runtimes[i]);
    assert!(bytes <= knapsack.budget, "{bytes} bytes in a budget of {}", knapsack.budget);
    assert_eq!(saved.to_bits(), answer.saved_s.to_bits());
    assert!(answer.kept.is_sorted_by(|a, b| a < b) && answer.bound_s >= answer.saved_s);
    assert!(answer.optimal);
}

#[test]
fn every_instance_is_solved_to_its_optimum() {
    let instances = rows(&SOLVER, "knapsack_instances");
    let cases = rows(&SOLVER, "knapsack");
    assert_eq!((instances.len(), cases.len()), (18, 162));
    for case in cases {
        let row = instances.iter().find(|row| row["id"] == case["instance"]).expect("its instance");
        let knapsack = Knapsack {
            sizes: sizes(row, "size_bytes"),
            runtimes: times(row, "runtime_s"),
            budget: whole(case, "budget_bytes"),
        };
        let answer = knapsack.solve();
        consistent(&knapsack, &answer);
        let best = number(&case["highs_gap0"], "saved_runtime_s");
        let difference = (answer.saved_s - best).abs();
        assert!(difference <= 1e-9 * best, "{}: {} against {best}", row["id"], answer.saved_s);
        for other in ["torch_dp", "torch_greedy", "torch_ilp"] {
            let other = &case[other];
            let within = other["feasible"] == true;
            assert!(!within || number(other, "saved_runtime_s") <= answer.saved_s * (1.0 + 1e-9));
        }
    }
}

#[test]
fn published_cases_come_out_by_value() {
    let published = vector("published");
    let cases = rows(&published["knapsack_pytorch_cases"], "rows");
    assert_eq!(cases.len(), 9);
    for case in cases {
        let list = |i: usize| case[i].as_array().expect("a list").iter();
        let knapsack = Knapsack {
            sizes: list(0).map(|size| size.as_u64().expect("bytes")).collect(),
            runtimes: list(1).map(|time| time.as_f64().expect("seconds")).collect(),
            budget: case[2].as_u64().expect("bytes"),
        };
        let answer = knapsack.solve();
        consistent(&knapsack, &answer);
        assert_eq!(Some(answer.saved_s), case[3].as_f64(), "{case}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// Over all subsets, with ties, nothings and budgets from none to all.
    #[test]
    fn brute_force_agrees(
        tensors in proptest::collection::vec((0..50_u64, 0..30_u32), 0..13),
        share in 0.0..1.1,
    ) {
        let total: u64 = tensors.iter().map(|tensor| tensor.0).sum();
        let knapsack = Knapsack {
            sizes: tensors.iter().map(|tensor| tensor.0).collect(),
            runtimes: tensors.iter().map(|tensor| f64::from(tensor.1)).collect(),
            budget: part(total, share),
        };
        let answer = knapsack.solve();
        consistent(&knapsack, &answer);
        let best = (0..1_u32 << tensors.len())
            .map(|set| (0..tensors.len()).filter(move |i| set >> i & 1 == 1))
            .filter(|set| set.clone().map(|i| knapsack.sizes[i]).sum::<u64>() <= knapsack.budget)
            .map(|set| set.fold(0.0, |sum, i| sum + knapsack.runtimes[i]))
            .fold(0.0, f64::max);
        prop_assert_eq!(answer.saved_s.to_bits(), best.to_bits());
    }
}
