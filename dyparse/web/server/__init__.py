"""The HTTP interface: the explorer's page, states and costs, and a parsing server.

`app` lists the routes; `bodies` says what requests and answers hold. Nothing else in dyparse needs
the libraries of the extra `dyparse[web]`.
"""
