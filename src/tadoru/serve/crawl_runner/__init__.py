"""Runs the crawls of the service.

A crawl is a row of the service's database (`store.served_crawls`). Routes and pages call `control`, which validates requests with
`crawl_options`. A thread of each service process (`dispatcher`) claims queued crawls and starts a process for each of them
(`crawl_process`). `notifier` reports regressions, `control` also imports crawls and makes backups.
"""
