package driver

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/cell"
)

// TestADoorHasRoomForSoMany: an agent that opens connection after connection waits for
// its own to close, and does not use up the files of the home.
func TestADoorHasRoomForSoMany(t *testing.T) {
	t.Parallel()
	d, err := openDoor(false, cell.Model, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	knock := func() net.Conn {
		conn, err := net.Dial("tcp", d.at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprint(conn, "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
		return conn
	}
	answered := func(conn net.Conn) error {
		_, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
		return err
	}
	var inside []net.Conn
	for range maxGuests {
		conn := knock()
		if err := answered(conn); err != nil {
			t.Fatal(err)
		}
		inside = append(inside, conn)
	}
	waits := knock()
	answer := make(chan error, 1)
	go func() { answer <- answered(waits) }()
	select {
	case err := <-answer:
		t.Fatalf("more than %d were let in: %v", maxGuests, err)
	default:
	}
	if n := len(d.guests); n != maxGuests {
		t.Errorf("%d are inside", n)
	}
	inside[0].Close()
	if err := <-answer; err != nil {
		t.Errorf("the next was not let in: %v", err)
	}
}

// TestARentedMachineIsNoModel: where a model is at a provider of machines and of places
// for files, those of others there are not let through.
func TestARentedMachineIsNoModel(t *testing.T) {
	t.Parallel()
	for variable, hosts := range map[string][]string{
		"CLAUDE_CODE_USE_BEDROCK": {"bedrock-runtime.eu-west-1.amazonaws.com", "bucket.s3.amazonaws.com", "ec2-1-2-3-4.compute.amazonaws.com", "bedrock-runtime.evil.com.amazonaws.com"},
		"CLAUDE_CODE_USE_VERTEX":  {"europe-west1-aiplatform.googleapis.com", "storage.googleapis.com", "evil.storage.googleapis.com", "evil.com/-aiplatform.googleapis.com"},
		"CLAUDE_CODE_USE_FOUNDRY": {"mine.services.ai.azure.com", "evil.cloudapp.azure.com", "evil.westeurope.cloudapp.azure.com", "services.ai.azure.com"},
	} {
		d := &door{network: cell.Model, hosts: places["claude"].hostsFor([]string{variable + "=1"})}
		for i, host := range hosts {
			if got := d.allows(host + ":443"); got != (i == 0) {
				t.Errorf("%s: allowed is %v", host, got)
			}
		}
		if d.allows(hosts[0]+":80") || !d.allows("api.anthropic.com:443") || d.allows("api.anthropic.com.evil.com:443") {
			t.Errorf("%s: other ports, or hosts by a part of their name", variable)
		}
	}
}
