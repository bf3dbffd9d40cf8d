package seal

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// payloadType is the type of an in-toto statement in an envelope.
const payloadType = "application/vnd.in-toto+json"

// envelope is a DSSE envelope: a payload with its signatures, of which we write
// one. Its signature is that of an SSH key as ssh-keygen writes it, or the bare
// one of an Ed25519 key, which every reader of DSSE can verify.
type envelope struct {
	Payload     []byte              `json:"payload"`
	PayloadType string              `json:"payloadType"`
	Signatures  []envelopeSignature `json:"signatures"`
}

type envelopeSignature struct {
	KeyID string `json:"keyid"` // the fingerprint of the key
	Sig   []byte `json:"sig"`
}

// encode writes e as it stands in a sealed file.
func (e envelope) encode() ([]byte, error) { return codec.MarshalFile(e) }

// signedMessage is what is signed: the payload together with its type, so that
// neither can be mistaken for another.
func signedMessage(payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// enclose signs payload and puts it into an envelope.
func enclose(ctx context.Context, key *Key, payload []byte) (envelope, error) {
	message := signedMessage(payload)
	var sig []byte
	if key.bare {
		plain, err := key.signPlain(ctx, message)
		if err != nil {
			return envelope{}, err
		}
		sig = plain.Blob
	} else {
		armored, err := key.Sign(ctx, message)
		if err != nil {
			return envelope{}, err
		}
		sig = armored
	}
	return envelope{payload, payloadType, []envelopeSignature{{key.Fingerprint(), sig}}}, nil
}

// disclose verifies the envelope in data and returns its payload. Every byte of
// data counts: what is not signed must be as encode writes it.
func disclose(data []byte, signers *Signers, at time.Time) (payload []byte, signer Signer, err error) {
	e, err := parseEnvelope(data)
	if err != nil {
		return nil, Signer{}, err
	}
	message, sig := signedMessage(e.Payload), e.Signatures[0]
	if len(sig.Sig) == ed25519.SignatureSize {
		signer, err = signers.verifyBare(message, sig.Sig, sig.KeyID, at)
	} else if signer, err = signers.verifyPlain(message, sig.Sig, at); err == nil && sig.KeyID != signer.Fingerprint {
		err = tampered(nil, "the envelope says that it was signed by another key than %s", signer.Fingerprint)
	}
	return e.Payload, signer, err
}

// parseEnvelope reads an envelope with one signature, written as encode does.
func parseEnvelope(data []byte) (e envelope, err error) {
	doc, err := codec.Parse(data)
	if err != nil {
		return e, tampered(nil, "the envelope is not JSON: %w", err)
	}
	sig := codec.NewObject()
	if list := doc.Get("signatures").Elems(); len(list) == 1 {
		sig = list[0]
	}
	e = envelope{
		Payload:     unbase64(doc.Get("payload")),
		PayloadType: doc.Get("payloadType").Str(),
		Signatures:  []envelopeSignature{{KeyID: sig.Get("keyid").Str(), Sig: unbase64(sig.Get("sig"))}},
	}
	// Anything that was not understood, or could be written in another way, is
	// missing or different when the envelope is written again.
	again, err := e.encode()
	if err != nil || !bytes.Equal(again, data) || e.PayloadType != payloadType {
		return e, tampered(nil, "the envelope is not written as a DSSE envelope with one signature is written here")
	}
	return e, nil
}

// unbase64 is what v holds, nothing when it is not base64.
func unbase64(v *codec.Value) []byte {
	data, _ := base64.StdEncoding.DecodeString(v.Str())
	return data
}
