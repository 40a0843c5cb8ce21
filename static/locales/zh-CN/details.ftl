### 按需加载的部分

details-loading = 正在加载…
details-failed = 这一部分无法加载；页面的其余部分不受影响。
details-again = 重试
