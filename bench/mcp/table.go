package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// row is one line of the table.
type row struct {
	transport    string
	inFlight     int
	review, echo cost
}

func (r row) String() string {
	return fmt.Sprintf("| %s | %d | %s | %s | %.0f | %s | %s | %.0f | %s | %s |", r.transport, r.inFlight,
		short(r.review.median), short(r.review.p99), r.review.perSecond, short(r.echo.median), short(r.echo.p99), r.echo.perSecond,
		mebibytes(r.review.warm), mebibytes(r.review.end))
}

func short(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// slack is how much resident memory may differ without counting as growth: Go's
// collector does not give back every page at once.
const slack = 8 << 20

// printTable prints the rows as markdown. It fails when memory grew.
func printTable(calls int, rows []row) error {
	fmt.Printf("%d calls for each row.\n\n", calls)
	fmt.Println("| transport | in flight | review, median | 99 % | calls/s | echo, median | 99 % | calls/s | memory after a tenth | at the end |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	var grown []string
	for _, r := range rows {
		fmt.Println(r)
		if r.review.end > r.review.warm+r.review.warm/4+slack {
			grown = append(grown, fmt.Sprintf("%s with %d in flight: from %s to %s", r.transport, r.inFlight, mebibytes(r.review.warm), mebibytes(r.review.end)))
		}
	}
	if grown != nil {
		fmt.Fprintln(os.Stderr, "memory grew:", strings.Join(grown, "; "))
		return fmt.Errorf("memory grew")
	}
	return nil
}
