"""The `audit` job: crawls a site, checks its pages (`checks`) and the whole site (`site_checks`), and stores the findings."""
