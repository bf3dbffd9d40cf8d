package job

// Quoted is the quotations in a text, each as its words and its URL.
func Quoted(text []byte) [][2]string {
	var found [][2]string
	for words, url := range quoted(text) {
		found = append(found, [2]string{string(words), string(url)})
	}
	return found
}
