### The best plan, while it is searched for and after.

best-use = 采用最快的方案
best-use-note = 逐张量搜索放得下的最快方案；设置改变时随之更新
best-searching = 正在搜索放得下的最快方案……
best-so-far = 目前最优：至多比理论最快慢 { $gap }。仍在搜索……
best-found = 已找到的最优：至多比理论最快慢 { $gap }。
best-proved = 已证明：放得下的方案中没有更快的。
best-none-yet = 尚未找到放得下的方案；这是显存最少的一个。仍在搜索……
best-none = 没有找到放得下的方案；这是显存最少的一个。
best-impossible = 无论怎样重计算或卸载都放不下；这是试过的方案中显存最少的一个。
best-try = 建议：增大显存或换更快的链路；方案本身已是找到的最优。
best-try-batch = 建议：减小微批次；换方案无济于事。
best-try-shorter = 建议：缩短序列或缩小模型；批大小已是 1，换方案无济于事。
best-mark = 找到的最快方案
best-bound = 放得下的方案都不会更快
