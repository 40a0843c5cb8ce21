### 张量为何如此处理、峰值由什么决定、怎样才放得下。

# 一个保存张量：“卸载：往返……；带宽低于 12 GB/s 时则不再如此。”
why-sentence = { $action }：{ $clauses }。
why-though = { $action }，尽管{ $clauses }。
why-title = 逐个张量的原因
why-one = 原因
why-behind = { $trip }（前面还有 { $queue } 的拷贝）
why-hidden = 往返 { $trip }，窗口 { $window } 容得下，成本不高于再算一遍（{ $recompute }）
why-hidden-alone = 往返 { $trip }，窗口 { $window } 容得下，而且无法单独再算
why-short = 往返 { $trip }，窗口 { $window } 容不下
why-short-never = 前向刚结束就是它的反向，没有时间拷贝
why-cheaper = 再算一遍需 { $recompute }，不超过拷贝的成本 { $offload }
why-layer-hidden = 再跑一次该层的前向（{ $recompute }）即可重新得到全部 { $bytes }；它们往返 { $trip }，窗口 { $window } 容得下，成本更低
why-layer-short = 再跑一次该层的前向（{ $recompute }）即可重新得到全部 { $bytes }；它们往返 { $trip }，窗口 { $window } 容不下
why-layer-cheaper = 再跑一次该层的前向（{ $recompute }）即可重新得到全部 { $bytes }，不超过拷贝的成本 { $offload }
why-nothing = 它不占字节
why-turn-fits = 链路达到 { $rate } 时就容得下
why-turn-not-cheaper = 链路达到 { $rate } 起则不再如此
why-turn-not-hidden = 链路低于 { $rate } 时则不再如此
why-turn-made = 若再算一遍不超过 { $time }，重计算更划算
why-turn-made-longer = 若超过 { $time } 则不再如此
why-until = 到{ $layer }为止，窗口都够长
why-room = 显存有空间留住它
why-no-room = 虽然放不下，方案仍保留它
why-keep-more = 若也保留它，需要显存 { $memory }，比现有的多 { $more }
why-keep-room = 显存其实也有空间保留它（{ $all } 中的 { $memory }）

# 峰值
why-freed = 前向之后释放
why-resident-kept = 不卸载时前向之后的激活
why-resident-now = 前向之后的激活
why-peak = 峰值由什么决定
why-peak-unmoved = 峰值为什么没有变化？
why-peak-at = 它出现在微批次的 { $time } 处：{ $operation }。
why-peak-alive = 其中最多的是：{ $list }。
why-peak-away = 前向结束时方案释放了 { $freed }，其中 { $away } 在这一刻不在设备上。
why-peak-none-away = 前向结束时方案释放了 { $freed }，但这一刻它们没有一个在别处：要么还没产生，要么已经用完，要么已经取回。
why-levers = 什么能降低它
why-levers-waiting = 正在试验什么能降低它……
why-no-lever = 试过的单项改动都不能降低它。

# 怎样才放得下
why-lack = 还缺 { $missing }。
why-lack-host = 主机还缺 { $missing }。
why-lack-time = 单步太长。
why-nearest = 以下任一改动都可行：
why-nearest-two = 只有两种改动可行；试过的其他改动，单独做或最多三项一起做都不行：
why-nearest-one = 只有一种改动可行；试过的其他改动，单独做或最多三项一起做都不行：
why-nearest-more = 仍在为这些改动寻找最优方案……
why-nearest-waiting = 正在寻找能放下的改动……
why-nearest-none = 试过的改动都不可行：单项、两项或三项一起，用不用最优方案都不行。
why-comes-to = 峰值 { $peak }，单步 { $step }
why-price-machine = 换机器
why-price-rounding = 舍入不同
why-price-training = 训练内容改变

# 改动
why-best = 最优方案：{ $plan }
why-per-tensor = 每个张量单独拷贝
why-whole-card = 用满整张卡，{ $memory }
why-micro-batch = 微批次 { $batch }，每步 { $times } 个
why-loss-chunks = 损失分 { $chunks } 块
why-flash = Flash 注意力
why-cards = { $dp } 卡数据并行，ZeRO-3
why-zero = ZeRO 第 { $stage } 阶段
why-sp = 序列并行
why-host-states = 梯度与优化器状态放在主机
why-host-memory = 主机内存 { $memory }
why-optimizer = 8 位 AdamW
why-grad-dtype = 梯度用 bf16
why-lora-base = LoRA 的基座用 4 位
why-sequence = 序列长度 { $seq }
why-batch = 批大小 { $batch }
