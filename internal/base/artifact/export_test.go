package artifact

// Watched is how many logs this process looks at.
func Watched() int {
	watches.mu.Lock()
	defer watches.mu.Unlock()
	return len(watches.byPath)
}
