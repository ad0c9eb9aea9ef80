"""What the reports of every job share: making crawled text safe to show, colours, pages of HTML, and the picture of a site."""
