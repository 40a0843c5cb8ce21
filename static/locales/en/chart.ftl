### The four views and the counter.

chart-table = The same as a table
chart-table-left-out = { $shown } of { $all } rows are shown.
chart-play-at = Playhead
chart-legend = Legend
chart-zoom = Time shown
chart-zoom-in = Magnify about the playhead
chart-zoom-out = Show more
chart-zoom-earlier = Earlier
chart-zoom-later = Later
chart-zoom-all = Whole step

# What bytes are
chart-band-weights = Weights
chart-band-gradients = Gradients
chart-band-optimizer = Optimizer states
chart-band-unmodelled = Unmodelled
chart-band-activations = Activations
chart-band-in-flight = In flight
chart-band-workspace = Workspace
chart-total = Total

# What spans are
chart-kind-forward = Forward
chart-kind-recompute = Recompute
chart-kind-backward = Backward
chart-kind-optimizer = Optimizer step
chart-kind-stall-room = Stall: waits for room
chart-kind-stall-copy = Stall: waits for a copy
chart-kind-offload = Offload (D2H)
chart-kind-prefetch = Prefetch (H2D)
chart-kind-ssd-write = SSD write
chart-kind-ssd-read = SSD read
chart-track-compute = Compute
chart-track-d2h = D2H
chart-track-h2d = H2D
chart-track-ssd = SSD
chart-layer = Layer
chart-name-block = block { $number }
chart-name-layer = layer { $number }
chart-name-embedding = embedding
chart-name-received = received input
chart-name-head = head and loss
chart-layers = Layers { $first } to { $last }
chart-track = Track
chart-operation = Operation
chart-start = Start
chart-duration = Duration
chart-bytes = Bytes
chart-time = Time

# Counter
chart-counter-title = Memory at this moment
chart-counter-of = { $total } of { $memory }
chart-counter-free = { $free } free
chart-counter-over = { $over } too much
chart-counter-text = At { $time }: { $total } of { $memory }.
chart-counter-peak = peak { $peak }

# Ledger
chart-ledger-title = Memory over time
chart-ledger-text = Stacked device memory over one micro-batch. Peak { $peak } at { $at }, capacity { $memory }.
chart-ledger-capacity = capacity { $memory }
chart-ledger-budget = budget { $memory }
chart-ledger-peak = peak { $peak }
chart-ledger-focus = Magnify what moves
chart-ledger-below = static { $bytes } below, not to scale
chart-ledger-at = At { $time }: { $total }
chart-ledger-hint = Point at an instant to read it, or drag to move the playhead.

# Timeline
chart-timeline-title = What runs when
chart-timeline-text = Compute is busy { $busy } of { $all }; stalls { $stall }; exposed transfer { $exposed }, hidden { $hidden }.
chart-timeline-busy = busy { $share }
chart-timeline-stalled = stalled { $time }
chart-timeline-hint = Point at a span, or drag to move the playhead.
chart-timeline-span = { $kind }, { $layer }: { $time } from { $start }
chart-timeline-copy = { $kind }, { $layer }: { $bytes } in { $time } from { $start }

# Pareto front
chart-pareto-title = Peak memory against step time
chart-pareto-text = { $plans } plans, { $front } of them on the front. The current plan peaks at { $peak } and takes { $step } a step.
chart-pareto-waiting = Searching for plans…
chart-pareto-peak = Peak memory
chart-pareto-peak-title = ← less is better · peak memory
chart-pareto-step = Step time
chart-pareto-step-title = Step time · less is better ↓
chart-pareto-front = Front
chart-pareto-current = Current plan
chart-pareto-best = Best under λ
chart-pareto-iso-short = equal cost
chart-pareto-infeasible = does not fit
chart-pareto-above = { $count } slower plans are above the frame.
chart-pareto-limit = Memory budget
chart-pareto-limit-is = budget { $memory }
chart-pareto-limit-step = Longest step
chart-pareto-limit-step-is = at most { $step }
chart-pareto-walk = Plans on the front: arrow keys walk, Enter chooses
chart-pareto-point = { $policy }: peak { $peak }, step { $step } ({ $overhead })
chart-pareto-hint = Click a plan to use it; drag the budget line.
chart-pareto-overhead = Overhead
chart-pareto-plan = Plan
chart-pareto-fits = Fits
chart-yes = yes
chart-no = no

# Names of plans
chart-family-keep = Keep
chart-family-recompute = Recompute
chart-family-offload = Offload
chart-family-mixed = Mixed
chart-family-other = By rule or list
chart-plan-keep = Keep everything
chart-plan-checkpoint = Activation checkpointing, K = { $k }
chart-plan-recompute = Recompute every layer
chart-plan-offload = Offload everything
chart-plan-offload-boundaries = Recompute every layer, offload boundaries
chart-plan-mix = Mix, K = { $k }, β = { $beta }
chart-plan-selective = Recompute the attention core
chart-plan-rule = Per-tensor rule
chart-plan-list = Layer by layer
chart-plan-best = Best plan
chart-plan-ssd = to SSD
chart-plan-prefetch = prefetch { $layers } ahead
chart-plan-last-plain = last segment plain

# Offload beside recompute
chart-ratio-title = Offload cost beside recompute cost, layer by layer
chart-ratio-text = { $layers } layers: { $keep } kept, { $recompute } recomputed, { $offload } offloaded, { $mixed } mixed. Threshold of the benefit ratio { $threshold }.
chart-ratio-offload = Offload cost
chart-ratio-exposed = Not hidden by its window
chart-ratio-recompute = Recompute cost
chart-ratio-costs = Cost per layer
chart-ratio-shared = Cost per layer, mean of { $count }
chart-ratio-benefit = Benefit ratio: share of activations freed per share of step time paid
chart-ratio-benefit-short = Benefit ratio
chart-ratio-threshold = threshold { $threshold }
chart-ratio-decided = Decided
chart-ratio-window = Window
chart-ratio-trip = Round trip
chart-ratio-columns = Layers: arrow keys walk
chart-ratio-layer = { $layer }: { $fate }
chart-fate-keep = Keep
chart-fate-recompute = Recompute
chart-fate-offload = Offload
chart-fate-ssd = Offload to SSD
chart-fate-mixed = Mixed
chart-fate-nothing = Nothing saved

# Why: who decided, what the numbers say, what follows
chart-by-plan = as the plan asks
chart-by-rule = by the rule
chart-by-search = as the search chose
chart-did-keep = Kept, { $by }.
chart-did-recompute = Recomputed, { $by }.
chart-did-offload = Offloaded, { $by }.
chart-did-ssd = Offloaded to SSD, { $by }.
chart-did-mixed = Some tensors go one way and some another, { $by }.
chart-why-nothing = It saves nothing for backward, so there is nothing to decide.
chart-why-recompute = Running it again takes { $recompute } of compute, its copies { $offload } of the link: by the textbook’s costs recomputing is cheaper (copies that hide behind compute cost no time).
chart-why-hidden = Its round trip of { $trip } fits its window of { $window } and costs no more than running it again ({ $recompute }): offloading is cheaper.
chart-why-window = Its round trip takes { $trip } and its window is only { $window }: compute would wait { $exposed }.
chart-then-keep-recompute = To make room, recompute it.
chart-then-keep-offload = To make room, offload it.
chart-then-keep-window = Keep it unless memory runs out.
chart-then-recompute-window = The wait included, offloading would cost { $offload }, no more than the { $recompute } of running it again.
chart-then-offload-window = It would be better kept.
chart-waited = Compute waited { $wait } for it.
chart-benefit-good = Benefit ratio { $ratio }, at or above the threshold of { $threshold }: worthwhile.
chart-benefit-poor = Benefit ratio { $ratio }, below the threshold of { $threshold }: not worthwhile.
