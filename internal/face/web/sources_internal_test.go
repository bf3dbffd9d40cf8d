package web

import "testing"

// TestNoLinkLeadsToThisMachine: what agents cite becomes a link only where a browser does not
// send our cookie along.
func TestNoLinkLeadsToThisMachine(t *testing.T) {
	for _, address := range []string{"http://127.0.0.1:3000/x", "http://localhost:3000", "http://LOCALHOST.", "http://a.localhost", "http://[::1]:80/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://[::]/",
		"http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.0.0.1.:80/", "https://127.200.0.9/", "javascript:x", "data:text/html,x", "//evil.example/", "http://x.invalid/"} {
		if link := webAddress(address); link != "" {
			t.Errorf("%s leads to %s", address, link)
		}
	}
	for _, address := range []string{"https://quaypower.example/capacity", "http://93.184.216.34/x", "https://[2606:2800:220:1::]/", "https://a.example:8080/?q=127.0.0.1"} {
		if webAddress(address) != address {
			t.Errorf("%s leads nowhere", address)
		}
	}
}
