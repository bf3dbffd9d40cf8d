package citation

func readPDF(body []byte, c *Content) {}
