"""The HTTP service of `bgfmt serve`, the folder that `bgfmt site` writes, and the MCP server.

Starlette, uvicorn, httptools and prometheus-client are the extra `serve`; only these modules import them, and
only the commands import these modules. A request passes through them in this order:

server      socket and signals; timeouts and limits of connections
middleware  Host, CORS, headers and the log, for every response
metrics     counters for Prometheus
app         the routes, and the tables themselves by byte range
parameters  settings of the service, and checked parameters of a query
bulk        many queries in one request
answers     from a query to the adviser's answer, as plain values
wildbg      two routes in wildbg's form, answered by the same adviser
work        threads shared by clients, and at most one exact calculation at a time
holdings    the served tables, with names, fingerprints and files
refusals    errors in the one form that all routes share
openapi     the OpenAPI description of the service
page        the probe page and its files, and a folder of them with tables
mcp         the same queries as tools of the Model Context Protocol
"""
