package forge

import "testing"

// TestLines: a comment stands on lines of the later version that one hunk shows.
func TestLines(t *testing.T) {
	shown := func(patch string) map[int]int { lines, _ := shownLines(patch); return lines }
	lines := Lines{"a.go": shown("@@ -1,2 +1,3 @@ func f()\n a\n-b\n+c\n+d\n@@ -9 +4 @@\n+e\n\\ No newline at end of file"), "b.go": shown("Binary files differ\n+x"), "c.go": nil}
	for _, test := range []struct {
		file     string
		from, to int
		want     bool
	}{
		{"a.go", 1, 3, true}, {"a.go", 2, 2, true}, {"a.go", 4, 4, true}, {"a.go", 3, 4, false}, // two hunks
		{"a.go", 5, 5, false}, {"a.go", 0, 0, false}, {"a.go", 3, 2, false}, {"b.go", 1, 1, false}, {"c.go", 1, 1, false}, {"", 0, 0, false},
	} {
		if got := lines.Has(test.file, test.from, test.to); got != test.want {
			t.Errorf("%s, lines %d to %d: %t", test.file, test.from, test.to, got)
		}
	}
}
