### The best plan, while it is searched for and after.

best-use = Use the fastest
best-use-note = The fastest plan that fits, searched tensor by tensor; it follows every change
best-searching = Searching for the fastest plan that fits…
best-so-far = Best so far: at most { $gap } slower than the best possible. Still searching…
best-found = Best found: at most { $gap } slower than the best possible.
best-proved = Proved: no plan that fits is faster.
best-none-yet = No plan found yet that fits; this one needs least memory. Still searching…
best-none = No plan found that fits; this one needs least memory.
best-impossible = No plan can fit, whatever is recomputed or moved; this one needs least memory of those tried.
best-try = First: more memory or a faster link; the plan itself is the best found.
best-try-batch = First: make the micro-batch smaller; no other plan helps.
best-try-shorter = First: shrink sequence or model; the batch is one already, and no other plan helps.
best-mark = Fastest plan found
best-bound = No plan that fits is faster
