package seal

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// EnvelopeName is the name under which the envelope lies in a sealed file.
const EnvelopeName = "seal.dsse.json"

// Sealed is what a sealed file holds.
type Sealed struct {
	Files     []File // in byte order of their names
	Predicate *codec.Value
	Signer    Signer
	WACZ      bool // it was written by [WriteWACZ]
}

// Write seals files with key and writes the sealed file to w: the same files and
// predicate, signed with the same key from a file, give the same bytes. The
// predicate is a JSON object that says what the files are.
//
// It returns INVALID_ARGS when there are no files, they are too many, a name
// occurs twice or leads out of its folder, or the predicate is not an object;
// the errors of [Key.Sign]; and the errors of w.
func Write(ctx context.Context, w io.Writer, key *Key, files []File, predicate *codec.Value) error {
	files, err := sorted(files)
	if err != nil {
		return err
	}
	data, err := sealEnvelope(ctx, key, files, predicate)
	if err != nil {
		return err
	}
	return pack(w, append([]File{{EnvelopeName, data}}, files...))
}

// sealEnvelope is the signed statement over files, as a file.
func sealEnvelope(ctx context.Context, key *Key, files []File, predicate *codec.Value) ([]byte, error) {
	if predicate.Kind() != codec.Object {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, nil, "the predicate must be an object, not %s", codec.Describe(predicate))
	}
	payload, err := codec.MarshalLine(about(subjectsOf(files), PredicateType, predicate))
	if err != nil {
		return nil, err
	}
	envelope, err := enclose(ctx, key, payload)
	if err != nil {
		return nil, err
	}
	return envelope.encode()
}

// sorted is files in the order in which they are sealed, or INVALID_ARGS.
func sorted(files []File) ([]File, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	if name, fault := checkNames(files); fault != "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("file", name), "%s: %q", fault, name)
	}
	return files, nil
}

// Open verifies the sealed file in data and returns what it holds; the files are
// parts of data. One of signers must have signed it, and must have been valid at
// that time.
//
// It returns TAMPERED, with what differs, when it is not a sealed file, when any
// byte of it is not as it was sealed, when a file was added, removed, renamed or
// moved, and when [Signers.Verify] does so.
func Open(data []byte, signers *Signers, at time.Time) (*Sealed, error) {
	files, err := unpack(data)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 || files[0].Name != EnvelopeName {
		return nil, tampered(tidegate.Pairs("file", EnvelopeName), "a sealed file begins with %s, and this one does not", EnvelopeName)
	}
	all, listed, covers, wacz := takePackage(files)
	envelope, files := all[0].Data, all[1:]
	if name, fault := checkNames(files); fault != "" {
		return nil, tampered(tidegate.Pairs("file", name), "%s: %q", fault, name)
	}
	payload, signer, err := disclose(envelope, signers, at)
	if err != nil {
		return nil, err
	}
	predicate, err := compare(payload, files)
	if err == nil && wacz {
		err = checkPackage(all, predicate, listed, covers, signer)
	}
	if err != nil {
		return nil, err
	}
	return &Sealed{files, predicate, signer, wacz}, nil
}

func subjectsOf(files []File) []Subject {
	var subjects []Subject
	for _, file := range files {
		subjects = append(subjects, Subject{file.Name, digest(file.Data)})
	}
	return subjects
}

// checkNames says what is wrong with the names of files that are to be sealed,
// and with which; "" when nothing is.
func checkNames(files []File) (name, fault string) {
	if len(files) == 0 {
		return "", "there must be a file to seal"
	}
	for i, file := range files {
		switch {
		case !validName(file.Name):
			return file.Name, "a name must be relative, stay in its folder, and hold no control character and no backslash"
		case strings.EqualFold(file.Name, EnvelopeName), strings.EqualFold(file.Name, dataPackage), strings.EqualFold(file.Name, packageDigest):
			return file.Name, "a name is that of the envelope, or of the list of a WACZ"
		case i > 0 && files[i-1].Name == file.Name:
			return file.Name, "a name occurs twice"
		case i > 0 && files[i-1].Name > file.Name:
			return file.Name, "a file is out of order"
		}
	}
	return "", ""
}

// Sign makes an SSH signature over a message, in the namespace of tidegate.
type Sign func(ctx context.Context, message []byte) (armored []byte, err error)
