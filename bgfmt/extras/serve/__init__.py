"""Bearoff tables over HTTP: what `bgfmt serve` runs, and what `bgfmt site` writes.

Starlette, uvicorn, httptools and prometheus-client are the extra `serve`; only these modules import them, and
nothing imports these modules but the two commands. A request meets them in this order:

server      the socket, the signals; deadlines and limits of connections
door        Host, CORS, headers, the log: what every answer passes through
metrics     counters for Prometheus
app         the routes, and the tables themselves by byte range
parameters  the settings of the service, and the parameters of a question, checked
bulk        many questions at once
answers     from a question to the adviser's answer, as plain values
wildbg      two routes in wildbg's shape, by the same adviser
work        threads, shared by clients, and the one calculation at a time
holdings    the tables served, with names, fingerprints and files
refusals    every error as the one body that all routes share
openapi     the description of all this for programs
page        the probe page and its files, and a folder of them with tables
"""
