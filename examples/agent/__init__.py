"""A small agent that works a defect from search to verified fix, with the tools of `lsptools mcp`."""
