### Why a tensor is what it is, what sets the peak, and what makes it fit.

# One saved tensor: "Offload: its round trip …; below 12 GB/s no longer."
why-sentence = { $action }: { $clauses }.
why-though = { $action }, though { $clauses }.
why-title = Why, tensor by tensor
why-one = Why
why-behind = { $trip } after { $queue } of copies before it
why-hidden = its round trip of { $trip } fits its window of { $window } and costs no more than making it again ({ $recompute })
why-hidden-alone = its round trip of { $trip } fits its window of { $window }, and alone it cannot be made again
why-short = its round trip of { $trip } does not fit its window of { $window }
why-short-never = its backward follows its forward at once, so that no copy has time
why-cheaper = making it again takes { $recompute }, no more than the { $offload } that copying it would cost
why-layer-hidden = a forward of its layer makes all { $bytes } again in { $recompute }; their round trip of { $trip } would fit the window of { $window } and cost less
why-layer-short = a forward of its layer makes all { $bytes } again in { $recompute }; their round trip of { $trip } does not fit the window of { $window }
why-layer-cheaper = a forward of its layer makes all { $bytes } again in { $recompute }, no more than the { $offload } that copying them would cost
why-nothing = it has no bytes
why-turn-fits = on a link of { $rate } it would
why-turn-not-cheaper = from { $rate } of link on no longer
why-turn-not-hidden = below { $rate } of link no longer
why-turn-made = made again in { $time } or less, recomputing would be cheaper
why-turn-made-longer = if that took more than { $time }, no longer
why-until = up to { $layer } the window would be long enough
why-room = there is room for it
why-no-room = the plan keeps it although the step does not fit
why-keep-more = keeping it too would take { $memory } of memory, { $more } more than there is
why-keep-room = there would be room to keep it ({ $memory } of { $all })

# The peak
why-freed = frees after forward
why-resident-kept = activations after forward, nothing offloaded
why-resident-now = activations after forward
why-peak = What sets the peak
why-peak-unmoved = Why did the peak not move?
why-peak-at = It stands { $time } into a micro-batch, at the { $operation }.
why-peak-alive = Most of it: { $list }.
why-peak-away = Of the { $freed } that the plan has freed when forward ends, { $away } are away at that moment.
why-peak-none-away = Of the { $freed } that the plan has freed when forward ends, nothing is away at that moment: it is not made yet, used up already, or back again.
why-levers = What moves it
why-levers-waiting = Trying what moves it…
why-no-lever = None of the single changes that were tried lowers it.

# What makes it fit
why-lack = { $missing } are missing.
why-lack-host = On the host { $missing } are missing.
why-lack-time = The step is too long.
why-nearest = Each of these makes it fit:
why-nearest-two = Two things make it fit; nothing else that was tried does, alone or with up to two others:
why-nearest-one = One thing makes it fit; nothing else that was tried does, alone or with up to two others:
why-nearest-more = The best plans of these are still being looked for…
why-nearest-waiting = Looking for changes that make it fit…
why-nearest-none = Nothing that was tried makes it fit: no single change, no two and no three together, with the best plan or not.
why-comes-to = peak { $peak }, step { $step }
why-price-machine = another machine
why-price-rounding = rounds differently
why-price-training = trains something else

# Changes
why-best = Best plan: { $plan }
why-per-tensor = One copy per tensor
why-whole-card = The whole card, { $memory }
why-micro-batch = Micro-batch of { $batch }, { $times } a step
why-loss-chunks = Loss in { $chunks } chunks
why-flash = Flash attention
why-cards = ZeRO-3 over { $dp } data-parallel cards
why-zero = ZeRO stage { $stage }
why-sp = Sequence parallelism
why-host-states = Gradients and optimizer states on the host
why-host-memory = Host memory of { $memory }
why-optimizer = 8-bit AdamW
why-grad-dtype = Gradients in bf16
why-lora-base = LoRA’s base in 4 bit
why-sequence = Sequences of { $seq } tokens
why-batch = Batch of { $batch }
