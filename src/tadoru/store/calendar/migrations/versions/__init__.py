"""One module for each revision; the SQL it runs lies beside it, once for each kind of database."""
