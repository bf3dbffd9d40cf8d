package review_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

func joined(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

func numbered(n int) []string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("line %d", i+1))
	}
	return lines
}

func TestText(t *testing.T) {
	t.Parallel()
	before := numbered(30)
	after := slices.Clone(before)
	after[9] = "changed"
	after = slices.Delete(after, 24, 25)
	after = append(after, "\tadded \u202e\x1b")
	parts := review.Split([]review.File{
		{Name: "a.go", Before: joined(before...), After: joined(after...)},
		{Name: "new\n==== b", After: joined("only")},
		{Name: "moved", From: "from", Before: joined("x"), After: joined("x")},
		{Name: "gone", Before: joined("bye")},
	}, 1<<20, false)
	want := `==== a.go (changed)
@@
     5  | line 5
     6  | line 6
     7  | line 7
     8  | line 8
     9  | line 9
       -| line 10
    10 +| changed
    11  | line 11
    12  | line 12
    13  | line 13
    14  | line 14
    15  | line 15
@@
    20  | line 20
    21  | line 21
    22  | line 22
    23  | line 23
    24  | line 24
       -| line 25
    25  | line 26
    26  | line 27
    27  | line 28
    28  | line 29
    29  | line 30
    30 +| 	added U+202EU+001B
==== new ==== b (added)
@@
     1 +| only
==== moved (renamed from from)
==== gone (deleted)
@@
       -| bye
`
	if len(parts) != 1 || parts[0].Text != want {
		t.Errorf("parts (-want +got):\n%s", cmp.Diff(want, fmt.Sprint(parts)))
	}
}

func randomFile(random *rand.Rand, name string) review.File {
	version := func() []byte {
		var lines []string
		for range random.IntN(60) {
			lines = append(lines, strings.Repeat(string(rune('a'+random.IntN(4))), 1+random.IntN(3)))
		}
		return joined(lines...)
	}
	f := review.File{Name: name, Before: version(), After: version()}
	switch random.IntN(6) {
	case 0:
		f.Before = nil
	case 1:
		f.After = nil
	case 2:
		// The usual case: most of it is the same.
		lines := strings.Split(string(f.Before), "\n")
		at := random.IntN(len(lines))
		f.After = []byte(strings.Join(slices.Insert(lines, at, "inserted"), "\n"))
	}
	return f
}

// TestHunksLeadFromOneVersionToTheOther applies the hunks to the earlier
// version; numbers are those of the later one.
func TestHunksLeadFromOneVersionToTheOther(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		f := randomFile(random, "f")
		before, after := lines(f.Before), lines(f.After)
		var got []string
		at := 0 // in before
		for _, hunk := range f.Hunks() {
			if hunk[0].Op == ' ' || hunk[0].Op == '+' {
				for len(got) < hunk[0].Number-1 {
					got, at = append(got, before[at]), at+1
				}
			}
			for _, line := range hunk {
				if line.Op != '-' {
					if got = append(got, line.Text); line.Number != len(got) {
						t.Fatalf("line %q has the number %d, want %d", line.Text, line.Number, len(got))
					}
				}
				if line.Op != '+' {
					if before[at] != line.Text {
						t.Fatalf("line %d before is %q, the hunk has %q", at+1, before[at], line.Text)
					}
					at++
				}
			}
		}
		if got = append(got, before[at:]...); !slices.Equal(got, after) {
			t.Fatalf("the hunks of\n%s\nand\n%s\nlead to\n%s", f.Before, f.After, strings.Join(got, "\n"))
		}
	}
}

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// TestAsShortAsGit compares the number of changed lines with git's.
func TestAsShortAsGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	random := rand.New(rand.NewPCG(5, 6))
	dir := t.TempDir()
	for range 10 {
		f := randomFile(random, "f")
		for name, data := range map[string][]byte{"a": f.Before, "b": f.After} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
		}
		out, _ := exec.Command("git", "diff", "--no-index", "--minimal", "--numstat", filepath.Join(dir, "a"), filepath.Join(dir, "b")).Output()
		added, removed := 0, 0
		fmt.Sscan(string(out), &added, &removed)
		ours := 0
		for _, hunk := range f.Hunks() {
			for _, line := range hunk {
				if line.Op != ' ' {
					ours++
				}
			}
		}
		if ours != added+removed {
			t.Errorf("%d lines changed, git says %d:\n%s\n---\n%s", ours, added+removed, f.Before, f.After)
		}
	}
}

// TestSplitKeepsEveryLineOnce splits at every size: no part is too large, and
// together they show every line of the whole once, in order.
func TestSplitKeepsEveryLineOnce(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	var files []review.File
	for i := range 12 {
		files = append(files, randomFile(random, fmt.Sprintf("file%d", i)))
	}
	shown := func(parts []review.Part) (lines []string) {
		for _, p := range parts {
			for line := range strings.Lines(p.Text) {
				if !strings.HasPrefix(line, "====") && line != "@@\n" {
					lines = append(lines, line)
				}
			}
		}
		return lines
	}
	whole := shown(review.Split(files, 1<<30, false))
	for limit := 60; limit < 5000; limit += 1 + limit/10 {
		parts := review.Split(files, limit, false)
		for _, p := range parts {
			if len(p.Text) > limit {
				t.Fatalf("a part has %d bytes, the limit is %d:\n%s", len(p.Text), limit, p.Text)
			}
		}
		if diff := cmp.Diff(whole, shown(parts)); diff != "" {
			t.Fatalf("limit %d (-whole +parts):\n%s", limit, diff)
		}
	}
}

// TestFarApart is about versions that no short sequence of edits connects.
func TestFarApart(t *testing.T) {
	t.Parallel()
	var before, after []string
	for i := range 20000 {
		before, after = append(before, fmt.Sprint("b", i)), append(after, fmt.Sprint("a", i))
	}
	f := review.File{Name: "f", Before: joined(before...), After: joined(after...)}
	if hunks := f.Hunks(); len(hunks) != 1 || len(hunks[0]) != 40000 {
		t.Errorf("%d hunks", len(hunks))
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	plain, mark := joined("package a"), joined("// Code generated by stringer. DO NOT EDIT.", "package a")
	wide := []byte("\xff\xfee\x00c\x00h\x00o\x00")
	for _, tt := range []struct {
		file   review.File
		want   string
		unseen bool
	}{
		{review.File{Name: "a.go", Before: plain, After: plain}, "", false},
		{review.File{Name: "a.png", After: []byte("\x89PNG\x00")}, "binary", false},
		{review.File{Name: "a.txt", Before: []byte("\xff\xfe"), After: plain}, "binary", true},
		{review.File{Name: "a.txt", Before: plain, After: wide}, "binary", false},
		{review.File{Name: "a.PY", After: wide}, "a program that is not UTF-8", true},
		{review.File{Name: "sub/Makefile", Before: plain, After: wide}, "a program that is not UTF-8", true},
		{review.File{Name: "tool", After: wide, ModeAfter: "100755"}, "a program that is not UTF-8", true},
		{review.File{Name: "tool", After: []byte("#!/bin/sh\n\x00\x00\x00\x00\x00")}, "a program that is not UTF-8", true},
		{review.File{Name: "a.py", Before: wide}, "binary", false},
		{review.File{Name: "web/vendor/a.go", After: plain}, "vendored", true},
		{review.File{Name: "third_party/a.go", Before: plain}, "vendored", false},
		{review.File{Name: "vendor.go", After: plain}, "", false},
		{review.File{Name: "x/go.sum", After: plain}, "a lock file", false},
		{review.File{Name: "vendor/go.sum", After: plain, Large: true}, "a lock file", false},
		{review.File{Name: "a_string.go", Before: mark, After: mark}, "generated", true},
		{review.File{Name: "a_string.go", Before: plain, After: mark}, "", false}, // it would hide what it has become
		{review.File{Name: "a_string.go", After: mark}, "", false},
		{review.File{Name: "a.js", Before: joined("/* @generated */"), After: plain}, "generated", true},
		{review.File{Name: "big", After: bytes.Repeat(plain, 1<<18)}, "larger than 1 MiB", true},
		{review.File{Name: "big", Before: bytes.Repeat(plain, 1<<18)}, "larger than 1 MiB", false},
		{review.File{Name: "big.txt", After: plain, Large: true}, "larger than 1 MiB", true},
		{review.File{Name: "big.png", After: []byte("\x89PNG\x00"), Large: true}, "binary", false},
	} {
		if got, unseen := tt.file.LeftOut(); got != tt.want || unseen != tt.unseen {
			t.Errorf("%s: %q, %v, want %q, %v", tt.file.Name, got, unseen, tt.want, tt.unseen)
		}
	}
}

func TestTouched(t *testing.T) {
	t.Parallel()
	before := numbered(40)
	after := slices.Insert(slices.Clone(before), 20, "inserted")
	touched := review.Touch([]review.File{{Name: "f", Before: joined(before...), After: joined(after...)}})
	for _, tt := range []struct {
		file string
		line int64
		want bool
	}{{"f", 21, true}, {"f", 16, true}, {"f", 26, true}, {"f", 15, false}, {"f", 27, false}, {"f", 0, true}, {"g", 0, false}, {"g", 21, false}} {
		if got := touched.Has(tt.file, tt.line); got != tt.want {
			t.Errorf("%s:%d: %v, want %v", tt.file, tt.line, got, tt.want)
		}
	}
}

// TestNothingOfATextIsHidden: no line is too long to be shown, and no single byte
// makes a text one that is not shown.
func TestNothingOfATextIsHidden(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a long line":      "x" + strings.Repeat(" ", 100_000) + "hidden\n",
		"another encoding": "# caf\xe9\nrun hidden\n",
		"a zero":           "# a comment with\x00\nrun hidden\n",
	} {
		f := review.File{Name: "f", After: []byte(text)}
		if why, _ := f.LeftOut(); why != "" {
			t.Errorf("%s: left out as %s", name, why)
		}
		if parts := review.Split([]review.File{f}, 1<<20, false); !strings.Contains(parts[0].Text, "hidden") {
			t.Errorf("%s: not shown", name)
		}
	}
	if why, _ := (review.File{Name: "f", After: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")}).LeftOut(); why != "binary" {
		t.Errorf("an image is left out as %q", why)
	}
}

// TestHunksNameTheirFunction: a reviewer sees what the lines of a hunk stand in.
func TestHunksNameTheirFunction(t *testing.T) {
	t.Parallel()
	before := "func first() {\n}\n\nfunc second(n int) {\n\ta()\n\tb()\n\tc()\n\td()\n\te()\n\tf()\n\tx()\n}\n"
	f := review.File{Name: "f.go", Before: []byte(before), After: []byte(strings.Replace(before, "x()", "y()", 1))}
	if got := review.Split([]review.File{f}, 1<<20, false)[0].Text; !strings.Contains(got, "\n@@ func second(n int) {\n     6  | \tb()\n") {
		t.Errorf("the hunk is %s", got)
	}
}

// TestCarriageReturnsAreShown: the end of a line is another one for a shell, and a
// carriage return ends a line for Python and JavaScript.
func TestCarriageReturnsAreShown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, after, want string }{
		"code behind a comment": {"x\n", "x\n# a comment\rrun()\n", "(changed)\n@@\n     1  | x\n     2 +| # a commentU+000D\n     … +| run()\n"},
		"one line of a file":    {"a\nb\n", "a\nb\r\n", "(changed)\n@@\n     1  | a\n       -| b\n     2 +| bU+000D\n"},
		"one line back":         {"a\r\nb\r\n", "a\nb\r\n", "(changed)\n@@\n       -| aU+000D\n     1 +| a\n     2  | bU+000D\n"},
		"two in one end":        {"a\r\n", "a\r\r\n", "(changed, every line ends in CR LF)\n@@\n       -| a\n     1 +| aU+000D\n"},
		"all line ends":         {"a\nb\n", "a\r\nb\r\n", "(changed, every line ends in CR LF and did not before)\n"},
		"all line ends back":    {"a\r\nb\r\n", "a\nb\n", "(changed, every line ended in CR LF and does not any more)\n"},
		"a file of them":        {"", "a\r\nb\r\n", "(added, every line ends in CR LF)\n@@\n     1 +| a\n     2 +| b\n"},
		"another line":          {"a\r\nb\r\n", "a\r\nc\r\n", "(changed, every line ends in CR LF)\n@@\n     1  | a\n       -| b\n     2 +| c\n"},
		"no end of a line":      {"", "a\r\nb\r", "(added, every line ends in CR LF)\n@@\n     1 +| a\n     2 +| bU+000D\n"},
	} {
		f := review.File{Name: "f", After: []byte(tt.after)}
		if tt.before != "" {
			f.Before = []byte(tt.before)
		}
		if diff := cmp.Diff("==== f "+tt.want, review.Split([]review.File{f}, 1<<20, false)[0].Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got, want := review.Numbered([]byte("a\rb\nc\r\n"), 1, 2), "     1  | aU+000D\n     …  | b\n     2  | cU+000D\n"; got != want {
		t.Errorf("looked up: %q, want %q", got, want)
	}
}
