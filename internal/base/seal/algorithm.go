package seal

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"golang.org/x/crypto/ssh"
)

// minRSABits is the length of the shortest RSA key that counts.
const minRSABits = 2048

// checkKey says what is wrong with a kind of key, nil when its signatures count.
func checkKey(key ssh.PublicKey) error {
	switch kind := key.Type(); kind {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return nil
	case ssh.KeyAlgoRSA:
		if bits := cryptoKey[*rsa.PublicKey](key).N.BitLen(); bits < minRSABits {
			return fmt.Errorf("the RSA key has %d bits, and needs %d", bits, minRSABits)
		}
		return nil
	default:
		return fmt.Errorf("keys of type %s are not supported", kind)
	}
}

// cryptoKey is key as a key of the standard library, nil when it is of another
// kind.
func cryptoKey[K any](key ssh.PublicKey) K {
	var none K
	holder, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return none
	}
	k, _ := holder.CryptoPublicKey().(K)
	return k
}

// algorithm is how a key signs here.
func algorithm(key ssh.PublicKey) string {
	if key.Type() == ssh.KeyAlgoRSA {
		return ssh.KeyAlgoRSASHA512
	}
	return key.Type()
}

// check verifies sig over data with a key that passes checkKey.
func check(key ssh.PublicKey, data []byte, sig *ssh.Signature) error {
	if sig.Format != algorithm(key) && !(key.Type() == ssh.KeyAlgoRSA && sig.Format == ssh.KeyAlgoRSASHA256) {
		return fmt.Errorf("a signature of type %q by a key of type %s does not count", sig.Format, key.Type())
	}
	if len(sig.Rest) > 0 && !strings.HasPrefix(key.Type(), "sk-") {
		return errors.New("the signature has more bytes than it needs")
	}
	return key.Verify(data, sig)
}

// plain is sig in the one form that we write. Every ECDSA signature (r, s) has a
// twin, (r, n-s): plain is the one with the smaller s. An RSA signature has the
// length of its key. Without this, anybody could exchange a signature for its
// twin.
func plain(key ssh.PublicKey, sig *ssh.Signature) (*ssh.Signature, error) {
	out := *sig
	if key := cryptoKey[*rsa.PublicKey](key); key != nil && len(sig.Blob) < key.Size() {
		out.Blob = append(make([]byte, key.Size()-len(sig.Blob)), sig.Blob...)
	}
	if key := cryptoKey[*ecdsa.PublicKey](key); key != nil {
		var pair struct{ R, S *big.Int }
		if err := ssh.Unmarshal(sig.Blob, &pair); err != nil {
			return nil, errors.New("the signature is not a pair of numbers")
		}
		if twin := new(big.Int).Sub(key.Curve.Params().N, pair.S); twin.Cmp(pair.S) < 0 {
			pair.S = twin
		}
		out.Blob = ssh.Marshal(pair)
	}
	return &out, nil
}
