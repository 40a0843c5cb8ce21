### Files on their way in, and what was measured.

# Between two sentences.
import-between = { " " }
import-choose = Choose a file
import-drop = Drop a profile, a memory curve, a PyTorch trace, a config.json or a scenario: one JSON file of up to 50 MB. It stays in this page.
import-label = Reading a file
import-text = the pasted text
import-no-worker = This browser allows no worker here, and files are read in one.
import-reading = Reading { $name }: { $read } of { $total }
import-cancel = Cancel
import-file-problem = { $name }: { $message }
import-at = Line { $line }, column { $column }, byte { $byte }, near “{ $near }”.
import-empty = There is nothing in it.
import-too-long = It has { $given }; at most { $accepted } are read. Record fewer steps, or convert it with tools/profile_model.py.
import-utf16 = It is text in UTF-16; save it as UTF-8.
import-not-utf8 = A text in it is not UTF-8; save the file as UTF-8.
import-packed = It is packed (gzip or zip); unpack it first.
import-pickle = It is a Python pickle, as CUDA memory snapshots are; convert it with tools/profile_model.py first.
import-syntax = This is not valid JSON ({ $detail }).
import-not-a-number = NaN and Infinity are not JSON; write null or a number in their place.
import-cut = It ends too early: part of the file is missing. Copy it, or write it, again.
import-too-deep = It is nested deeper than { $accepted } levels.
import-too-much = It holds more settings, layers or tensors than fit in here; profile fewer layers, or merge small tensors.
import-repeated = The key “{ $key }” stands twice in one object; take one away.
import-unknown = Nothing in it says what it is. Known are a scenario (with workload), a workload (with kind), a config.json (with model_type), files of tools/profile_model.py (with galley) and Chrome traces (with traceEvents).
import-version = Its version v is { $given }; version 1 is read here.
import-unfit = { $path } is { $given }; it does not fit there. Sizes are bytes and times seconds, 0 or more.
import-point = Point { $index } of its curve is not [seconds, bytes] with both of them numbers and no size negative.
import-no-memory = None of its { $events } events is about memory; record the profile with profile_memory=True.
import-unreadable = The browser could not read it; it may be gone, a folder, or not yours to read.
import-stopped = Reading it stopped: this device has too little memory for it.
import-several = One file at a time, please.

measured-name = Measured
measured-predicted = Predicted
measured-difference = Measured − predicted
measured-title = Measured beside predicted
measured-remove = Remove measurement
measured-saved = Saved, keeping everything
measured-largest = Largest differences
measured-during = { $kind } of { $layer }
measured-there = , { $start } to { $end }: measured { $measured }, predicted { $predicted } ({ $difference }) on average.
measured-same = Both curves share their seconds: the measured step takes { $own }, the predicted one { $ours }.
measured-stretched = The measured step takes { $own } and the predicted one { $ours }: the measured curve is drawn over the whole predicted step, not second for second.
measured-timeless = One of the two takes no time, so only the peaks are compared.
measured-step = Shown is { $step }, the last of { $count } steps in the file that allocate.
measured-device = Memory of { $device }, the fullest device in the file.
measured-host = The profiler counts it from the beginning of the recording: what was allocated before is not in it.
measured-raised = The curve is raised by { $bytes }: it frees that much that was allocated before the recording began.
measured-tally = { $kept } of { $seen } points are drawn.
measured-others = { $count } events about other things are passed over.
measured-elsewhere = { $count } belong to other devices or steps.
measured-thinned = { $count } are left out; lows and highs stay.
measured-before = { $count } were left out by whatever made the file.
measured-unread = { $count } have no usable time or size.
measured-notes = Its maker remarks:
