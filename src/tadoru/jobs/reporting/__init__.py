"""What the reports of all jobs share: charts, the site graph, HTML, terminal output, and escaping of crawled text."""
