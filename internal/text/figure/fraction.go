package figure

import (
	"slices"
	"strconv"
	"strings"
)

// eachShare visits the English fractions of a text that a claim may give as a
// percentage: two thirds, a quarter of, one in five, nine out of ten.
func eachShare(text string, visit func(Figure)) {
	var w [4]shareWord // the last words, the latest first
	for at := 0; at < len(text); {
		if !isAlnum(text[at]) {
			at++
			continue
		}
		end := at + 1
		for end < len(text) && isAlnum(text[end]) {
			end++
		}
		if joint := text[w[0].end:at]; joint != " " && joint != "-" && joint != "\n" {
			w = [4]shareWord{} // a mark between words separates what they say
		}
		copy(w[1:], w[:3])
		w[0] = shareWord{at, end, ""}
		if end-at <= len("quarters") {
			w[0].text = strings.ToLower(text[at:end])
		}
		from, to, part, whole := readShare(w)
		if part > 0 && part < whole {
			visit(Figure{Start: from, End: to, Readings: shareReadings(part, whole)})
		}
		at = end
	}
}

// shareWord is a word in lower case, "" for one that is too long to be part of a
// fraction.
type shareWord struct {
	start, end int
	text       string
}

// readShare reads the fraction that is complete with the latest word. A third
// counts only where it is a third of something.
func readShare(w [4]shareWord) (from, to int, part, whole int64) {
	switch {
	case denominator(w[0].text) > 0 && cardinals()[w[1].text] < 10:
		return w[1].start, w[0].end, cardinals()[w[1].text], denominator(w[0].text)
	case w[0].text == "of" && w[2].text == "a":
		return w[2].start, w[0].end, 1, denominator(w[1].text)
	case w[1].text == "in":
		return w[2].start, w[0].end, smallNumber(w[2].text), roundNumber(w[0].text)
	case w[1].text == "every" && w[2].text == "in", w[1].text == "of" && w[2].text == "out":
		return w[3].start, w[0].end, smallNumber(w[3].text), roundNumber(w[0].text)
	}
	return 0, 0, 0, 0
}

// denominator is what the second word of a fraction divides by, 0 for any other
// word.
func denominator(name string) int64 {
	switch name = strings.TrimSuffix(name, "s"); name {
	case "half":
		return 2
	case "quarter":
		return 4
	case "third", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth":
		return ordinals()[name]
	}
	return 0
}

// smallNumber is a number below ten in words or a digit, 0 for any other word.
func smallNumber(s string) int64 {
	if len(s) == 1 && s[0] >= '1' && s[0] <= '9' {
		return int64(s[0] - '0')
	}
	if n := cardinals()[s]; n < 10 {
		return n
	}
	return 0
}

// roundNumber is a number that people use as the whole of a fraction, as in one in
// ten: 12 in 2019 is not a fraction.
func roundNumber(s string) int64 {
	switch s {
	case "10", "ten":
		return 10
	case "20", "twenty":
		return 20
	case "50", "fifty":
		return 50
	case "100", "hundred":
		return 100
	}
	return smallNumber(s)
}

// shareReadings are a fraction as a percentage: exact, or rounded as people do.
func shareReadings(part, whole int64) []Quantity {
	tenths := (2000*part + whole) / (2 * whole) // of a per cent, rounded
	values := []string{canonical(strconv.FormatInt(tenths, 10), "", -1)}
	if tenths*whole != 1000*part || tenths%10 != 0 {
		values = append(values, canonical(strconv.FormatInt(100*part/whole, 10), "", 0), canonical(strconv.FormatInt((200*part+whole)/(2*whole), 10), "", 0))
	}
	var readings []Quantity
	for _, value := range slices.Compact(values) {
		readings = append(readings, Quantity{value, percent})
	}
	return readings
}

func isAlnum(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }
