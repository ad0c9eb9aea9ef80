"""`tadoru compare`: changes between two crawls of a site, or between two sites that should be alike."""
