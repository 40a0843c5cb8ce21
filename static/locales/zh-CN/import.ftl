### 文件的读入，以及实测数据。

# 两句之间。
import-between = { "" }
import-choose = 选择文件
import-drop = 放下一个 profile、显存曲线、PyTorch trace、config.json 或场景：单个 JSON 文件，不超过 50 MB。内容只留在本页。
import-label = 正在读取文件
import-text = 粘贴的文本
import-no-worker = 此处浏览器不允许后台线程，而文件要在其中读取。
import-reading = 正在读取 { $name }：{ $read } / { $total }
import-cancel = 取消
import-file-problem = { $name }：{ $message }
import-at = 位置：第 { $line } 行第 { $column } 列，第 { $byte } 字节，“{ $near }”附近。
import-empty = 文件里什么也没有。
import-too-long = 文件有 { $given }，最多读取 { $accepted }。请少录几步，或用 tools/profile_model.py 转换。
import-utf16 = 这是 UTF-16 文本，请另存为 UTF-8。
import-not-utf8 = 其中有文字不是 UTF-8，请把文件另存为 UTF-8。
import-packed = 文件是压缩的（gzip 或 zip），请先解压。
import-pickle = 这是 Python pickle（CUDA 显存快照即如此），请先用 tools/profile_model.py 转换。
import-syntax = 不是合法的 JSON（{ $detail }）。
import-not-a-number = NaN 和 Infinity 不是 JSON，请改写成 null 或数字。
import-cut = 文件提前结束，缺了一部分。请重新复制或重新生成。
import-too-deep = 嵌套超过 { $accepted } 层。
import-too-much = 其中的设置、层或张量太多，放不下；请少测几层，或合并小张量。
import-repeated = 键“{ $key }”在同一对象中出现两次，请去掉一个。
import-unknown = 看不出这是什么文件。可识别：场景（有 workload）、workload（有 kind）、config.json（有 model_type）、tools/profile_model.py 生成的文件（有 galley）、Chrome trace（有 traceEvents）。
import-version = 文件的版本 v 是 { $given }；这里只读版本 1。
import-unfit = { $path } 的值是 { $given }，不合适。大小为字节、时间为秒，均不小于 0。
import-point = 曲线的第 { $index } 个点不是 [秒, 字节]：两者都应是数字，大小不为负。
import-no-memory = 其中 { $events } 个事件没有一个与内存有关；录制时请加 profile_memory=True。
import-unreadable = 浏览器无法读取：文件可能已不在、是文件夹，或没有权限。
import-stopped = 读取中断：本设备内存不足。
import-several = 请一次只放一个文件。

measured-name = 实测
measured-predicted = 预测
measured-difference = 实测 − 预测
measured-title = 实测与预测对照
measured-remove = 移除实测数据
measured-saved = 全部保留时保存的张量
measured-largest = 差异最大之处
measured-during = { $layer }的{ $kind }
measured-there = ，{ $start } 至 { $end }：平均实测 { $measured }，预测 { $predicted }（{ $difference }）。
measured-same = 两条曲线按同样的秒数绘制：实测一步 { $own }，预测一步 { $ours }。
measured-stretched = 实测一步 { $own }，预测一步 { $ours }：实测曲线按整个预测步长拉伸，并非逐秒对应。
measured-timeless = 其中一方不花时间，只比较峰值。
measured-step = 所示为 { $step }，文件共 { $count } 步，取最后一个有分配的步。
measured-device = { $device } 的内存，文件中占用最高的设备。
measured-host = 分析器从录制开始时计数，此前分配的不在其中。
measured-raised = 曲线整体抬高了 { $bytes }：它释放了录制开始前分配的这么多内存。
measured-tally = 共 { $seen } 个点，画出 { $kept } 个。
measured-others = 另有 { $count } 个其他事件未用。
measured-elsewhere = { $count } 个属于其他设备或其他步。
measured-thinned = 略去 { $count } 个，高低极值保留。
measured-before = { $count } 个在生成文件时已略去。
measured-unread = { $count } 个没有可用的时间或大小。
measured-notes = 生成工具备注：
