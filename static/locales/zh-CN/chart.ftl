### 四个视图与台面。

chart-table = 以表格查看
chart-table-left-out = 共 { $all } 行，列出 { $shown } 行。
chart-play-at = 播放头
chart-legend = 图例
chart-zoom = 显示的时间
chart-zoom-in = 以播放头为中心放大
chart-zoom-out = 缩小
chart-zoom-earlier = 向前
chart-zoom-later = 向后
chart-zoom-all = 整个单步

# 字节的类别
chart-band-weights = 权重
chart-band-gradients = 梯度
chart-band-optimizer = 优化器状态
chart-band-unmodelled = 未建模
chart-band-activations = 激活
chart-band-in-flight = 传输中
chart-band-workspace = 工作区
chart-total = 合计

# 区间的类别
chart-kind-forward = 前向
chart-kind-recompute = 重计算
chart-kind-backward = 反向
chart-kind-optimizer = 优化器更新
chart-kind-stall-room = 停顿：等待显存
chart-kind-stall-copy = 停顿：等待拷贝
chart-kind-offload = 卸载（D2H）
chart-kind-prefetch = 预取（H2D）
chart-kind-ssd-write = 写入 SSD
chart-kind-ssd-read = 读取 SSD
chart-track-compute = 计算
chart-track-d2h = D2H
chart-track-h2d = H2D
chart-track-ssd = SSD
chart-layer = 层
chart-name-block = 第 { $number } 块
chart-name-layer = 第 { $number } 层
chart-name-embedding = 嵌入层
chart-name-received = 接收的输入
chart-name-head = 输出头与损失
chart-layers = 第 { $first } 至 { $last } 层
chart-track = 轨道
chart-operation = 操作
chart-start = 开始
chart-duration = 时长
chart-bytes = 字节数
chart-time = 时间

# 台面
chart-counter-title = 此刻的显存
chart-counter-of = { $total } / { $memory }
chart-counter-free = 剩余 { $free }
chart-counter-over = 超出 { $over }
chart-counter-text = { $time } 时占用 { $total }，共 { $memory }。
chart-counter-peak = 峰值 { $peak }

# 显存账本
chart-ledger-title = 显存随时间的变化
chart-ledger-text = 一个微批次内设备显存的堆叠图。峰值 { $peak }，出现在 { $at }；容量 { $memory }。
chart-ledger-capacity = 容量 { $memory }
chart-ledger-budget = 预算 { $memory }
chart-ledger-peak = 峰值 { $peak }
chart-ledger-focus = 放大变化的部分
chart-ledger-below = 下方为静态显存 { $bytes }，未按比例
chart-ledger-at = { $time } 时：{ $total }
chart-ledger-hint = 指向某一时刻查看详情，或拖动播放头。

# 时间线
chart-timeline-title = 各流的运行情况
chart-timeline-text = 在 { $all } 中，计算流忙碌 { $busy }；停顿 { $stall }；暴露的传输 { $exposed }，被掩盖的传输 { $hidden }。
chart-timeline-busy = 占用 { $share }
chart-timeline-stalled = 停顿 { $time }
chart-timeline-hint = 指向某个区间查看详情，或拖动播放头。
chart-timeline-span = { $kind }，{ $layer }：{ $time }，始于 { $start }
chart-timeline-copy = { $kind }，{ $layer }：{ $bytes }，用时 { $time }，始于 { $start }

# 帕累托前沿
chart-pareto-title = 峰值显存与单步耗时
chart-pareto-text = 共 { $plans } 个方案，其中 { $front } 个在前沿上。当前方案峰值 { $peak }，单步 { $step }。
chart-pareto-waiting = 正在搜索方案……
chart-pareto-peak = 峰值显存
chart-pareto-peak-title = ← 越小越好 · 峰值显存
chart-pareto-step = 单步耗时
chart-pareto-step-title = 单步耗时 · 越小越好 ↓
chart-pareto-front = 前沿
chart-pareto-current = 当前方案
chart-pareto-best = λ 下的最优
chart-pareto-iso-short = 等成本
chart-pareto-infeasible = 放不下
chart-pareto-above = 另有 { $count } 个更慢的方案在图框之外。
chart-pareto-limit = 显存预算
chart-pareto-limit-is = 预算 { $memory }
chart-pareto-limit-step = 单步耗时上限
chart-pareto-limit-step-is = 不超过 { $step }
chart-pareto-walk = 前沿上的方案：方向键移动，回车键选用
chart-pareto-point = { $policy }：峰值 { $peak }，单步 { $step }（{ $overhead }）
chart-pareto-hint = 点选一个方案即可采用；可拖动预算线。
chart-pareto-overhead = 额外开销
chart-pareto-plan = 方案
chart-pareto-fits = 放得下
chart-yes = 是
chart-no = 否

# 方案的名称
chart-family-keep = 保留
chart-family-recompute = 重计算
chart-family-offload = 卸载
chart-family-mixed = 混合
chart-family-other = 按规则或列表
chart-plan-keep = 全部保留
chart-plan-checkpoint = 激活检查点，K = { $k }
chart-plan-recompute = 每层重计算
chart-plan-offload = 全部卸载
chart-plan-offload-boundaries = 每层重计算，边界卸载
chart-plan-mix = 混合，K = { $k }，β = { $beta }
chart-plan-selective = 只重计算注意力核心
chart-plan-rule = 逐张量规则
chart-plan-list = 逐层方案
chart-plan-best = 最优方案
chart-plan-ssd = 卸载到 SSD
chart-plan-prefetch = 提前 { $layers } 层预取
chart-plan-last-plain = 最后一段不重计算

# 卸载与重计算
chart-ratio-title = 逐层比较卸载成本与重计算成本
chart-ratio-text = 共 { $layers } 层：保留 { $keep }，重计算 { $recompute }，卸载 { $offload }，混合 { $mixed }。收益比阈值 { $threshold }。
chart-ratio-offload = 卸载成本
chart-ratio-exposed = 窗口掩盖不住的部分
chart-ratio-recompute = 重计算成本
chart-ratio-costs = 每层成本
chart-ratio-shared = 每层成本，每 { $count } 层取平均
chart-ratio-benefit = 收益比：释放的激活占比除以付出的单步耗时占比
chart-ratio-benefit-short = 收益比
chart-ratio-threshold = 阈值 { $threshold }
chart-ratio-decided = 决定
chart-ratio-window = 窗口
chart-ratio-trip = 往返
chart-ratio-columns = 各层：方向键移动
chart-ratio-layer = { $layer }：{ $fate }
chart-fate-keep = 保留
chart-fate-recompute = 重计算
chart-fate-offload = 卸载
chart-fate-ssd = 卸载到 SSD
chart-fate-mixed = 混合
chart-fate-nothing = 无需保存

# 原因：谁决定，数字说明什么，于是如何
chart-by-plan = 按方案要求
chart-by-rule = 按规则
chart-by-search = 按搜索结果
chart-did-keep = { $by }保留。
chart-did-recompute = { $by }重计算。
chart-did-offload = { $by }卸载。
chart-did-ssd = { $by }卸载到 SSD。
chart-did-mixed = { $by }，各张量的去向不同。
chart-why-nothing = 它不为反向保存任何张量，无需决定。
chart-why-recompute = 再算一遍占用计算 { $recompute }，拷贝占用链路 { $offload }：按教科书的代价，重计算更划算（藏在计算之后的拷贝不花时间）。
chart-why-hidden = 往返拷贝 { $trip }，能放进 { $window } 的窗口，且不比重新计算（{ $recompute }）更贵：卸载更划算。
chart-why-window = 往返拷贝需 { $trip }，而窗口只有 { $window }：计算流要等待 { $exposed }。
chart-then-keep-recompute = 若要腾出显存，宜重计算。
chart-then-keep-offload = 若要腾出显存，宜卸载。
chart-then-keep-window = 显存够用时宜保留。
chart-then-recompute-window = 计入等待，卸载需 { $offload }，仍不超过重新计算的 { $recompute }。
chart-then-offload-window = 保留会更好。
chart-waited = 计算流为它等待了 { $wait }。
chart-benefit-good = 收益比 { $ratio }，不低于阈值 { $threshold }：值得。
chart-benefit-poor = 收益比 { $ratio }，低于阈值 { $threshold }：不值得。
