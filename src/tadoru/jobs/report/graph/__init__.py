"""The picture of a site: dots, where they go, their names, and the SVG. Which pages are drawn is the job's choice."""
