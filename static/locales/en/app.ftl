### The page's frame: header, notices, controls.

app-title = Galley
app-tagline = Where GPU memory goes in training, what making room costs, and which plan is best.
