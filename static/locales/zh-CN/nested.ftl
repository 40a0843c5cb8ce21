# 部分层重算不止一次的调度。
choice-binomial = 二项式检查点
choice-rotor = 显存内最少重计算
chart-plan-binomial = 二项式检查点，{ $slots } 个槽位
chart-plan-rotor = 显存内最少重计算
knob-slots = 槽位数
knob-slots-about = 二项式检查点同时保留的边界数
textbook-peak-binomial = M = 基础 + s·c + a
textbook-step-binomial = T = C + F·n/L，n = r·L − C(s+r, s+1)
textbook-note-binomial = 峰值处该操作的临时量，以及嵌入层、输出头和损失；所有边界按同样大小计。
explain-sym-slots = 存放边界的槽位
explain-sym-again = 重新运行的块总数
