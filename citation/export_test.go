package citation

// Links lists the destinations of the links, images and autolinks of one block.
func Links(block []byte) []string {
	var urls []string
	pieces := parseInline(block)
	for _, p := range pieces {
		switch p.kind {
		case linkPiece:
			urls = append(urls, pieces[p.mate].url)
		case autolinkPiece:
			urls = append(urls, p.url)
		}
	}
	return urls
}
