"""The four jobs, and `launch`, which puts a crawl together and runs it in one process or several."""
