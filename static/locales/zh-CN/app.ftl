### 页面框架：页眉、提示、控件。

app-title = Galley
app-tagline = 训练时显存去了哪里，腾出空间要付出什么，哪个方案最好。
