# Schedules that recompute some layers more than once.
choice-binomial = Binomial checkpoints
choice-rotor = Least recomputation that fits
chart-plan-binomial = Binomial checkpointing, { $slots } slots
chart-plan-rotor = Least recomputation that fits
knob-slots = Slots
knob-slots-about = Boundaries that binomial checkpointing holds at once
textbook-peak-binomial = M = base + s·c + a
textbook-step-binomial = T = C + F·n/L, n = r·L − C(s+r, s+1)
textbook-note-binomial = Transients of the operation at the peak; embedding, head and loss. All boundaries count alike.
explain-sym-slots = slots for boundaries
explain-sym-again = blocks run again, in all
