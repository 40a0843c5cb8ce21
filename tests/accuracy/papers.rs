//! Published figures: published.json.

use crate::shape::{
    Group, abs, exact, figure, float, int, list, object, rel, set, single, text_of, vectors, with,
};
use serde_json::{Value, json};

const KORTHIKANTI: &str = "Korthikanti et al. 2022";
const KORTHIKANTI_URL: &str = "https://arxiv.org/abs/2205.05198";
const GIB: f64 = 1_073_741_824.0;
/// What the best analytical simulator's step times are off by at most: the tolerance of times.
pub const TIME: f64 = 0.0887;

const KEPT: &str = "/layers/[kind=block]/saved/[action=keep]/bytes";
const AGAINST_KEPT: &str = "1:/layers/[kind=block]/saved/[action=keep]/bytes";

pub fn groups() -> Vec<Value> {
    let file = vectors("published");
    vec![
        per_layer(&file),
        shares(&file),
        first_stage(&file),
        outside(&file),
        states(&file),
        playbook(&file),
        layer_times(&file),
        iterations(&file),
        calculon(&file),
        torchtune(&file, "peak"),
        torchtune(&file, "speed"),
        links(&file),
        hiding(&file),
        segments(&file),
        bound(&file),
    ]
}

/// The keys of one of the paper's four models.
fn model(config: &Value) -> Value {
    json!({
        "block": "gpt", "layers": config["layers"], "hidden": config["hidden"], "heads": config["heads"],
        "vocab": 51_200, "seq": 2048, "batch": config["micro_batch"], "attention": "eager", "dropout": true,
    })
}

pub fn config<'a>(file: &'a Value, name: &str) -> &'a Value {
    let found = list(&file["configs"]).iter().find(|config| config["name"] == name);
    found.unwrap_or_else(|| panic!("no configuration {name}"))
}

pub fn korthikanti<'a>(id: &'a str, title: [&'a str; 2], about: [&'a str; 2]) -> Group<'a> {
    Group {
        id,
        title,
        about,
        evidence: "published",
        source: KORTHIKANTI,
        url: Some(KORTHIKANTI_URL),
        bar: None,
    }
}

/// The closed forms of section 4, in whole bytes, with the norms' statistics that the paper's text drops.
fn per_layer(file: &Value) -> Value {
    let variants = [
        ("tensor parallel t", false, "keep"),
        ("tensor+sequence", true, "keep"),
        ("tensor+selective", false, "selective"),
        ("tensor+sequence+selective", true, "selective"),
        ("full recompute", false, "recompute"),
        ("no parallelism", false, "keep"),
    ];
    assert_eq!(object(&file["activation_bytes_per_layer"]).len(), variants.len());
    let sets = variants.map(|(name, sp, policy)| {
        let rows = list(&file["configs"]).iter().map(|config| {
            let size = |key: &str| int(&config[key]);
            let ways = if name == "no parallelism" { 1 } else { size("tp") };
            let (s, b, h, a) = (2048, size("micro_batch"), size("hidden"), size("heads"));
            let scores = if policy == "keep" { 5 * a * s * s * b } else { 0 };
            let outer = 10 * s * b * h + 16 * s * b;
            let bytes = match (policy, sp) {
                ("recompute", _) => 2 * s * b * h,
                (_, true) => (outer + 24 * s * b * h + scores) / ways,
                (_, false) => outer + (24 * s * b * h + scores) / ways,
            };
            json!([config["name"], [b, h, a, ways], [bytes]])
        });
        let request = json!({"v": 1,
            "workload": {"block": "gpt", "layers": 1, "vocab": 8, "seq": 2048, "attention": "eager", "dropout": true},
            "training": {"sp": sp}, "policy": {"kind": policy}});
        let columns =
            [["workload.batch", "b"], ["workload.hidden", "h"], ["workload.heads", "a"], ["training.tp", "t"]];
        let kept = figure(["bytes kept by one layer", "一层保存的字节"], "B", exact(), json!(KEPT));
        let form = text_of(&file["activation_bytes_per_layer"][name]).to_owned();
        set(&format!("{name}: {form}"), request, &columns, vec![kept], rows.collect())
    });
    korthikanti(
        "per-layer",
        ["Closed forms of one layer", "单层闭式公式"],
        [
            "Section 4's bytes of one layer for the paper's four models, with the norms' statistics (16·s·b, over t with sequence parallelism) that its text drops.",
            "论文第 4 节四个模型的单层字节公式，加上正文略去的归一化统计量（16·s·b，序列并行时除以 t）。",
        ],
    )
    .of(sets.into())
}

/// Figure 7's shares, and section 5's of selective recomputation.
fn shares(file: &Value) -> Value {
    let columns = [
        ["workload.batch", "b"],
        ["workload.hidden", "h"],
        ["workload.heads", "a"],
        ["training.tp", "t"],
    ];
    let percent = file["percent_of_tensor_parallel"].as_object().expect("shares");
    let techniques = [
        ("sp", true, "keep"),
        ("selective", false, "selective"),
        ("both", true, "selective"),
        ("full", false, "recompute"),
    ];
    let mut sets: Vec<Value> = techniques
        .iter()
        .map(|&(technique, sp, policy)| {
            let rows = percent.iter().filter(|(_, shares)| shares.is_object()).map(|(name, shares)| {
                let config = config(file, name);
                let values = [&config["micro_batch"], &config["hidden"], &config["heads"], &config["tp"]];
                json!([name, values, [shares[technique]]])
            });
            let workload =
                json!({"block": "gpt", "layers": 1, "vocab": 8, "seq": 2048, "attention": "eager", "dropout": true});
            let request =
                json!({"v": 1, "workload": workload, "training": {"sp": sp}, "policy": {"kind": policy}});
            let share = figure(
                ["share of tensor-parallel bytes", "占张量并行字节的份额"],
                "%",
                abs(0.2),
                json!(["*", 100, ["/", KEPT, AGAINST_KEPT]]),
            );
            let set = set(&format!("figure 7, {technique}"), request, &columns, vec![share], rows.collect());
            with(set, json!({"against": {"v": 1, "workload": workload, "policy": {"kind": "keep"}}}))
        })
        .collect();
    for (name, preset) in [("gpt3", "gpt3-175b"), ("mtnlg", "megatron-530b")] {
        let workload = json!({"preset": preset, "attention": "eager"});
        // All memory traffic free: the paper counts operations.
        let hardware =
            json!({"preset": "a100-80g", "hbm_gbps": 1_000_000, "memory_gib": 1_000_000});
        let request = json!({"v": 1, "workload": workload, "hardware": hardware, "policy": {"kind": "selective"}});
        let expected = &file["selective"][name];
        let figures = vec![
            (
                figure(
                    ["share of bytes saved", "节省的字节份额"],
                    "",
                    abs(0.005),
                    json!(["-", 1, ["/", KEPT, "/layers/[kind=block]/saved_bytes"]]),
                ),
                expected["memory_saved"].clone(),
            ),
            (
                figure(
                    ["operations over those of keeping", "相对保留的运算量"],
                    "",
                    abs(0.0005),
                    json!(["+", 1, ["/", "/recompute_s", ["+", "/forward_s", "/backward_s"]]]),
                ),
                json!(1.0 + float(&expected["flop_overhead"])),
            ),
        ];
        sets.push(single(&format!("selective, {name}"), request, figures));
    }
    korthikanti(
        "shares",
        ["What each technique leaves", "各项技术剩下多少"],
        [
            "Figure 7: bytes of one layer as a share of tensor parallelism's; section 5: what selective recomputation saves and adds.",
            "图 7：单层字节占张量并行的份额；第 5 节：选择性重算节省与增加多少。",
        ],
    )
    .of(sets)
}

/// The parallel layout of the paper's table 3: t, p, micro-batches a step, model chunks of interleaving (figure 1's note).
fn layout(config: &Value) -> Value {
    let (t, p) = (int(&config["tp"]), int(&config["pp"]));
    let dp = int(&config["gpus"]) / (t * p);
    let accumulation = int(&config["global_batch"]) / (int(&config["micro_batch"]) * dp);
    let chunks = match text_of(&config["name"]) {
        "175B" | "530B" => 3,
        _ => 1,
    };
    json!({"tp": t, "pp": p, "accumulation": accumulation, "virtual_stages": chunks})
}

/// A request for one of the four models as it was trained.
pub fn trained(config: &Value, sp: bool, policy: &str) -> Value {
    let layout = layout(config);
    let workload = with(model(config), json!({"accumulation": layout["accumulation"]}));
    let mut training = json!({"dtype": "bf16-mixed", "grad_dtype": "fp32", "tp": layout["tp"], "pp": layout["pp"], "sp": sp});
    if layout["virtual_stages"] != 1 {
        training["virtual_stages"] = layout["virtual_stages"].clone();
    }
    json!({"v": 1, "workload": workload, "training": training, "hardware": {"preset": "a100-80g"},
        "policy": {"kind": policy}})
}

fn first_stage(file: &Value) -> Value {
    let mut sets = Vec::new();
    for (key, sp, policy) in [("none", false, "keep"), ("sp_selective", true, "selective")] {
        for config in list(&file["configs"]) {
            let name = text_of(&config["name"]);
            // Micro-batches in flight: what the peak has beyond that of a step of one, in activations of one.
            let more = json!(["-", "/ledger_at_peak/activations", "1:/ledger_at_peak/activations"]);
            let in_flight = json!(["+", 1, ["/", more, "/resident_after_forward_bytes"]]);
            let gib = figure(
                ["activations of the first stage", "第一级的激活"],
                "GiB",
                rel(0.005),
                json!(["/", ["*", KEPT, in_flight], GIB]),
            );
            let request = trained(config, sp, policy);
            let mut one = request.clone();
            one["workload"]["accumulation"] = 1.into();
            let expected = file["first_stage_activations_gib"][name][key].clone();
            let set = single(&format!("{name}, {key}"), request, vec![(gib, expected)]);
            sets.push(with(set, json!({"against": one})));
        }
    }
    with_bar(
        korthikanti(
            "first-stage",
            ["Activations of the first pipeline stage", "第一级流水线的激活"],
            [
                "Figure 1, in GiB: what the layers keep for all micro-batches in flight under 1F1B, interleaved with three chunks for 175B and 530B; embedding and head left out.",
                "图 1，单位 GiB：1F1B 下各层为全部在途微批次保存的内容，175B 与 530B 以三块交错；不含嵌入与输出头。",
            ],
        ),
        "Calculon, figure 1: mean 2.08 %, worst 8.74 %",
        "Calculon 图 1：平均 2.08 %，最差 8.74 %",
    )
    .of(sets)
}

fn with_bar<'a>(group: Group<'a>, english: &'a str, chinese: &'a str) -> Group<'a> {
    Group { bar: Some([english, chinese]), ..group }
}

pub fn measured_with_bar<'a>(group: Group<'a>, english: &'a str, chinese: &'a str) -> Group<'a> {
    Group { evidence: "measured", ..with_bar(group, english, chinese) }
}

/// Outside the layers, of one micro-batch: the embedding's dropout mask, and without a pipeline the final norm, the head's input and
/// the fp32 logits.
fn outside(file: &Value) -> Value {
    let sets = list(&file["configs"]).iter().map(|config| {
        let size = |key: &str| float(&config[key]);
        let (b, h, t) = (size("micro_batch"), size("hidden"), size("tp"));
        let alone = if config["pp"] == 1 { 4.0 * (1.0 + 51_200.0 / h) } else { 0.0 };
        let expected = 2048.0 * b * h / t * (1.0 + alone);
        let ids = "/layers/[kind=embedding]/saved/[name=token ids]/bytes";
        let mut measure = json!(["-", "/layers/[kind=embedding]/saved_bytes", ids]);
        if config["pp"] == 1 {
            measure = json!(["+", measure, "/layers/[kind=head]/saved_bytes"]);
        }
        let bytes = figure(["bytes outside the layers", "层外字节"], "B", rel(0.002), measure);
        single(
            text_of(&config["name"]),
            trained(config, true, "keep"),
            vec![(bytes, json!(expected))],
        )
    });
    korthikanti(
        "outside",
        ["Outside the layers", "层外"],
        [
            "Section 4.3: the embedding's dropout mask, and without a pipeline the final norm, the head's input and fp32 logits; one micro-batch, the token ids left out.",
            "第 4.3 节：嵌入的 dropout 掩码，无流水线时再加最终归一化、输出头的输入与 fp32 logits；单个微批次，不含词元编号。",
        ],
    )
    .of(sets.collect())
}

const STATES: [&str; 4] =
    ["+", "/static_bytes/weights", "/static_bytes/gradients", "/static_bytes/optimizer"];

fn states(file: &Value) -> Value {
    let table = &file["parameter_and_optimizer_gib"];
    let mut sets: Vec<Value> = list(&file["configs"])
        .iter()
        .map(|config| {
            let name = text_of(&config["name"]);
            let mut request = trained(config, false, "keep");
            // The formula counts the blocks' matrices alone.
            request["workload"]["vocab"] = 1.into();
            request["workload"]["learned_positions"] = 1.into();
            let gib = figure(
                ["weights, gradients and optimizer", "权重、梯度与优化器"],
                "GiB",
                rel(0.001),
                json!(["/", STATES, GIB]),
            );
            single(
                &format!("{name}, 18 bytes a parameter"),
                request,
                vec![(gib, table[name].clone())],
            )
        })
        .collect();
    let zero = &file["zero"];
    for (stage, digits) in [(0_u64, 0.5), (1, 0.05), (2, 0.05), (3, 0.05)] {
        let billions = float(&zero["params"]) / 1e9;
        let gb = figure(
            ["states of 7.5 billion parameters", "75 亿参数的状态"],
            "GB",
            abs(digits),
            json!(["*", billions, ["/", STATES, "/params/model"]]),
        );
        let request = json!({"v": 1, "workload": {"preset": "llama-2-7b"}, "training": {"zero": stage, "dp": zero["dp"]}});
        let expected = zero["gb"][format!("stage{stage}")].clone();
        let set = single(&format!("ZeRO stage {stage}, 64 ranks"), request, vec![(gb, expected)]);
        sets.push(with(set, json!({"source": "Rajbhandari et al. 2020, ZeRO, figure 1", "url": "https://arxiv.org/abs/1910.02054"})));
    }
    for stage in 0..4_u64 {
        let parts = [("weights", "权重"), ("gradients", "梯度"), ("optimizer", "优化器")];
        let expected = &file["playbook_zero_gb_8B_dp8"][format!("zero{stage}")];
        let figures = parts.iter().enumerate().map(|(i, (part, chinese))| {
            let measure = json!(["/", format!("/static_bytes/{part}"), GIB]);
            (figure([part, chinese], "GiB", rel(0.005), measure), expected[i].clone())
        });
        let request = json!({"v": 1, "workload": {"preset": "llama-3-8b"},
            "training": {"dtype": "bf16", "optimizer_bytes": 8, "zero": stage, "dp": 8}});
        let set = single(&format!("8B, ZeRO {stage}, 8 ranks"), request, figures.collect());
        sets.push(with(
            set,
            json!({"source": "The Ultra-Scale Playbook, Hugging Face 2025",
            "url": "https://huggingface.co/spaces/nanotron/ultrascale-playbook"}),
        ));
    }
    korthikanti(
        "states",
        ["Weights, gradients and optimizer states", "权重、梯度与优化器状态"],
        [
            "States alone, activations left out: table 1's 18 bytes a parameter over t and p (blocks only, as the formula), and the tables of ZeRO.",
            "仅状态，不含激活：每参数 18 字节除以 t 与 p（如公式只计各层），以及 ZeRO 的表格。",
        ],
    )
    .of(sets)
}

fn playbook(file: &Value) -> Value {
    let chart = &file["playbook_activations_gib"];
    let mut sets = Vec::new();
    for (name, table) in object(&chart["models"]) {
        let size = |letter: char| {
            let word = name.split(' ').find(|word| word.starts_with(letter)).expect("a size");
            word[1..].parse::<u64>().expect("a number")
        };
        for (column, policy) in
            [("none", "keep"), ("selective", "selective"), ("full", "recompute")]
        {
            let lengths = list(&chart["seq"]).iter().zip(list(&table[column]));
            let rows = lengths.map(|(seq, gib)| json!([null, [seq], [gib]]));
            let request = json!({"v": 1,
                "workload": {"block": "gpt", "layers": size('L'), "hidden": size('h'), "heads": size('a'),
                    "batch": 1, "attention": "eager", "dropout": true},
                "policy": {"kind": policy}});
            let gib = figure(
                ["activations", "激活"],
                "GiB",
                rel(0.002),
                json!(["/", ["+", KEPT, "/layers/[kind=embedding]/saved_bytes"], GIB]),
            );
            let set = set(
                &format!("{name}, {column}"),
                request,
                &[["workload.seq", "s"]],
                vec![gib],
                rows.collect(),
            );
            sets.push(set);
        }
    }
    Group {
        id: "playbook",
        title: ["Activations by sequence length", "随序列长度的激活"],
        about: [
            "The playbook's chart of three models, in GiB, with nothing, attention alone and everything recomputed. It leaves the norms' statistics out.",
            "Playbook 三个模型的图，单位 GiB：不重算、仅重算注意力、全部重算。该图不含归一化统计量。",
        ],
        evidence: "published",
        source: "The Ultra-Scale Playbook, Hugging Face 2025",
        url: Some("https://huggingface.co/spaces/nanotron/ultrascale-playbook"),
        bar: None,
    }
    .of(sets)
}

/// Table 4: one layer of the 22B model on eight A100s.
fn layer_times(file: &Value) -> Value {
    let config = config(file, "22B");
    let request = |sp: bool, policy: &str| {
        let mut request = trained(config, sp, policy);
        request["workload"]["layers"] = 1.into();
        request
    };
    let sets = list(&file["layer_22B_ms"]).iter().map(|row| {
        let name = text_of(&row["experiment"]);
        let policy = match name {
            "full recompute" => "recompute",
            "no recompute" | "sequence parallel" => "keep",
            _ => "selective",
        };
        let request_of = request(name.contains("sequence"), policy);
        let block = |key: &str| format!("/layers/[kind=block]/{key}");
        let backward = json!(["+", block("backward_s"), "/recompute_s"]);
        let total = json!(["+", block("forward_s"), backward]);
        let plain =
            json!(["+", "1:/layers/[kind=block]/forward_s", "1:/layers/[kind=block]/backward_s"]);
        let figures = vec![
            (
                figure(
                    ["forward", "前向"],
                    "ms",
                    rel(TIME),
                    json!(["*", 1000, block("forward_s")]),
                ),
                row["forward"].clone(),
            ),
            (
                figure(
                    ["backward with recomputation", "反向（含重算）"],
                    "ms",
                    rel(TIME),
                    json!(["*", 1000, backward]),
                ),
                row["backward"].clone(),
            ),
            (
                figure(
                    ["time over that of no recomputation", "相对不重算的时间"],
                    "",
                    abs(0.005),
                    json!(["/", total, plain]),
                ),
                json!(1.0 + float(&row["overhead"])),
            ),
        ];
        with(single(name, request_of, figures), json!({"against": request(false, "keep")}))
    });
    measured_with_bar(
        korthikanti(
            "layer-times",
            ["Times of one layer", "单层时间"],
            [
                "Table 4: one layer of the 22B model, micro-batch 4, on eight A100s. Efficiency is the card's preset, fitted to nothing here; times are held to the worst of the bar, overheads to the digits printed.",
                "表 4：22B 模型的一层，微批次 4，八张 A100。效率取显卡预设，未作拟合；时间以标杆的最差误差为限，开销以印出的位数为限。",
            ],
        ),
        "Calculon, table 5: mean 3.65 %, worst 8.87 %",
        "Calculon 表 5：平均 3.65 %，最差 8.87 %",
    )
    .of(sets.collect())
}

/// Table 5: whole steps.
fn iterations(file: &Value) -> Value {
    let mut sets = Vec::new();
    for row in list(&file["iteration_s"]) {
        let name = text_of(&row["name"]);
        for (key, sp, policy) in
            [("full_recompute", false, "recompute"), ("selective_sequence", true, "selective")]
        {
            let step = figure(["step", "一步"], "s", rel(TIME), json!("/step_s"));
            let request = trained(config(file, name), sp, policy);
            sets.push(single(&format!("{name}, {key}"), request, vec![(step, row[key].clone())]));
        }
    }
    measured_with_bar(
        korthikanti(
            "iterations",
            ["Whole steps", "整步"],
            [
                "Table 5: seconds a step, measured on A100s. Efficiency is the card's preset; collectives' time is not modelled. Its FLOP utilizations are these times over again.",
                "表 5：A100 上实测的每步秒数。效率取显卡预设；未建模集合通信时间。表中的 FLOP 利用率与这些时间是同一信息。",
            ],
        ),
        "Calculon, table 5: mean 3.65 %, worst 8.87 %",
        "Calculon 表 5：平均 3.65 %，最差 8.87 %",
    )
    .of(sets)
}

fn calculon(file: &Value) -> Value {
    let table = &file["calculon_22B_tp8_mbs4"];
    let request = |policy: &str, gbps: u64| {
        let mut request = trained(config(file, "22B"), false, policy);
        request["hardware"] =
            json!({"preset": "a100-80g", "d2h_gbps": gbps, "h2d_gbps": gbps, "host_gib": 1000});
        request
    };
    let total = |row: &Value| {
        (figure(["step", "一步"], "s", rel(TIME), json!("/step_s")), row["total_s"].clone())
    };
    let none = &table["none"];
    let mut sets = vec![single(
        "nothing offloaded",
        request("keep", 32),
        vec![
            (
                figure(
                    ["activations", "激活"],
                    "GiB",
                    rel(0.01),
                    json!(["/", "/activation_bytes", GIB]),
                ),
                none["gib"].clone(),
            ),
            total(none),
            (
                figure(
                    ["bandwidth that hides everything", "隐藏全部传输所需带宽"],
                    "GB/s",
                    rel(TIME),
                    json!(["/", "/activation_bytes", "/forward_s", 1e9]),
                ),
                table["needed_gbps"].clone(),
            ),
        ],
    )];
    for (key, gbps) in [("offload_32", 32), ("offload_64", 64)] {
        let row = &table[key];
        let exposed = float(&row["exposed_fw_s"]) + float(&row["exposed_bw_s"]);
        let figures = vec![
            total(row),
            (
                figure(["exposed transfer", "暴露的传输"], "s", rel(TIME), json!("/exposed_s")),
                json!(exposed),
            ),
        ];
        sets.push(single(
            &format!("everything offloaded at {gbps} GB/s"),
            request("offload", gbps),
            figures,
        ));
    }
    Group {
        id: "calculon",
        title: ["Beside another simulator", "与另一模拟器对照"],
        about: [
            "What Calculon says of the 22B model on its own A100: a model beside a model, not a measurement.",
            "Calculon 用其自带 A100 对 22B 模型的结果：模型对模型，并非实测。",
        ],
        evidence: "published",
        source: "Calculon (Isaev et al. 2023)",
        url: Some("https://github.com/calculon-ai/calculon"),
        bar: None,
    }
    .of(sets)
}

/// Peaks and tokens a second: two groups, for the bar has one figure for each.
/// The fine-tune's rows, each with its request.
pub fn tuned(file: &Value) -> Vec<(&Value, Value)> {
    let table = &file["torchtune_llama_3_2_3b_a100_b2_s4096"];
    let mut workload = json!({"block": "llama", "layers": 28, "hidden": 3072, "heads": 24, "kv_heads": 8, "ffn": 8192,
        "vocab": 128_256, "tied_embedding": true, "seq": 4096, "batch": 2});
    // Everything in bf16: torch.optim makes its moments like the parameter.
    let mut training = json!({"dtype": "bf16", "optimizer": "adamw", "optimizer_bytes": 4});
    let mut policy = "keep";
    let of = |row: &'_ Value| {
        // Each row keeps what the rows before it turned on. With the optimizer in backward a gradient goes as soon as it is used.
        match text_of(&row[0]) {
            "+ chunked loss" => workload["loss_chunks"] = 8.into(),
            "+ activation checkpointing" => policy = "recompute",
            "+ activation offloading" => policy = "offload-boundaries",
            "+ 8-bit AdamW" => {
                training["optimizer"] = "adamw-8bit".into();
                training["optimizer_bytes"] = Value::Null;
            }
            "+ optimizer in backward" => training["gradient_bytes"] = 0.into(),
            "compile + packed" => {}
            other => panic!("{other} is no row known"),
        }
        json!({"v": 1, "workload": workload, "training": training, "hardware": {"preset": "a100-80g"},
            "policy": {"kind": policy}})
    };
    let requests: Vec<Value> = list(&table["rows"]).iter().map(of).collect();
    list(&table["rows"]).iter().zip(requests).collect()
}

fn torchtune(file: &Value, kind: &str) -> Value {
    let table = &file["torchtune_llama_3_2_3b_a100_b2_s4096"];
    let sets = tuned(file).into_iter().map(|(row, request)| {
        let name = text_of(&row[0]);
        let figure = if kind == "peak" {
            let gib = json!(["/", "/peak_bytes", GIB]);
            (figure(["peak", "峰值"], "GiB", rel(0.0138), gib), row[1].clone())
        } else {
            let speed = json!("/tokens_per_s");
            (figure(["tokens/s", "词元/秒"], "", rel(0.1354), speed), row[2].clone())
        };
        single(name, request, vec![figure])
    });
    let [id, english, chinese] = match kind {
        "peak" => ["torchtune", "A real fine-tune: peaks", "一次真实微调：峰值"],
        _ => ["torchtune-speed", "A real fine-tune: speed", "一次真实微调：速度"],
    };
    let bar = match kind {
        "peak" => ["SimuMax: −1.38 to −0.06 %", "SimuMax：−1.38 至 −0.06 %"],
        _ => ["SimuMax: −13.54 to 0.06 %", "SimuMax：−13.54 至 0.06 %"],
    };
    Group {
        id,
        title: [english, chinese],
        about: [
            "Llama 3.2 3B on one A100, batch 2, sequence 4096, as torchtune's README reports it, one technique after another; held to the bar's worst, both ways.",
            "Llama 3.2 3B，单张 A100，批次 2，序列 4096，取自 torchtune README，逐项叠加技术；以标杆的最差误差为限，正负皆可。",
        ],
        evidence: "measured",
        source: text_of(&table["source"]),
        url: Some("https://github.com/pytorch/torchtune"),
        bar: Some(bar),
    }
    .of(sets.collect())
}

/// One gigabyte sent each way on the cards' own presets.
fn links(file: &Value) -> Value {
    let table = &file["link_measurements_gbps"];
    let rate = |key: &str| json!(["/", "/bytes_out", format!("/{key}_s"), 1e9]);
    let sets = [
        ("PCIe 3 x16", "v100-32g", &table["pcie3_x16"], &table["pcie3_x16"]),
        ("PCIe 4 x16", "a100-80g", &table["pcie4_x16"], &table["pcie4_x16"]),
        ("GH200", "gh200", &table["gh200"]["d2h"], &table["gh200"]["h2d"]),
    ]
    .map(|(name, card, d2h, h2d)| {
        let request = json!({"v": 1, "workload": {"kind": "lesson", "layers": 1, "act_gb": 1, "layer_s": 1},
            "hardware": {"preset": card}, "policy": {"kind": "offload"}});
        let figures = vec![
            (figure(["device to host", "设备到主机"], "GB/s", rel(0.02), rate("d2h")), d2h.clone()),
            (figure(["host to device", "主机到设备"], "GB/s", rel(0.02), rate("h2d")), h2d.clone()),
        ];
        single(name, request, figures)
    });
    Group {
        id: "links",
        title: ["Host links", "主机链路"],
        about: [
            "What one gigabyte takes each way on a card's preset, its fixed cost included, as a rate.",
            "按显卡预设传输 1 GB 的往返速率，含固定开销。",
        ],
        evidence: "measured",
        source: "published measurements of host links",
        url: None,
        bar: None,
    }
    .of(sets.into())
}

/// Where a link just hides the copies: bytes over forward time of one layer, memory traffic free.
fn hiding(file: &Value) -> Value {
    let table = &file["full_hide_bandwidth_gbps"];
    let rows = list(&table["rows"]).iter().map(|row| {
        let heads = int(&row["h"]) / 128;
        json!([null, [row["tflops"], row["h"], row["s"], heads], [row["b34"], row["b2"]]])
    });
    let request = json!({"v": 1,
        "workload": {"block": "gpt", "layers": 1, "vocab": 8, "batch": 1, "attention": "flash", "dropout": true},
        "hardware": {"memory_gib": 1000, "efficiency": 1, "hbm_gbps": 1_000_000}});
    let over_forward = |bytes: &str| {
        let block = |key: &str| format!("/layers/[kind=block]/{key}");
        json!(["/", block(bytes), block("forward_s"), 1e9])
    };
    let figures = vec![
        figure(
            ["everything offloaded", "全部卸载"],
            "GB/s",
            rel(0.01),
            over_forward("saved_bytes"),
        ),
        figure(
            ["boundaries alone", "仅卸载边界"],
            "GB/s",
            rel(0.01),
            over_forward("boundary_bytes"),
        ),
    ];
    let columns = [
        ["hardware.tflops", "TFLOP/s"],
        ["workload.hidden", "h"],
        ["workload.seq", "s"],
        ["workload.heads", "a"],
    ];
    Group {
        id: "hiding",
        title: ["Bandwidth that hides the copies", "隐藏拷贝所需的带宽"],
        about: [
            "B* = c·F/(24h + 4s), c = 34 for everything (flash attention) and 2 for boundaries; ours is bytes over forward time of one layer.",
            "B* = c·F/(24h + 4s)，全部卸载（flash 注意力）c = 34，仅边界 c = 2；本引擎取一层字节除以前向时间。",
        ],
        evidence: "derived",
        source: "closed form",
        url: None,
        bar: None,
    }
    .of(vec![set("GPT layer", request, &columns, figures, rows.collect())])
}

/// K·c + ⌈L/K⌉·a, one unit a gigabyte.
fn segments(file: &Value) -> Value {
    const UNIT: u64 = 1_000_000_000;
    let formula = |measure: &str| json!(["/", measure, UNIT]);
    let mut rows = Vec::new();
    for row in list(&file["segments"]["rows"]) {
        let blocks = json!([[
            row["L"],
            int(&row["a"]) * UNIT,
            int(&row["c"]) * UNIT,
            int(&row["c"]) * UNIT,
            0,
            0
        ]]);
        let name = format!("L {}, a {}, c {}", row["L"], row["a"], row["c"]);
        rows.push(json!([name, [blocks, row["k"]], [row["m"], row["none"]]]));
        if row["sqrt_k5"].is_number() {
            rows.push(json!([name, [blocks, 5], [row["sqrt_k5"], null]]));
        }
    }
    let request = json!({"v": 1, "workload": {"kind": "profile"}, "hardware": {"memory_gib": 10_000},
        "policy": {"kind": "checkpoint"}});
    let figures = vec![
        figure(
            ["units by the formula", "公式的单位数"],
            "",
            exact(),
            formula("/lesson/k_segments_with_boundaries_bytes"),
        ),
        figure(
            ["units without checkpoints", "无检查点的单位数"],
            "",
            exact(),
            formula("/activation_bytes"),
        ),
    ];
    Group {
        id: "segments",
        title: ["K segments by formula", "K 段公式"],
        about: [
            "M(K) = K·c + ⌈L/K⌉·a: boundaries, and the segment that is being recomputed.",
            "M(K) = K·c + ⌈L/K⌉·a：各边界，加上正在重算的那一段。",
        ],
        evidence: "derived",
        source: "closed form",
        url: None,
        bar: None,
    }
    .of(vec![set("K segments", request, &[["blocks", ""], ["policy.k", "K"]], figures, rows)])
}

/// No plan that fits a budget may be faster than the bound; one unit a gigabyte and a second.
fn bound(file: &Value) -> Value {
    const UNIT: u64 = 1_000_000_000;
    let mut rows = Vec::new();
    for row in list(&file["bound"]["rows"]) {
        for (m, t) in list(&row["M"]).iter().zip(list(&row["T"])) {
            let name = format!("32 layers, budget {m} GB");
            rows.push(json!([name, [row["B"], row["B"], float(m) * 1e9 / GIB], [[t, null]]]));
        }
    }
    let layer = json!({"forward_s": 1, "backward_s": 2, "input_bytes": 2 * UNIT, "output_bytes": 2 * UNIT,
        "saves_input": true, "saved": [{"name": "all", "bytes": 34 * UNIT}]});
    let request = json!({"v": 1, "workload": {"kind": "profile", "layers": vec![layer; 32]},
        "hardware": {"memory_gib": 10_000, "host_gib": 10_000, "copy_overhead_us": 0},
        "weights": {"memory": 0, "compute": 0.5, "transfer": 0.5}, "policy": {"kind": "best"}});
    let columns =
        [["hardware.d2h_gbps", "GB/s"], ["hardware.h2d_gbps", ""], ["limits.memory_gib", ""]];
    let step =
        figure(["step of the best plan", "最佳计划的一步"], "s", abs(0.001), json!("/step_s"));
    Group {
        id: "bound",
        title: ["Lower bound of a step", "一步的下界"],
        about: [
            "A chain of 32 layers (34 GB kept, boundary 2 GB, 1 s forward, 2 s backward) on a budget: no plan may be faster than the bound.",
            "32 层链（保存 34 GB，边界 2 GB，前向 1 s，反向 2 s）在给定预算下：任何计划都不得快于下界。",
        ],
        evidence: "derived",
        source: "closed form",
        url: None,
        bar: None,
    }
    .of(vec![set("32 layers", request, &columns, vec![step], rows)])
}
