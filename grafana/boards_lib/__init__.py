"""What every board shares: colours, queries, panels and the layout."""
