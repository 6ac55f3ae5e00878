"""Bearoff tables over HTTP: what `bgfmt serve` runs, and what `bgfmt site` writes.

Starlette, uvicorn and httptools are the extra `serve`; only these modules import them, and nothing imports
these modules but the two commands:

refusals    every error as the one body that all routes share
parameters  the parameters of a question, checked
holdings    the tables served, with names, fingerprints and files
answers     the seam: a question in, the adviser's answer out as plain values
bulk        many questions at once
files       the tables themselves, whole or by byte range
page        the probe page and its files
wildbg      two routes in wildbg's shape
openapi     the description of all this for programs
schemas     the shapes in it
metrics     counters for Prometheus
work        threads, bounded
door        Host, CORS, headers, the log: what every answer passes through
app         the routes
protocol    deadlines and limits on the way in
server      the socket, the signals
site        the page and tables as a folder
"""
