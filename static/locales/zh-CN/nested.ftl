# 部分层重算不止一次的调度。
choice-binomial = 二项式检查点（多次重算）
choice-rotor = 在显存上限内最少重算
chart-plan-binomial = 二项式检查点，{ $slots } 个槽位
chart-plan-rotor = 在上限内最少重算
knob-slots = 槽位数
knob-slots-about = 二项式检查点同时保留的边界数
