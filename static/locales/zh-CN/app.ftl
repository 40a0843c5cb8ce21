### 页面框架：页眉、结论、提示、播放控制。

app-title = Galley
app-tagline = 训练时显存去了哪里，腾出空间要付出什么，哪个方案最好。
app-skip = 跳到图表
app-model = 模型
app-card = 显卡
app-training = 训练方式
app-own = 自定义模型
app-lesson = 课堂：均匀的层
app-full = 全量，AdamW 混合精度
app-full-bf16 = 全量，bf16 与 SGD
app-lora = LoRA，秩 16
app-qlora = QLoRA，秩 16，4 位底座
app-custom = 自定义
app-paste = 打开文件
app-theme = 主题
app-theme-auto = 自动
app-theme-light = 浅色
app-theme-dark = 深色
app-language = English
app-language-label = Switch to English
app-reset = 重新开始
app-units = 字节以 GiB（2³⁰）显示，带宽以 GB/s（10⁹）显示。账本统计的是已分配字节，与框架口径一致；分配器额外保留的部分不在模型内。
app-limits-of-model = 未建模：集合通信耗时、混合专家、上下文并行、碎片。可用“未建模”一项为它们预留空间。
app-view-pareto = 全部方案：显存与时间
app-view-ratio = 逐层比较：卸载还是重计算
app-view-textbook = 教科书公式与模拟对照
app-view-stage = 一步训练的时间展开
app-help-stage = 从左到右是一步训练：上面看显存被什么占用，下面看各流在做什么。激活是前向为反向保留的中间结果，由一个个保存张量组成。
app-help-pareto = 每个点是一个方案：越靠左越省显存，越靠下越快。点选即可采用。
app-help-ratio = 逐层比较：把保存张量拷出再拷回的时间，与再算一遍的时间。
app-help-textbook = 闭式公式对同一场景怎么说，又忽略了什么。
app-plan-best = 采用 λ 下的最优
app-plan-least = 采用显存最少的方案
app-plan-best-note = 在试过的 { $count } 个方案中，λ 加权代价最小
app-settings = 全部设置
app-settings-model = 模型
app-settings-training = 训练
app-settings-hardware = 硬件
app-settings-policy = 方案

### 结论

verdict-label = 结论
verdict-fits = 放得下，还剩 { $free }。
verdict-slow = 显存放得下，但单步 { $step } 超过了上限 { $limit }。
verdict-states = 放不下：整个单步还缺 { $missing }；仅模型状态就超出 { $states }。
verdict-memory = 放不下：整个单步还缺 { $missing }，会停在{ $operation }。
verdict-host = 主机内存与 SSD 已满：{ $missing } 无处可放。
verdict-as-fast = 与全部保留一样快。
verdict-slower = 比全部保留慢 { $overhead }。
verdict-keep-would-not-fit = 全部保留需要 { $need }。
verdict-binds-compute = 瓶颈是计算：所有拷贝都藏在计算之后。
verdict-binds-compute-alone = 瓶颈是计算：没有拷贝，也没有等待。
verdict-binds-link = 瓶颈是链路：每步计算要等拷贝 { $stall }。
verdict-binds-room = 瓶颈是显存：每步计算要等空间 { $stall }。
verdict-binds-memory = 瓶颈是显存。
verdict-binds-host = 瓶颈是主机内存。
verdict-peak-unmoved = 卸载在前向之后释放了 { $freed }，但峰值没有变化：峰值出现在别处。
verdict-drive = SSD 每步写入 { $bytes }：照此速度，其额定 { $endurance } TB 可用 { $days } 天。
verdict-try-states = 建议：切分或压缩模型状态（LoRA、8 位 AdamW、ZeRO），或换更大的显卡。
verdict-try-states-base = 建议：切分模型状态（ZeRO）或让 LoRA 的基座用 4 位，或换更大的显卡。
verdict-try-states-shard = 建议：把模型状态切分到更多显卡（ZeRO），或换更大的显卡。
verdict-try-chunks = 建议：把损失分块计算（全部设置中的“损失分块”）：放不下的正是 logits。
verdict-try-plan = 建议：让搜索挑选方案，或减小微批次。
verdict-try-room-states = 建议：让搜索挑选方案，或缩短序列、缩小模型：批大小已是 1。
verdict-try-host = 建议：少卸载一些，或增加主机内存或 SSD。
verdict-try-link = 建议：多重计算、少卸载，或换更快的链路。
verdict-try-room = 建议：留出更多空间，或减少同时在途的拷贝。
verdict-try-compute = 建议：把链路还能藏住的部分拿去卸载，少重计算。
verdict-try-none = 已无可改进：单步已达到显卡允许的速度。
verdict-try-keep = 建议：全部保留即可，放得下。
verdict-peak = 峰值
verdict-of = 上限 { $limit }
verdict-step = 单步
verdict-overhead = 额外开销
verdict-tokens = { $rate } token/s
verdict-samples = { $rate } 样本/s
verdict-host-memory = 主机内存
verdict-op-forward = { $layer }的前向
verdict-op-recompute = { $layer }的重计算
verdict-op-backward = { $layer }的反向
verdict-op-optimizer = 优化器更新

### 播放控制

transport-label = 播放头
transport-play = 播放
transport-pause = 暂停
transport-back = 后退一步
transport-forward = 前进一步
transport-speed = 速度
transport-time = { $now } / { $end }

### 提示

notice-refused = 未采用：{ $message }
notice-kept = 保留上一个有效场景。
notice-clamped = { $key } 的值 { $given } 超出范围，改用 { $used }。
notice-ignored = 已忽略的未知项：{ $keys }
notice-too-long = 文本有 { $given } 字节，太长；最多读取 { $accepted } 字节。
notice-syntax = 不是合法的 JSON：第 { $line } 行第 { $column } 列（{ $detail }）。
notice-unfit = { $key } 的值是 { $given }；应为{ $accepted }。
notice-missing = 缺少 { $key }；应为{ $accepted }。
notice-too-large = { $key } 达到 { $given }，超过 { $accepted }。请减小模型、批大小或序列长度，或换更快的显卡。
notice-dismiss = 关闭
notice-profile = profile 不在网址里：重新加载页面会丢失它。
notice-measured = 实测数据不在网址里：重新加载页面会丢失它。
notice-worker = 此处没有可用的后台线程：搜索改在页面中分小段进行，答案来得慢一些，结果相同。

### 粘贴

paste-title = 打开或粘贴文件
paste-help = Hugging Face 的 config.json（Llama、Mistral、Qwen2、Qwen3、GPT-2、GPT-NeoX、BERT）、一个 workload、整个场景、tools/profile_model.py 生成的 profile 或显存曲线，或以 profile_memory=True 录制的 PyTorch profiler trace，JSON 格式，不超过 50 MB。可以选择文件、拖放到页面任意位置，或直接粘贴。内容只留在本页。
paste-use = 采用文本
paste-close = 关闭
paste-label = JSON

### 教科书

textbook-formula = 公式
textbook-says = 公式给出
textbook-simulated = 模拟得到
textbook-leaves-out = 公式忽略了什么
textbook-peak-keep = M = 基础 + A
textbook-peak-k = M = 基础 + A/K
textbook-peak-recompute = M = 基础
textbook-peak-mix = M = 基础 + β·A/K
textbook-step-plain = T = C
textbook-step-k = T = C + F·(K−1)/K
textbook-step-recompute = T = C + F
textbook-step-overlap = T = max(C, 往返拷贝)
textbook-step-mix = T = max(C + β·F·(K−1)/K, (1−β)·拷贝)
textbook-boundaries = K·c + ⌈L/K⌉·a + 基础
textbook-note-keep = 峰值处该操作的临时量：激活的梯度、logits。
textbook-note-k = 正在重计算的那一段要完整驻留，还有它之前的边界，以及嵌入层、输出头和损失。
textbook-note-recompute = 各层边界、正在重计算的一层自身的张量，以及 logits。
textbook-note-offload = 传输中的字节仍占显存，最后几层马上就要取回，最前几层产生之前无法离开。
textbook-note-mix = 两者兼有：传输中的拷贝与正在重计算的那一段。
textbook-note-none = 这个方案没有闭式公式，此处列的是全部保留的公式。
textbook-note-step-k = 每个做检查点的段都会再算一遍，最后一段也不例外（除非留作普通段）；嵌入层和输出头不会。
textbook-note-step-overlap = 前向只能掩盖卸载，反向只能掩盖预取，而最后的卸载后面已没有计算可以掩盖。
textbook-note-step-plain = 没有忽略：这就是全部保留所需的时间。
textbook-activations = A = L·s·b·h·(10 + 24/t + 5·a·s/(h·t))
textbook-note-activations = 仅第一级的各块：归一化统计量与 Flash 注意力的 log-sum-exp。序列并行时 10 也除以 t；没有 eager 分数时最后一项消失。
textbook-note-boundaries = 临时量；并且重计算前面的段时，后面各段的边界已经释放。
textbook-ratio = 收益比：省下 { $memory } 的显存，增加 { $cost } 的时间，比值 { $ratio }（高于 { $threshold } 才划算）。
textbook-ratio-free = 收益比：省下 { $memory } 的显存，时间上没有代价。
textbook-epoch = 算例：一个 epoch
textbook-epoch-says = 卸载 { $count } 次，往返 { $trip } s，可见 { $visible } s，epoch { $epoch } s，变慢 { $slow } %。
textbook-epoch-note = 它每次溢出只计一层的传输，却清空整个计数；并且最多让一半计算去掩盖拷贝。
textbook-strategies = 算例：策略对比
textbook-strategy-full = 全部保留
textbook-strategy-checkpoint = 激活检查点
textbook-strategy-offload = 卸载
textbook-strategy-memory = 显存，GB
textbook-strategy-compute = 增加的计算，s
textbook-strategy-transfer = 增加的传输，s
textbook-strategy-cost = 代价
textbook-strategy-best = 代价最小
textbook-strategies-note = 表中只计单程传输，A/K 也忽略了正在重计算的那一段。
textbook-reference = 常被引用的数字：激活检查点省 50 % 显存、多 33 % 计算；卸载省 40 %、多 10 %；全部重计算省 30 %、多 100 %。它们只是一个例子，不是定律。

### 未计入的部分

caveat-sentence = 未计入的时间：{ $list }。
caveat-tp = 张量并行的 all-reduce
caveat-pp = 流水级之间的传输，以及其他级可能更慢
caveat-dp = 梯度的 all-reduce
caveat-zero = ZeRO 的聚集与散发
caveat-offload = 状态与激活争用同一链路

### 模型状态

states-title = 模型状态，每个可训练参数的字节数（仅状态，不含激活）
states-master = 主副本
states-optimizer = 优化器矩
states-total = 合计
states-device = 本设备（已切分）
states-host = 在主机
