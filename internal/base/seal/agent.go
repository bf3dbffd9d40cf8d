package seal

import (
	"bytes"
	"context"
	"net"
	"slices"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/tidegate/tidegate"
)

// signByAgent lets the ssh-agent at socket sign data. The agent may ask a person
// first, so it may take as long as ctx lasts.
func signByAgent(ctx context.Context, socket string, key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	name := fingerprint(key.Marshal())
	failed := func(what string, err error) error {
		if ctx.Err() != nil {
			return tidegate.AsError(ctx.Err())
		}
		return tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("agent", socket, "signer", name), "%s: %w", what, err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, failed("the ssh-agent cannot be reached", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	client := agent.NewClient(conn)
	keys, err := client.List()
	if err != nil {
		return nil, failed("the ssh-agent does not list its keys", err)
	}
	if !slices.ContainsFunc(keys, func(k *agent.Key) bool { return bytes.Equal(k.Blob, key.Marshal()) }) {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("agent", socket, "signer", name), "the ssh-agent does not have the key %s; ssh-add adds it", name)
	}
	var flags agent.SignatureFlags
	if key.Type() == ssh.KeyAlgoRSA {
		flags = agent.SignatureFlagRsaSha512
	}
	sig, err := client.SignWithFlags(key, data, flags)
	if err != nil {
		return nil, failed("the ssh-agent did not sign with "+name, err)
	}
	return sig, nil
}
