//! What was found about cases that do not come out, by group and set.

use crate::shape::with;
use serde_json::{Value, json};

type Found = (&'static str, &'static str, [&'static str; 2]);

const VIEWS: [&str; 2] = [
    "The attention's output is saved twice, as it is and transposed, and these hooks move it twice, though it is one storage. The engine counts a storage once.",
    "注意力输出以原样与转置两种视图保存，钩子移动两次，而它只是一块存储。引擎对每块存储只计一次。",
];
const TWICE: [&str; 2] = [
    "Each block keeps its own output, which is the next one's input: one storage saved by two layers, brought back (and, where hooks look at tensors, moved) for each. The engine moves a storage once each way.",
    "每块保存自己的输出，而它又是下一块的输入：一块存储被两层保存，各自取回（钩子按张量计时也各自移出）。引擎每块存储每向只移动一次。",
];
const THRICE: [&str; 2] = [
    "The paper's count of hardware FLOPs adds s/6h again, which is forward and backward of the attention core. Only a forward runs again, and of it the engine runs the scores alone: the product with the values is kept as the next layer's input.",
    "论文的硬件 FLOP 计数再加一次 s/6h，即注意力核心的前向与反向。实际只重跑前向，而引擎只重算分数：与值的乘积已作为下一层输入保存。",
];
const RATIO: [&str; 2] = [
    "Measured backward is 1.55 times forward here, ours is twice (the knob training.backward_ratio; 2 is the default for matrix multiplications). Softmax, dropout and norms are counted as memory traffic at full bandwidth, so dividing them by sequence parallelism gains more than was measured, and recomputing them costs less.",
    "此处实测反向为前向的 1.55 倍，本引擎为 2 倍（旋钮 training.backward_ratio，矩阵乘法默认为 2）。softmax、dropout 与归一化按满带宽的访存计，故序列并行的收益高于实测，重算的代价低于实测。",
];
const STEPS: [&str; 2] = [
    "The published run reaches 51.4 % of the card's peak over the whole step, its pipeline's bubble included; the card's preset efficiency is 0.5 within a matrix multiplication. Backward is twice forward here and 1.55 times in the same paper's table 4.",
    "论文中整步（含流水线气泡）达到显卡峰值的 51.4 %；显卡预设的矩阵乘法效率为 0.5。此处反向为前向的 2 倍，同一论文表 4 为 1.55 倍。",
];
const CALCULON: [&str; 2] = [
    "Another simulator's own A100: its efficiency depends on the size of each multiplication, its forward is 0.26 s where ours is a third of the step, and its offload waits in forward for every layer. Ours queues copies behind forward and waits once.",
    "另一模拟器自带的 A100：效率随每次乘法的规模变化，前向 0.26 秒，而本引擎前向为一步的三分之一；其卸载在前向逐层等待，本引擎让拷贝排队，只等一次。",
];
const TUNE_PEAK: [&str; 2] = [
    "What an allocator reserves and what compilation frees (fused element-wise tensors) are not modelled; the tolerance is that of runs whose every buffer is known.",
    "未建模分配器的保留与编译所省（融合的逐元素张量）；误差限取自每个缓冲区都已知的运行。",
];
const TUNE_CHUNKS: [&str; 2] = [
    "This loss takes the model's output in chunks but keeps all of them in 16 bit (1.96 GiB) and casts one at a time; the engine's chunks keep nothing of vocabulary size. Beside that, as in the row before.",
    "此损失按块取模型输出，但所有块的 16 位 logits 都保留（1.96 GiB），只逐块转换；引擎的分块不保留任何词表大小的张量。其余同上一行。",
];
const TUNE_8BIT: [&str; 2] = [
    "About 1.7 GiB is the optimizer's: the run's 8-bit AdamW keeps more than two bytes and scales a parameter, the report does not say of which tensors. The rest as in the first row.",
    "约 1.7 GiB 来自优化器：该次运行的 8 位 AdamW 每参数多于两字节加缩放因子，报告未说明是哪些张量。其余同首行。",
];
const TUNE_SPEED: [&str; 2] = [
    "The card's preset efficiency is lower than a compiled model reaches, and packed samples attend within themselves, which shortens attention; ours attends over the whole sequence.",
    "显卡预设效率低于编译后模型所能达到的；打包样本只在自身内做注意力，缩短了注意力，而本引擎对整个序列计算。",
];
const FREED: [&str; 2] = [
    "The report does not give its model beyond layers and width. With a vocabulary of 32,000 our summit is at the loss, where boundaries count, so offloading lowers the peak by nearly all that it frees; the report saw no drop. That the drops are in order (peak, resident, boundary) is all that comes out.",
    "报告只给出层数与宽度。词表取 32 000 时，本引擎的峰值在损失处，边界计入其中，卸载几乎按所释放的量降低峰值；报告未见下降。对得上的只有三者的大小次序（峰值、驻留、边界）。",
];

const SMALL_OPERATIONS: [&str; 2] = [
    "Norms, dropouts and softmax are counted as memory traffic at full bandwidth: recomputing them took 1.3 ms and is told as 0.8, and sequence parallelism, whose collectives are not modelled, gains a little less than is told.",
    "归一化、dropout 与 softmax 按满带宽的访存计：重算它们实测 1.3 毫秒，推得 0.8 毫秒；序列并行的集合通信未建模，实际收益略低于推算。",
];
const MASKS: [&str; 2] = [
    "GPT-2's code keeps a causal mask in every layer: 12 times 1,024 x 1,024 bytes, and 4. They are buffers, not parameters, and newer code has none.",
    "GPT-2 的代码在每层保存因果掩码：12 个 1,024 x 1,024 字节，另加 4 字节。它们是缓冲而非参数，较新的代码已不再保存。",
];

const FOUND: &[Found] = &[
    ("models", "GPT-2 small: b 2, s 256", MASKS),
    ("layer-times-calibrated", "sequence parallel", SMALL_OPERATIONS),
    ("layer-times-calibrated", "selective", SMALL_OPERATIONS),
    ("layer-times-calibrated", "selective+sequence", SMALL_OPERATIONS),
    ("offload", "gpt_sdpa_p0, every tensor", VIEWS),
    ("offload", "gpt_sdpa_p0, storages once", VIEWS),
    ("offload", "linrelu, every tensor", TWICE),
    ("offload", "linrelu, storages once", TWICE),
    ("shares", "selective, gpt3", THRICE),
    ("shares", "selective, mtnlg", THRICE),
    ("layer-times", "no recompute", RATIO),
    ("layer-times", "sequence parallel", RATIO),
    ("layer-times", "full recompute", RATIO),
    ("layer-times", "selective", RATIO),
    ("layer-times", "selective+sequence", RATIO),
    ("iterations", "175B, full_recompute", STEPS),
    ("iterations", "175B, selective_sequence", STEPS),
    ("calculon", "nothing offloaded", CALCULON),
    ("calculon", "everything offloaded at 32 GB/s", CALCULON),
    ("calculon", "everything offloaded at 64 GB/s", CALCULON),
    ("torchtune", "compile + packed", TUNE_PEAK),
    ("torchtune-speed", "compile + packed", TUNE_SPEED),
    ("torchtune", "+ chunked loss", TUNE_CHUNKS),
    ("torchtune-speed", "+ chunked loss", TUNE_SPEED),
    ("torchtune", "+ activation checkpointing", TUNE_PEAK),
    ("torchtune-speed", "+ activation checkpointing", TUNE_SPEED),
    ("torchtune", "+ optimizer in backward", TUNE_PEAK),
    ("torchtune-speed", "+ optimizer in backward", TUNE_SPEED),
    ("torchtune", "+ activation offloading", TUNE_PEAK),
    ("torchtune-speed", "+ activation offloading", TUNE_SPEED),
    ("torchtune", "+ 8-bit AdamW", TUNE_8BIT),
    ("torchtune-speed", "+ 8-bit AdamW", TUNE_SPEED),
    ("reports", "freed-but-peak-unmoved", FREED),
];

/// Writes each finding into its set.
pub fn add(groups: &mut [Value]) {
    for (group, name, found) in FOUND {
        let sets = groups.iter_mut().filter(|it| it["id"] == *group);
        let mut sets = sets.flat_map(|it| it["sets"].as_array_mut().expect("a list"));
        let set = sets.find(|set| set["name"] == *name);
        let set = set.unwrap_or_else(|| panic!("no set {name} in {group}"));
        *set = with(set.take(), json!({"found": found}));
    }
}
