"""The lab over HTTP: REST API, metrics pages and the small page at `/`, on one port."""
