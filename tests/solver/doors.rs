//! The additive model and the knapsack through the doors: keys, answers, refusals.

use super::{SOLVER, rows};
use galley::engine::door;
use serde_json::{Value, json};

fn plan(request: &Value) -> Value {
    door::plan(&request.to_string()).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(request: &Value, code: &str, path: &str) {
    let error = door::plan(&request.to_string()).expect_err("refused");
    assert_eq!((error.code(), error.path()), (code, path), "{error}");
}

/// The instances' own keys are accepted as they are, and nothing of them is reported as unknown.
#[test]
fn an_instance_is_a_request() {
    let row = &rows(&SOLVER, "four_choice")[1];
    let answer = plan(&json!({"v": 1, "cost_model": "additive", "additive": row}));
    let list = answer["policy"]["plan"].as_array().expect("a plan");
    assert_eq!(list.len(), rows(row, "size_bytes").len());
    assert!(
        list.iter()
            .all(|action| ["keep", "recompute", "host", "ssd"].iter().any(|name| action == name))
    );
    assert_eq!((&answer["optimal"], &answer["cost_model"]), (&json!(true), &json!("additive")));
    assert_eq!((&answer["gap"], &answer["ignored"]), (&json!(0.0), &json!([])));
    assert_eq!(answer["objective_s"], answer["bound_s"]);
    let objective = answer["objective_s"].as_f64().expect("seconds");
    let parts = ["recompute_s", "exposed_s"].map(|key| answer["outcome"][key].as_f64().expect("s"));
    assert_eq!((parts[0] + parts[1]).to_bits(), objective.to_bits());
    // Without the cost model named, the keys say enough.
    assert_eq!(plan(&json!({"additive": row})), answer);
}

#[test]
fn a_knapsack_is_a_request() {
    let answer = plan(
        &json!({"knapsack": {"size_bytes": [2, 3, 2, 4, 1], "runtime_s": [1, 2, 1, 3, 2], "budget_bytes": 5}}),
    );
    assert_eq!((&answer["kept"], &answer["saved_runtime_s"]), (&json!([3, 4]), &json!(5.0)));
    assert_eq!(answer["optimal"], true);
    let none = plan(&json!({"knapsack": {"size_bytes": [], "runtime_s": [], "budget_bytes": 5}}));
    assert_eq!((&none["kept"], &none["saved_runtime_s"]), (&json!([]), &json!(0.0)));
}

fn profile(memory_gib: f64) -> Value {
    let layer = |i: u32| {
        json!({
            "forward_s": 0.01, "backward_s": 0.02, "boundary_bytes": 1_000_000, "saved": [{
                "name": "all", "bytes": 500_000_000 + 1_000_000 * i, "recompute_s": 0.004 + 0.0001 * f64::from(i),
            }],
        })
    };
    json!({
        "cost_model": "additive",
        "workload": {"kind": "profile", "static_bytes": {"weights": 1_000_000_000}, "layers": (0..8).map(layer).collect::<Vec<_>>()},
        "hardware": {"memory_gib": memory_gib, "d2h_gbps": 20, "h2d_gbps": 30, "host_gib": 1, "ssd_gib": 100},
    })
}

/// A profile's layers: the memory that static bytes leave, the slower of both directions counted in, all compute hides copies.
#[test]
fn a_profile_is_planned_by_the_additive_model() {
    let roomy = plan(&profile(24.0));
    assert_eq!((&roomy["objective_s"], &roomy["optimal"]), (&json!(0.0), &json!(true)));
    let request = profile(3.0);
    let tight = plan(&request);
    assert_eq!((&tight["optimal"], &tight["ignored"]), (&json!(true), &json!([])));
    let hidden = tight["hidden_s"].as_f64().expect("seconds");
    assert!((hidden - 0.24).abs() < 1e-9, "{hidden}");
    let link = tight["additive"]["t_link_s"].as_f64().expect("seconds");
    let moved =
        ["host_bytes", "ssd_bytes"].map(|key| tight["additive"][key].as_f64().expect("bytes"));
    assert!((link - (moved[0] + moved[1]) * (1.0 / 20e9 + 1.0 / 30e9)).abs() < 1e-12);
    // The simulation of the same plan stands beside it, and the plan is a request.
    assert!(tight["outcome"]["step_s"].as_f64().expect("seconds") >= 0.24);
    let again = json!({"workload": request["workload"], "hardware": request["hardware"], "policy": tight["policy"]});
    let again = door::evaluate(&again.to_string()).expect("a policy is a request");
    assert_eq!(again["step_s"], tight["outcome"]["step_s"]);
    // Less to hide copies behind costs more.
    let mut request = request;
    request["additive"] = json!({"hidden_s": 0.0, "n": 8});
    let bare = plan(&request);
    assert!(bare["objective_s"].as_f64() > tight["objective_s"].as_f64());
    assert_eq!(bare["ignored"], json!(["additive.n"]));
}

/// Nothing fits: said with the certificate that nothing can.
#[test]
fn no_plan_is_an_answer() {
    let mut request = profile(3.0);
    request["hardware"]["host_gib"] = json!(0);
    request["hardware"]["ssd_gib"] = json!(0);
    request["hardware"]["memory_gib"] = json!(0.5);
    let answer = plan(&request);
    assert_eq!((&answer["fits"], &answer["policy"]), (&json!(false), &Value::Null));
    assert!(answer["missing_static_bytes"].as_u64() > Some(0));
}

#[test]
fn the_front_has_its_keys() {
    let request = profile(3.0);
    let front = door::front(&request.to_string()).expect("valid");
    assert_eq!((&front["exact"], &front["cost_model"]), (&json!(true), &json!("additive")));
    let best = plan(&request)["objective_s"].as_f64().expect("seconds");
    let fitting = rows(&front, "points").iter().rfind(|point| point["fits"] == true).expect("one");
    assert!((fitting["objective_s"].as_f64().expect("seconds") - best).abs() < 1e-9);
}

#[test]
fn bad_requests_are_refused_by_path() {
    let good = &rows(&SOLVER, "four_choice")[0];
    let with = |key: &str, value: Value| {
        let mut row = good.clone();
        row[key] = value;
        json!({"additive": row})
    };
    refused(&with("recompute_s", json!([0.1])), "unfit", "additive.recompute_s");
    refused(&with("size_bytes", json!(vec![-1; 12])), "unfit", "additive.size_bytes[0]");
    refused(&with("size_bytes", json!(vec![1.5; 12])), "unfit", "additive.size_bytes[0]");
    refused(&with("size_bytes", json!(vec![1_u64 << 59; 12])), "too_large", "additive.size_bytes");
    refused(&with("size_bytes", json!(vec![1; 10_001])), "unfit", "additive.size_bytes");
    refused(&with("hidden_s", json!(-0.1)), "unfit", "additive.hidden_s");
    refused(&with("hidden_s", json!("NaN")), "unfit", "additive.hidden_s");
    let rate = "cpu_link_bandwidth_bytes_per_s";
    refused(&with(rate, json!(0)), "unfit", &format!("additive.{rate}"));
    refused(&with("memory_limit_bytes", Value::Null), "unfit", "additive.memory_limit_bytes");
    refused(&json!({"additive": {}}), "missing", "additive.size_bytes");
    refused(&json!({"additive": 3}), "unfit", "additive");
    refused(&json!({"cost_model": "exact"}), "unfit", "cost_model");
    refused(&json!({"v": 2, "additive": good}), "unfit", "v");
    refused(
        &json!({"knapsack": {"size_bytes": [1], "runtime_s": [], "budget_bytes": 1}}),
        "unfit",
        "knapsack.runtime_s",
    );
    refused(
        &json!({"knapsack": {"size_bytes": [1], "runtime_s": [1]}}),
        "missing",
        "knapsack.budget_bytes",
    );
    assert!(door::plan(r#"{"additive": {"hidden_s": 1e999}}"#).is_err());
    let front = door::front(&json!({"knapsack": {}}).to_string()).expect_err("refused");
    assert_eq!(front.path(), "knapsack");
    let odd = with("colour", json!("red"));
    assert_eq!(plan(&odd)["ignored"], json!(["additive.colour"]));
}
