package seal

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"io"
	"math/big"
	"path"

	"golang.org/x/crypto/ssh"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// A WACZ is a zip archive of web archives that readers of web archives open. It says
// which files it has (dataPackage), and has the digest of that, with a signature
// (packageDigest). Ours is a sealed file with these two more, so that one file serves
// both kinds of readers. They are not covered by the seal's own statement, because they
// cover it; [Open] makes them again and compares.
const (
	dataPackage   = "datapackage.json"
	packageDigest = "datapackage-digest.json"
)

// packageSigned is what a predicate says where the list is signed, too, so that nobody can
// take that signature away.
const packageSigned = "wacz_signed"

// ReportURL is the address of the report among the pages of a WACZ. No such host exists.
const ReportURL = "https://report.invalid/"

// WriteWACZ seals files as [Write] does, for readers of web archives: the files must
// include the folders that these look into. Without a key nothing is signed. The
// signature that such readers verify is made by an ECDSA key on the curve P-384 that is
// in a file; other keys sign the seal alone. It returns the errors of [Write].
func WriteWACZ(ctx context.Context, w io.Writer, key *Key, files []File, predicate *codec.Value) error {
	files, err := sorted(files)
	if err != nil {
		return err
	}
	if key != nil && key.p384 != nil && predicate.Kind() == codec.Object {
		predicate = predicate.Clone()
		predicate.Set(packageSigned, codec.Of(true))
	}
	if key != nil {
		envelope, err := sealEnvelope(ctx, key, files, predicate)
		if err != nil {
			return err
		}
		files = append([]File{{EnvelopeName, envelope}}, files...)
	}
	listed, err := listPackage(files, predicate)
	if err != nil {
		return err
	}
	signed := &signedPackage{}
	if key != nil && key.p384 != nil {
		if signed, err = key.signPackage(listed); err != nil {
			return err
		}
	}
	covers, err := digestPackage(listed, predicate, signed)
	if err != nil {
		return err
	}
	return pack(w, append(files, File{dataPackage, listed}, File{packageDigest, covers}))
}

// SignsWACZ reports whether readers of web archives can verify the key's signatures.
func (k *Key) SignsWACZ() bool { return k.p384 != nil }

// listPackage is the document that lists all files of a WACZ.
func listPackage(files []File, predicate *codec.Value) ([]byte, error) {
	type resource struct {
		Name  string `json:"name"`
		Path  string `json:"path"`
		Hash  string `json:"hash"`
		Bytes int    `json:"bytes"`
	}
	resources := []resource{}
	for _, f := range files {
		resources = append(resources, resource{path.Base(f.Name), f.Name, "sha256:" + digest(f.Data), len(f.Data)})
	}
	at := predicate.Get("sealed_at").Str()
	return codec.MarshalFile(tidegate.Pairs("profile", "data-package", "wacz_version", "1.1.1", "title", predicate.Get("question").Str(),
		"created", at, "software", predicate.Get("program").Str(), "mainPageUrl", ReportURL, "mainPageDate", at, "resources", resources))
}

// signedPackage is a signature as WACZ has it, by a key that is anonymous there.
type signedPackage struct {
	Signature []byte // r and s, 48 bytes each
	PublicKey []byte // in DER
}

// digestPackage is the document with the digest of the list, and its signature where
// there is one.
func digestPackage(listed []byte, predicate *codec.Value, signed *signedPackage) ([]byte, error) {
	hash := "sha256:" + digest(listed)
	doc := tidegate.Pairs("path", dataPackage, "hash", hash)
	if signed.Signature != nil {
		doc = append(doc, tidegate.Pairs("signedData", tidegate.Pairs("hash", hash, "created", predicate.Get("sealed_at").Str(),
			"software", predicate.Get("program").Str(), "version", "0.1.0", "signature", signed.Signature, "publicKey", signed.PublicKey))...)
	}
	return codec.MarshalFile(doc)
}

// signPackage signs the digest of the list, without chance.
func (k *Key) signPackage(listed []byte) (*signedPackage, error) {
	hash := sha256.Sum256([]byte("sha256:" + digest(listed)))
	der, err := k.p384.Sign(nil, hash[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &pair); err != nil {
		return nil, err
	}
	if twin := new(big.Int).Sub(k.p384.Params().N, pair.S); twin.Cmp(pair.S) < 0 {
		pair.S = twin
	}
	public, err := x509.MarshalPKIXPublicKey(&k.p384.PublicKey)
	return &signedPackage{append(pair.R.FillBytes(make([]byte, 48)), pair.S.FillBytes(make([]byte, 48))...), public}, err
}

// takePackage takes the two documents of a WACZ out of a sealed file, in the order in
// which they stand; ok is false for a file that is none.
func takePackage(files []File) (rest []File, listed, covers []byte, ok bool) {
	n := len(files)
	if n < 2 || files[n-2].Name != dataPackage || files[n-1].Name != packageDigest {
		return files, nil, nil, false
	}
	return files[:n-2], files[n-2].Data, files[n-1].Data, true
}

// checkPackage returns TAMPERED unless the two documents are those of these files, and
// what is signed there was signed by signer.
func checkPackage(files []File, predicate *codec.Value, listed, covers []byte, signer Signer) error {
	again, err := listPackage(files, predicate)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, listed) {
		return tampered(tidegate.Pairs("file", dataPackage), "%s is not the list of what was sealed", dataPackage)
	}
	doc, err := codec.Parse(covers)
	if err != nil {
		return tampered(tidegate.Pairs("file", packageDigest), "%s is not JSON: %w", packageDigest, err)
	}
	data := doc.Get("signedData")
	signed := &signedPackage{unbase64(data.Get("signature")), unbase64(data.Get("publicKey"))}
	if data.Kind() != codec.Object {
		signed = &signedPackage{}
	}
	if again, err = digestPackage(listed, predicate, signed); err != nil {
		return err
	}
	if !bytes.Equal(again, covers) {
		return tampered(tidegate.Pairs("file", packageDigest), "%s is not written as it is written here", packageDigest)
	}
	if signed.Signature == nil && predicate.Get(packageSigned).Bool() {
		return tampered(tidegate.Pairs("file", packageDigest), "%s was signed and has no signature", packageDigest)
	}
	if signed.Signature != nil && !signed.by(signer, listed) {
		return tampered(tidegate.Pairs("file", packageDigest), "the signature in %s is not one by %s", packageDigest, signer.Fingerprint)
	}
	return nil
}

// by reports whether signer signed the digest of the list, in the one form that we write.
func (s *signedPackage) by(signer Signer, listed []byte) bool {
	parsed, err := x509.ParsePKIXPublicKey(s.PublicKey)
	public, ok := parsed.(*ecdsa.PublicKey)
	if err != nil || !ok || public.Curve != elliptic.P384() || len(s.Signature) != 96 {
		return false
	}
	wire, err := ssh.NewPublicKey(public)
	if err != nil || fingerprint(wire.Marshal()) != signer.Fingerprint {
		return false
	}
	written, err := x509.MarshalPKIXPublicKey(public)
	if err != nil || !bytes.Equal(written, s.PublicKey) {
		return false
	}
	r, low := new(big.Int).SetBytes(s.Signature[:48]), new(big.Int).SetBytes(s.Signature[48:])
	if new(big.Int).Sub(public.Params().N, low).Cmp(low) < 0 {
		return false
	}
	hash := sha256.Sum256([]byte("sha256:" + digest(listed)))
	return ecdsa.Verify(public, hash[:], r, low)
}
