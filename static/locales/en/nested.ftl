# Schedules that recompute some layers more than once.
choice-binomial = Binomial checkpointing (several recomputations)
choice-rotor = Least recomputation within the memory limit
chart-plan-binomial = Binomial checkpointing, { $slots } slots
chart-plan-rotor = Least recomputation within the limit
knob-slots = Slots
knob-slots-about = Boundaries that binomial checkpointing holds at once
