### What is fetched on demand

details-loading = Loading…
details-failed = This part could not be loaded; the rest of the page works.
details-again = Try again
