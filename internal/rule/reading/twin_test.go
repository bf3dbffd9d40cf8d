package reading_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/reading"
)

// TestTwins: how the twin of a sentence is made, in the order of preference, and of what none
// is made.
func TestTwins(t *testing.T) {
	for _, test := range []struct {
		name, language, sentence, window string
		want                             string // parted by bars where the seed chooses; "" for none
	}{
		{"two numbers", "en", "The port has 12 tugs for its 340 ships.", "The port has 12 tugs.", "The port has 340 tugs for its 12 ships."},
		{"two names", "en", "The harbour of Karholm sold its ferry to Aurora last year.", "", "The harbour of Aurora sold its ferry to Karholm last year."},
		{"a number of the windows", "en", "The port grew by 12 tugs.", "It had 45 tugs and 99 ships before.", "The port grew by 45 tugs."},
		{"names are not replaced", "en", "The harbour belongs to Karholm alone, as everybody there knows.", "It belongs to Velstad.", "The harbour does not belong to Karholm alone, as everybody there knows."},
		{"an opposite", "en", "The traffic increased over the whole year.", "", "The traffic decreased over the whole year."},
		{"a negation put in", "en", "The ferry is owned by the town itself.", "", "The ferry is not owned by the town itself."},
		{"a negation taken out", "en", "The ferry was not sold by the town itself.", "", "The ferry was sold by the town itself."},
		{"a sentence that is negated", "en", "The ferry has no built-in way to carry lorries.", "", "The ferry has some built-in way to carry lorries."},
		{"one that lacks something", "en", "The ferry lacks a ramp for heavy lorries.", "", "The ferry has a ramp for heavy lorries."},
		{"negated by a word that no pattern has", "en", "No ferry is owned by the town itself.", "", ""},
		{"negated, and with a direction", "en", "Nobody says that traffic increased over the year.", "", ""},
		{"a number that is denied", "en", "The readme has no level of the sea for 1960 or 2010.", "It begins in 1900.", "The readme has some level of the sea for 1960 or 2010."},
		{"never", "en", "The ferry never sails before the ice breaks.", "", "The ferry always sails before the ice breaks."},
		{"a verb with its own negation", "en", "The port supports ferries with a longer quay.", "", "The port does not support ferries with a longer quay."},
		{"a verb of reports", "en", "The port recommends ferries of that length.", "", "The port does not recommend ferries of that length."},
		{"a verb that is negated", "en", "The port does not support ferries of that length.", "", "The port supports ferries of that length."},
		{"a condition", "en", "The ferry sails north if the ice is thin enough.", "", "The ferry sails south if the ice is thin enough."},
		{"nothing but a condition", "en", "If the ice is thin enough, ferries sail anyway.", "", ""},
		{"until", "en", "The ferry will not sail until it is tested.", "", ""},
		{"an idiom", "en", "Ferries therefore sail one after the other.", "", ""},
		{"an idiom, and another word", "en", "The ferries sail north one after the other.", "", "The ferries sail south one after the other."},
		{"an idiom in German", "de", "Die Fähren fahren deshalb eine nach der anderen.", "", ""},
		{"negated in German", "de", "Die Stadt verkauft die Fähre in diesem Jahr nicht.", "", "Die Stadt verkauft die Fähre in diesem Jahr durchaus."},
		{"a number of another length", "en", "The port grew by 12 tugs.", "It bought 5 tugs and 400 ropes.", "The port grew by 5 tugs."},
		{"in German", "de", "Der Umschlag stieg in diesem Jahr deutlich.", "", "Der Umschlag sank in diesem Jahr deutlich."},
		{"in Chinese", "zh", "港口的吞吐量在这一年里明显增加了很多吨。", "", "港口的吞吐量在这一年里明显减少了很多吨。"},
		{"joined names", "en", "The harbours of Karholm and Velstad belong together.", "", ""},
		{"no whole sentence", "en", "12 tugs for 340 ships of the port", "It has 12 tugs.", ""},
		{"what may be", "en", "The port may have 12 tugs for its 340 ships.", "", ""},
		{"among others", "en", "The port also has 12 tugs for its 340 ships.", "", ""},
		{"behind a bound", "en", "The port keeps at least 12 tugs in harbour.", "It had 45 tugs.", "The port does not keep at least 12 tugs in harbour."},
		{"a version", "en", "The library appeared as version 12 that summer.", "It was version 45 then.", ""},
		{"an id", "en", "The library follows RFC 8259 to the letter.", "It follows RFC 7159.", "The library does not follow RFC 8259 to the letter."},
		{"a hash", "en", "The library stands at commit 4fa31b today.", "It stood at 9ca31b.", ""},
		{"a day", "en", "The port opened on 9 May again.", "It closed on 8 May.", "The port opened on 8 May again.|The port closed on 9 May again."},
		{"a row", "en", "Port: Karholm; Tugs: 12 tugs", "It has 45 tugs.", "Port: Karholm; Tugs: 45 tugs"},
		{"a year of the table", "en", "The level had an uncertainty of 6.9 in 2010.", "Time: 2010\tLevel: 194.2\tUncertainty: 6.9\nTime: 2013\tLevel: 200.2\tUncertainty: 6.9\nTime: 1990\tLevel: 127.5\tUncertainty: 6.3\n",
			"The level had an uncertainty of 6.9 in 1990.|The level had an uncertainty of 6.3 in 2010."},
		{"what is so of every row", "en", "The level has been measured since the year 2010.", "Time: 2010\tLevel: 194.2\nTime: 2013\tLevel: 200.2\n",
			"The level has not been measured since the year 2010."},
		{"word for word on the page", "en", "The traffic increased that year.", "The traffic decreased that year.", ""},
	} {
		m := reading.Material{Language: test.language, Text: func(string) string { return test.window }}
		item := reading.ItemOn("s1", test.sentence, claim.Window{CID: "s1", Text: test.window})
		var got string
		for _, twin := range m.TwinsOf([]reading.Item{item}, reading.PinnedSeed(1, test.name)) {
			got = twin.Text
		}
		if ok := strings.Contains("|"+test.want+"|", "|"+got+"|"); !ok {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
