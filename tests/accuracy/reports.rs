//! Public reports with numbers: reports.json, each with its own thread.

use crate::shape::{
    Group, abs, exact, figure, float, int, list, rel, single, text_of, vectors, with,
};
use serde_json::{Value, json};

const GIB: f64 = 1_073_741_824.0;
const MIB: f64 = 1_048_576.0;

type Figures = Vec<(Value, Value)>;

pub fn groups() -> Vec<Value> {
    let file = vectors("reports");
    let sets = list(&file["cases"]).iter().flat_map(|case| {
        let source = json!({"source": case["source"], "url": url(text_of(&case["source"]))});
        sets(case).into_iter().map(move |set| with(set, source.clone()))
    });
    vec![
        Group {
            id: "reports",
            title: ["Public reports", "公开报告"],
            about: [
                "Numbers from public issues and pull requests, each to the tolerance that it allows; 1 stands for a rule that holds.",
                "公开议题与合并请求中的数字，各按其允许的误差；1 表示规则成立。",
            ],
            evidence: "measured",
            source: "public issues and pull requests",
            url: None,
            bar: None,
        }
        .of(sets.collect()),
    ]
}

/// The thread of a source such as "owner/name PR 12" or "owner/name#12"; the first, if there are several.
fn url(source: &str) -> Option<String> {
    let (repository, number) = source.split_once(" PR ").or_else(|| source.split_once('#'))?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    let kind = if source.contains(" PR ") { "pull" } else { "issues" };
    Some(format!("https://github.com/{repository}/{kind}/{digits}"))
}

fn large_card() -> Value {
    json!({"preset": "h100-80g", "memory_gib": 10_000, "host_gib": 10_000})
}

fn request(workload: &Value, training: &Value, policy: &Value) -> Value {
    json!({"v": 1, "workload": workload, "training": training, "hardware": large_card(), "policy": policy})
}

/// Every layer recomputed, boundaries kept (1) and offloaded (0, the scenario that is loaded).
fn boundaries(name: &str, workload: &Value, training: &Value, figures: Figures) -> Value {
    let policy = |kind: &str| request(workload, training, &json!({"kind": kind}));
    let set = single(name, policy("offload-boundaries"), figures);
    with(set, json!({"against": policy("recompute")}))
}

fn drop_of(key: &str) -> Value {
    json!(["-", format!("1:/{key}"), format!("/{key}")])
}

fn over(measure: &Value, unit: f64) -> Value {
    json!(["/", measure, unit])
}

fn same(name: [&str; 2], unit: &str, measure: Value, expected: impl Into<Value>) -> (Value, Value) {
    (figure(name, unit, exact(), measure), expected.into())
}

fn near(
    name: [&str; 2],
    unit: &str,
    within: Value,
    measure: Value,
    expected: &Value,
) -> (Value, Value) {
    (figure(name, unit, within, measure), expected.clone())
}

fn sets(case: &Value) -> Vec<Value> {
    let (input, measured, expect) = (&case["input"], &case["measured"], &case["expect"]);
    let id = text_of(&case["id"]);
    match id {
        "boundary-8L" | "boundary-36L-128k" => vec![boundary(id, input, measured, expect)],
        "qwen3-8b-boundary-offload" => qwen3(input, measured, expect),
        "freed-but-peak-unmoved" => vec![freed(id, input, measured, expect)],
        "8k-no-benefit" => vec![no_benefit(id, input, measured, expect)],
        "segments-9-by-5" => segments(input, measured, expect),
        "segments-more-than-layers" => {
            let policy = json!({"kind": "checkpoint", "k": input["k"]});
            let figures = vec![
                same(
                    ["segments", "段数"],
                    "",
                    json!(["count", "/segments/*"]),
                    input["layers"].clone(),
                ),
                same(["the reader is told", "告知读者"], "", json!(["count", "/clamped/*"]), 1),
            ];
            let set = single(id, request(&units(&input["layers"]), &json!({}), &policy), figures);
            vec![with(set, json!({"clamps": true}))]
        }
        "segments-one" => vec![one_segment(id, input, measured)],
        "selective-attention-recompute" => selective(expect),
        "chunked-loss" => vec![chunked(id, input, measured, expect)],
        "logits-151936" => {
            let workload = json!({"preset": "qwen3-8b", "vocab": input["vocab"], "seq": input["rows"], "batch": 1});
            let logits = over(&json!("/layers/[kind=head]/saved/-1/bytes"), GIB);
            let figures =
                vec![near(["logits", "logits"], "GiB", rel(0.0005), logits, &expect["gib"])];
            vec![single(id, request(&workload, &json!({}), &json!({"kind": "keep"})), figures)]
        }
        "zero3-estimator" => zero3(input, expect),
        "fixed-cost-per-copy" => vec![fixed_cost(id, input, expect)],
        "five-layers-two-offloaded" => five_layers(),
        "ratio-qwen3-8b" => ratio(input, expect),
        other => panic!("{other} has no scenario yet"),
    }
}

fn llama(input: &Value, vocab: u64) -> Value {
    json!({"block": "llama", "layers": input["layers"], "hidden": input["hidden"], "heads": 8, "seq": input["seq"],
        "vocab": vocab})
}

fn boundary(id: &str, input: &Value, measured: &Value, expect: &Value) -> Value {
    let expected = &expect["boundary_bytes"];
    let dropped = drop_of("resident_after_forward_bytes");
    let mut figures = vec![
        same(
            ["sum of boundaries", "边界之和"],
            "B",
            json!("/layers/[kind=block]/boundary_bytes"),
            expected.clone(),
        ),
        same(["bytes out", "移出的字节"], "B", json!("/bytes_out"), expected.clone()),
        same(["drop after forward", "前向后的减少"], "B", dropped.clone(), expected.clone()),
    ];
    if measured["resident_drop_mib"].is_number() {
        let name = ["measured drop after forward", "实测的前向后减少"];
        figures.push(same(name, "MiB", over(&dropped, MIB), measured["resident_drop_mib"].clone()));
    }
    boundaries(id, &llama(input, 32_000), &json!({"dtype": "bf16"}), figures)
}

fn qwen3(input: &Value, measured: &Value, expect: &Value) -> Vec<Value> {
    let lengths = list(&input["seq"]).iter().zip(list(&expect["peak_saving_gib"])).enumerate();
    lengths
        .map(|(i, (seq, saving))| {
            let saved = over(&drop_of("peak_bytes"), GIB);
            let mut figures =
                vec![near(["peak saved", "峰值节省"], "GiB", rel(0.03), saved, saving)];
            let slower = json!(["-", ["/", "/step_s", "1:/step_s"], 1]);
            let (fast, slow) = (&measured["tokens_per_s_16k"][0], &measured["tokens_per_s_16k"][1]);
            if i == 0 {
                let range = json!([0, 0.05]);
                let published = float(fast) / float(slow) - 1.0;
                assert!((0.0..=0.05).contains(&published), "the report keeps its own rule");
                figures.push((figure(["slower by", "变慢"], "", exact(), slower), range));
            }
            let workload = json!({"preset": "qwen3-8b", "seq": seq});
            boundaries(
                &format!("qwen3-8b-boundary-offload, {seq}"),
                &workload,
                &json!({"lora_rank": 16}),
                figures,
            )
        })
        .collect()
}

/// The report's model is not given beyond its layers: the vocabulary here is a guess, and only the rule is sure.
fn freed(id: &str, input: &Value, measured: &Value, expect: &Value) -> Value {
    let boundary = float(&expect["boundary_gb"]);
    let of = |key: &str, figure: &str| float(&measured[key][figure]);
    let peak = of("checkpoint", "peak_gb") - of("checkpoint_offload", "peak_gb");
    let after = of("checkpoint", "after_forward_gb") - of("checkpoint_offload", "after_forward_gb");
    let resident = over(&drop_of("resident_after_forward_bytes"), 1e9);
    let ratio = json!(["/", drop_of("peak_bytes"), drop_of("resident_after_forward_bytes")]);
    assert!(after <= boundary, "the report keeps its own rule");
    let figures = vec![
        near(["drop after forward", "前向后的减少"], "GB", abs(0.005), resident, &json!(after)),
        same(
            ["peak drop over drop after forward", "峰值减少比前向后减少"],
            "",
            ratio,
            json!([0, 1]),
        ),
        same(
            ["peak drop, measured", "峰值减少，实测"],
            "GB",
            over(&drop_of("peak_bytes"), 1e9),
            peak,
        ),
    ];
    boundaries(id, &llama(input, 32_000), &json!({"dtype": "bf16", "optimizer": "sgd"}), figures)
}

/// Modules as the report runs them, gradients as large as the weights.
fn no_benefit(id: &str, input: &Value, measured: &Value, expect: &Value) -> Value {
    let steps = [0, 1].map(|i| float(&measured["step_ms"][i]));
    let ratio = json!(["/", "/step_s", "1:/step_s"]);
    let share = json!(["/", drop_of("peak_bytes"), "1:/peak_bytes"]);
    let over_weights = |at: &str| {
        let weights = format!("{at}/static_bytes/weights");
        over(&json!(["-", format!("{at}/peak_bytes"), weights]), 1e9)
    };
    let peaks = &measured["peak_delta_gb"];
    let figures = vec![
        same(
            ["host memory", "主机内存"],
            "B",
            json!("/host_peak_bytes"),
            expect["host_growth_bytes"].clone(),
        ),
        near(
            ["step, offloaded over kept", "步长，卸载比保留"],
            "",
            rel(0.01),
            ratio,
            &json!(steps[1] / steps[0]),
        ),
        near(["share of the peak saved", "峰值节省份额"], "", abs(0.01), share, &json!(0)),
        near(
            ["peak over the weights, kept", "权重之上的峰值，保留"],
            "GB",
            rel(0.03),
            over_weights("1:"),
            &peaks[0],
        ),
        near(
            ["peak over the weights, offloaded", "权重之上的峰值，卸载"],
            "GB",
            rel(0.03),
            over_weights(""),
            &peaks[1],
        ),
    ];
    let workload = json!({"preset": "qwen3-8b", "seq": input["seq"], "batch": input["batch"], "implementation": "eager"});
    boundaries(id, &workload, &json!({"dtype": "bf16", "optimizer": "sgd"}), figures)
}

/// Uniform layers of one gigabyte.
fn units(layers: &Value) -> Value {
    json!({"kind": "lesson", "layers": layers, "act_gb": 1, "layer_s": 1})
}

fn segments(input: &Value, measured: &Value, expect: &Value) -> Vec<Value> {
    let ask = |name: &str, policy: Value, figures| {
        single(
            &format!("segments-9-by-5, {name}"),
            request(&units(&input["layers"]), &json!({}), &policy),
            figures,
        )
    };
    let formula = over(&json!("/lesson/k_segments_with_boundaries_bytes"), 1e9);
    let name = ["units at the peak, by formula", "公式峰值单位数"];
    let split = json!(["is", "/segments", expect["split"]]);
    vec![
        ask(
            "even split",
            json!({"kind": "checkpoint", "k": input["k"]}),
            vec![
                same(["the split is even", "均匀分段"], "", split, 1),
                same(name, "", formula.clone(), expect["peak_units"].clone()),
            ],
        ),
        ask(
            "naive split",
            json!({"kind": "checkpoint", "segments": measured["split"]}),
            vec![same(name, "", formula, expect["naive_peak_units"].clone())],
        ),
        ask(
            "none",
            json!({"kind": "keep"}),
            vec![same(
                ["units", "单位数"],
                "",
                over(&json!("/saved_peak_bytes"), 1e9),
                expect["none_units"].clone(),
            )],
        ),
    ]
}

/// One segment saves nothing: the report's two peaks differ by 0.01 MB.
fn one_segment(id: &str, input: &Value, measured: &Value) -> Value {
    let [keep, one] = [0, 1].map(|i| float(&measured["peak_mb"][i]));
    // The report's model has ten classes: no head to speak of.
    let workload = json!({"preset": "gpt2", "vocab": 10});
    let ratio = json!(["/", "/saved_peak_bytes", "1:/saved_peak_bytes"]);
    let figures = vec![near(
        ["peak, one segment over none", "峰值，一段比无"],
        "",
        abs(0.01),
        ratio,
        &json!(one / keep),
    )];
    let ask = |policy: Value| request(&workload, &json!({}), &policy);
    let set = single(id, ask(json!({"kind": "checkpoint", "k": input["k"]})), figures);
    with(set, json!({"against": ask(json!({"kind": "keep"}))}))
}

fn selective(expect: &Value) -> Vec<Value> {
    let share = json!([
        "/",
        "/layers/[kind=block]/saved/[action=keep]/bytes",
        "/layers/[kind=block]/saved_bytes"
    ]);
    let ask = |name: &str, attention: &str, figures| {
        let workload = json!({"preset": "gpt3-175b", "attention": attention});
        let request = request(&workload, &json!({}), &json!({"kind": "selective"}));
        single(&format!("selective-attention-recompute, {name}"), request, figures)
    };
    vec![
        ask(
            "eager",
            "eager",
            vec![near(
                ["share kept", "保留份额"],
                "",
                rel(0.005),
                share.clone(),
                &expect["flash_off_ratio"],
            )],
        ),
        ask(
            "flash",
            "flash",
            vec![same(
                ["share saved", "节省份额"],
                "",
                json!(["-", 1, share]),
                json!([0, expect["flash_on_saving_below"]]),
            )],
        ),
    ]
}

fn chunked(id: &str, input: &Value, measured: &Value, expect: &Value) -> Value {
    let ask = |chunks: u64| {
        let workload = json!({"preset": "llama-3-8b", "vocab": input["vocab"], "seq": input["seq"],
            "batch": input["batch"], "loss_chunks": chunks});
        request(&workload, &json!({}), &json!({"kind": "keep"}))
    };
    let logits = over(&json!("1:/layers/[kind=head]/saved/-1/bytes"), GIB);
    let removed = over(&drop_of("peak_bytes"), GIB);
    // What stays after forward, and that with its gradient.
    let [low, high] = [0, 1].map(|i| &expect["loss_term_gib"][i]);
    let drop = float(&measured["peak_gib"][0]) - float(&measured["peak_gib"][1]);
    let least = float(&expect["eight_chunks_remove_at_least_gib"]);
    assert!(drop >= least, "the report keeps its own rule");
    let figures = vec![
        near(
            ["fp32 logits", "fp32 logits"],
            "GiB",
            rel(0.0005),
            logits.clone(),
            &expect["logits_fp32_gib"],
        ),
        same(["eight chunks remove", "八块减少"], "GiB", removed, json!([least, null])),
        near(["the loss keeps", "损失保存"], "GiB", rel(0.005), logits.clone(), low),
        near(["with its gradient", "含梯度"], "GiB", rel(0.01), json!(["*", 2, logits]), high),
    ];
    with(single(id, ask(8), figures), json!({"against": ask(1)}))
}

/// States over four ranks and the largest layer gathered, as the report's estimator counts, with nothing, the optimizer and everything
/// on the host. Its model has 1 % more parameters than the preset.
fn zero3(input: &Value, expect: &Value) -> Vec<Value> {
    let placed = [
        ("none", "no_offload_gib"),
        ("optimizer", "optimizer_offload_gib"),
        ("all", "all_offload_gib"),
    ];
    placed
        .map(|(offload, key)| {
            let mut training =
                json!({"zero": input["zero"], "dp": input["dp"], "grad_dtype": "fp32", "gathered_layers": 1});
            if offload != "none" {
                training["offload_states"] = offload.into();
            }
            let states = json!(["+", "/static_bytes/weights", "/static_bytes/gradients", "/static_bytes/optimizer"]);
            let scaled = json!(["*", ["/", input["params"], "/params/model"], states]);
            let gathered = json!(["-", "/lesson/zero3_estimate_bytes", states]);
            let estimate = over(&json!(["+", scaled, gathered]), GIB);
            let name = ["states and the largest layer", "状态与最大层"];
            let figures = vec![near(name, "GiB", abs(0.005), estimate, &expect[key])];
            let workload = json!({"preset": "llama-2-7b", "seq": 128});
            let request = request(&workload, &training, &json!({"kind": "keep"}));
            single(&format!("zero3-estimator, {offload} offloaded"), request, figures)
        })
        .into()
}

/// One layer of 155 tensors, so that a step has as many copies each way.
fn fixed_cost(id: &str, input: &Value, expect: &Value) -> Value {
    let copies = int(&input["copies_per_step"]);
    let layer = json!({"forward_s": 1, "saved": vec![json!({"name": "tensor", "bytes": 1_000_000}); usize::try_from(copies).expect("a count")]});
    let ask = |overhead_us: f64| {
        json!({"v": 1, "workload": {"kind": "profile", "layers": [layer]},
            "hardware": {"memory_gib": 100, "copy_overhead_us": overhead_us},
            "policy": {"kind": "offload", "granularity": "tensor"}})
    };
    let serial = json!(["*", 1000, ["-", "/d2h_s", "1:/d2h_s"]]);
    let name = ["serial cost", "串行开销"];
    let figures = vec![near(name, "ms", rel(1e-9), serial, &expect["serial_cost_ms"])];
    let set = single(id, ask(float(&input["fixed_cost_ms"]) * 1e3), figures);
    with(set, json!({"against": ask(0.0)}))
}

/// Sets of one layer each; of five, the first n leave and there is room for the other 5 − n. Two copies take just what three layers
/// compute.
fn five_layers() -> Vec<Value> {
    const SET: u64 = 1 << 30;
    #[expect(clippy::cast_precision_loss, reason = "a gibibyte")]
    let rate = SET as f64 / 1.5 / 1e9;
    let layer = json!({"forward_s": 1, "backward_s": 2, "saved": [{"name": "set", "bytes": SET}]});
    let ask = |n: usize, room: f64, figures: Figures| {
        let plan: Vec<&str> = (0..5).map(|i| if i < n { "host" } else { "keep" }).collect();
        let request = json!({"v": 1, "workload": {"kind": "profile", "layers": vec![&layer; 5]},
            "hardware": {"memory_gib": 100, "d2h_gbps": rate, "h2d_gbps": rate, "copy_overhead_us": 0},
            "limits": {"memory_gib": room}, "policy": {"kind": "plan", "plan": plan, "prefetch_layers": 5}});
        single(&format!("five-layers-two-offloaded, n = {n}"), request, figures)
    };
    let fits = |holds: u64| {
        let name =
            if holds == 1 { ["it fits", "放得下"] } else { ["it is refused", "被拒绝"] };
        same(name, "", json!(["is", "/fits", holds == 1]), 1)
    };
    let sets = |most: u64| {
        same(
            ["resident sets", "驻留组数"],
            "",
            json!(["/", "/peak_bytes", SET]),
            json!([null, most]),
        )
    };
    let stall = |range: Value| same(["stall", "停顿"], "s", json!("/stall_s"), range);
    vec![
        ask(2, 3.0, vec![fits(1), stall(json!(0)), sets(3)]),
        ask(3, 2.0, vec![fits(1), stall(json!([0.001, null])), sets(2)]),
        ask(
            4,
            1.0,
            vec![fits(1), same(["hidden transfer", "隐藏的传输"], "s", json!("/hidden_s"), 0)],
        ),
        ask(5, 0.001, vec![fits(0)]),
    ]
}

/// Per token and layer; a short sequence, for the attention core is not in the report's 2·params.
fn ratio(input: &Value, expect: &Value) -> Vec<Value> {
    let (seq, batch) = (256_u64, 32_u64);
    let ask = |name: &str, policy: &str, figures| {
        let request = json!({"v": 1,
            "workload": {"preset": "qwen3-8b", "hidden": input["hidden"], "seq": seq, "batch": batch,
                "implementation": "eager"},
            "hardware": {"memory_gib": 10_000, "host_gib": 10_000, "tflops": input["tflops"], "efficiency": 1,
                "hbm_gbps": 1_000_000, "d2h_gbps": input["gbps"], "h2d_gbps": input["gbps"]},
            "policy": {"kind": policy}});
        single(&format!("ratio-qwen3-8b, {name}"), request, figures)
    };
    let tokens = seq * batch;
    let block = |key: &str| format!("/layers/1/{key}");
    let forward = json!(["/", ["*", 1e6, block("forward_s")], tokens]);
    let copy = |key: &str| json!(["/", block(key), tokens, float(&input["gbps"]) * 1e3]);
    let per = |name: [&str; 2], measure: Value, key: &str| {
        near(name, "µs", rel(0.05), measure, &expect[key])
    };
    vec![
        ask(
            "everything",
            "offload",
            vec![
                per(["forward", "前向"], forward, "forward_us_per_token_layer"),
                per(
                    ["boundary", "边界"],
                    copy("boundary_bytes"),
                    "boundary_copy_us_per_token_layer",
                ),
                per(["everything", "全部"], copy("saved_bytes"), "everything_us_per_token_layer"),
                same(["the link binds", "链路受限"], "", json!(["is", "/binding", "link"]), 1),
            ],
        ),
        ask(
            "boundaries",
            "offload-boundaries",
            vec![same(["stall", "停顿"], "s", json!("/stall_s"), 0)],
        ),
    ]
}
