### The page's frame: header, verdict, notices, transport.

app-title = Galley
app-tagline = Where GPU memory goes in training, what making room costs, and which plan is best.
app-skip = Skip to the views
app-model = Model
app-card = Card
app-training = Training
app-own = Your own
app-lesson = Lesson: uniform layers
app-full = Full, AdamW mixed
app-full-bf16 = Full, bf16 and SGD
app-lora = LoRA, rank 16
app-qlora = QLoRA, rank 16, 4-bit base
app-custom = Custom
app-paste = Open a file
app-theme = Theme
app-theme-auto = Auto
app-theme-light = Light
app-theme-dark = Dark
app-language = 中文
app-language-label = 切换到中文
app-reset = Start over
app-units = Bytes are shown in GiB (2³⁰), bandwidth in GB/s (10⁹). The ledger counts allocated bytes, as the framework would; what an allocator reserves on top is not modelled.
app-limits-of-model = Not modelled: collectives' time, mixtures of experts, context parallelism, fragmentation. Reserve room for them with “unmodelled”.
app-view-pareto = Every plan: memory against time
app-view-ratio = Offload or recompute, layer by layer
app-view-textbook = Textbook beside truth
app-view-stage = One step, in time
app-help-stage = One training step from left to right: what fills the card above, what runs below. Activations are what forward keeps for backward, saved tensor by saved tensor.
app-help-pareto = Each dot is a plan: further left needs less memory, further down is faster. Choose one to use it.
app-help-ratio = For each layer, time to copy its saved tensors out and back beside time to run it again.
app-help-textbook = What closed formulas say of the same scenario, and what they leave out.
app-plan-best = Use best under λ
app-plan-least = Use the plan of least memory
app-plan-best-note = Least cost under λ among { $count } plans tried
app-settings = All settings
app-settings-model = Model
app-settings-training = Training
app-settings-hardware = Hardware
app-settings-policy = Plan

### Verdict

verdict-label = Verdict
verdict-fits = Fits, with { $free } to spare.
verdict-slow = Fits in memory, but the step of { $step } is over the limit of { $limit }.
verdict-states = Does not fit: { $missing } too little for the whole step; the model states alone are { $states } too large.
verdict-memory = Does not fit: { $missing } too little for the whole step, which would stop at the { $operation }.
verdict-host = Host memory and SSD are full: { $missing } have no place to go.
verdict-as-fast = As fast as keeping everything.
verdict-slower = { $overhead } slower than keeping everything.
verdict-keep-would-not-fit = Keeping everything would need { $need }.
verdict-binds-compute = Compute binds: every copy hides behind it.
verdict-binds-compute-alone = Compute binds: nothing is copied, nothing waits.
verdict-binds-link = The link binds: compute waits { $stall } a step for copies.
verdict-binds-room = Memory binds: compute waits { $stall } a step for room.
verdict-binds-memory = Memory binds.
verdict-binds-host = Host memory binds.
verdict-peak-unmoved = Offloading frees { $freed } after forward, yet the peak does not move: it is reached elsewhere.
verdict-drive = The SSD takes { $bytes } a step: its rated { $endurance } TB last { $days } days at this rate.
verdict-try-states = First: shard or shrink the states (LoRA, 8-bit AdamW, ZeRO), or take a larger card.
verdict-try-states-base = First: shard the states (ZeRO) or put LoRA’s base in 4 bit, or take a larger card.
verdict-try-states-shard = First: shard the states over more cards (ZeRO), or take a larger card.
verdict-try-chunks = First: compute the loss in chunks (loss chunks, under all settings): the logits are what does not fit.
verdict-try-plan = First: let the search pick a plan, or make the micro-batch smaller.
verdict-try-room-states = First: let the search pick a plan, or shrink sequence or model: the batch is one already.
verdict-try-host = First: offload less, or add host memory or an SSD.
verdict-try-link = First: recompute more and offload less, or find a faster link.
verdict-try-room = First: more room, or fewer copies in flight.
verdict-try-compute = First: offload what the link can still hide, and recompute less.
verdict-try-none = Nothing to gain: the step is as fast as the card allows.
verdict-try-keep = First: keep everything; it fits.
verdict-peak = Peak
verdict-of = of { $limit }
verdict-step = Step
verdict-overhead = Overhead
verdict-tokens = { $rate } tokens/s
verdict-samples = { $rate } samples/s
verdict-host-memory = Host
verdict-op-forward = forward of { $layer }
verdict-op-recompute = recomputation of { $layer }
verdict-op-backward = backward of { $layer }
verdict-op-optimizer = optimizer step

### Transport

transport-label = Playhead
transport-play = Play
transport-pause = Pause
transport-back = Step back
transport-forward = Step forward
transport-speed = Speed
transport-time = { $now } of { $end }

### Notices

notice-refused = Not used: { $message }
notice-kept = The last good scenario stays.
notice-clamped = { $key } { $given } is out of range; { $used } is used.
notice-ignored = Ignored, unknown: { $keys }
notice-too-long = Text of { $given } bytes is too long; at most { $accepted } are read.
notice-syntax = This is not valid JSON: line { $line }, column { $column } ({ $detail }).
notice-unfit = { $key } is { $given }; expected { $accepted }.
notice-missing = { $key } is missing; expected { $accepted }.
notice-too-large = { $key } comes to { $given }, beyond { $accepted }. Make the model, batch or sequence smaller, or the card faster.
notice-dismiss = Dismiss
notice-profile = A profile is not in the address: reloading the page loses it.
notice-measured = A measurement is not in the address: reloading the page loses it.
notice-worker = No background worker answers here. The search runs on the page itself, in short pieces: its answers come later and are the same.

### Pasting

paste-title = Open or paste a file
paste-help = A Hugging Face config.json (Llama, Mistral, Qwen2, Qwen3, GPT-2, GPT-NeoX, BERT), a workload, a whole scenario, a profile or memory curve of tools/profile_model.py, or a PyTorch profiler trace recorded with profile_memory=True, as JSON of up to 50 MB. Choose it, drop it anywhere on the page, or paste it. It stays in this page.
paste-use = Use the text
paste-close = Close
paste-label = JSON

### Textbook

textbook-formula = Formula
textbook-says = It says
textbook-simulated = Simulated
textbook-leaves-out = What the formula leaves out
textbook-peak-keep = M = base + A
textbook-peak-k = M = base + A/K
textbook-peak-recompute = M = base
textbook-peak-mix = M = base + β·A/K
textbook-step-plain = T = C
textbook-step-k = T = C + F·(K−1)/K
textbook-step-recompute = T = C + F
textbook-step-overlap = T = max(C, copies out and back)
textbook-step-mix = T = max(C + β·F·(K−1)/K, (1−β)·copies)
textbook-boundaries = K·c + ⌈L/K⌉·a + base
textbook-note-keep = Transients of the operation at the peak: gradients of activations, logits.
textbook-note-k = The segment that is being recomputed, held in full, and the boundaries before it; embedding, head and loss.
textbook-note-recompute = The boundaries, one layer's own tensors while it is recomputed, and the logits.
textbook-note-offload = Copies in flight still count, the last layers come back at once, and the first cannot leave before they are made.
textbook-note-mix = Both: copies in flight and the segment that is being recomputed.
textbook-note-none = No closed formula covers this plan: keep-everything’s stands here.
textbook-note-step-k = Every checkpointed segment runs again, the last one too unless it is left plain; embedding and head do not.
textbook-note-step-overlap = Forward has only its own copies out to hide, backward only those back, and the last copies out have nothing behind them.
textbook-note-step-plain = Nothing: it is what keeping everything takes.
textbook-activations = A = L·s·b·h·(10 + 24/t + 5·a·s/(h·t))
textbook-note-activations = The blocks alone, on the first stage: the norms’ statistics and flash attention’s log-sum-exp. With sequence parallelism t divides the 10 too; without eager scores the last term goes.
textbook-note-boundaries = Transients, and that the last segments' boundaries are already gone when an earlier one is recomputed.
textbook-ratio = Benefit ratio: { $memory } of memory saved for { $cost } of time added = { $ratio } (worthwhile above { $threshold }).
textbook-ratio-free = Benefit ratio: { $memory } of memory saved at no cost in time.
textbook-epoch = Worked epoch
textbook-epoch-says = Offloads: { $count }, round trip { $trip } s, visible { $visible } s, epoch { $epoch } s, slowdown { $slow } %.
textbook-epoch-note = It charges one layer per overflow yet empties the whole counter, and lets at most half of compute hide copies.
textbook-strategies = Worked strategies
textbook-strategy-full = Keep everything
textbook-strategy-checkpoint = Checkpointing
textbook-strategy-offload = Offloading
textbook-strategy-memory = Memory, GB
textbook-strategy-compute = Compute added, s
textbook-strategy-transfer = Transfer added, s
textbook-strategy-cost = Cost
textbook-strategy-best = least cost
textbook-strategies-note = The table counts one way of the transfer, and A/K forgets the segment that is being recomputed.
textbook-reference = Figures often quoted: checkpointing 50 % of memory for 33 % of compute, offloading 40 % for 10 %, recomputing everything 30 % for 100 %. They are one example, not laws.

### What is not counted

caveat-sentence = Time not counted: { $list }.
caveat-tp = all-reduces of tensor parallelism
caveat-pp = sends between stages, and that another stage may be slower
caveat-dp = the all-reduce of gradients
caveat-zero = ZeRO’s gathers and scatters
caveat-offload = states and activations queueing for one link

### Model states

states-title = Model states, bytes per trained parameter (states only, activations excluded)
states-master = Master copy
states-optimizer = Moments
states-total = Sum
states-device = On this device, sharded
states-host = On the host
