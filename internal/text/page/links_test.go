package page_test

import (
	"reflect"
	"testing"

	"github.com/tidegate/tidegate/internal/text/page"
)

func TestLinks(t *testing.T) {
	const body = `<html><a class="a  b" href=" /one?x=1&amp;y=2 ">One <b>page</b></a><p>no<a name=x>anchor</a><A HREF='https://two.example/'>Two</A><a href="three">not closed`
	want := []page.Link{{URL: "/one?x=1&y=2", Class: []string{"a", "b"}, Text: "One page"}, {Text: "anchor"}, {URL: "https://two.example/", Text: "Two"}, {URL: "three", Text: "not closed"}}
	if got := page.Links([]byte(body), "text/html"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}
