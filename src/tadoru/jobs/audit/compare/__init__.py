"""`tadoru compare`: what became of a site between two crawls of it, or of two sites that should be alike."""
