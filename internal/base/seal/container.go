package seal

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"math/big"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
)

// A container is a zip archive of the plainest kind: entries are stored, not
// compressed, dated 1980-01-01, without extra fields and comments, in the order
// given, followed by their directory. So there is exactly one archive for a list
// of files. It is written here and not by archive/zip, because the bytes must
// stay the same when that package changes.

// File is a file to be sealed, or one that was.
type File struct {
	Name string // relative, with slashes
	Data []byte
}

// The parts of an archive begin with these words.
const (
	entryMark     = 0x04034b50
	directoryMark = 0x02014b50
	endMark       = 0x06054b50
)

// maxName is the length of the longest name, in bytes.
const maxName = 1024

// entryHead is the length of an entry's header before its name.
const entryHead = 30

// described is the part that an entry's header and its line of the directory
// have in common.
func described(out []byte, file File) []byte {
	le := binary.LittleEndian
	out = le.AppendUint16(out, 10)     // version of zip needed to extract
	out = le.AppendUint16(out, 1<<11)  // names are UTF-8
	out = le.AppendUint16(out, 0)      // stored
	out = le.AppendUint16(out, 0)      // 00:00:00
	out = le.AppendUint16(out, 1<<5|1) // 1980-01-01
	out = le.AppendUint32(out, crc32.ChecksumIEEE(file.Data))
	out = le.AppendUint32(out, uint32(len(file.Data)))
	out = le.AppendUint32(out, uint32(len(file.Data)))
	out = le.AppendUint16(out, uint16(len(file.Name)))
	return le.AppendUint16(out, 0) // no extra field
}

// header is what stands before the data of an entry.
func header(file File) []byte {
	out := binary.LittleEndian.AppendUint32(nil, entryMark)
	return append(described(out, file), file.Name...)
}

// directory is what stands after all entries.
func directory(files []File) []byte {
	le := binary.LittleEndian
	var out []byte
	offset := 0
	for _, file := range files {
		out = le.AppendUint32(out, directoryMark)
		out = le.AppendUint16(out, 10) // version of zip, on no particular system
		out = described(out, file)
		out = append(out, make([]byte, 10)...) // no comment, first disk, no attributes
		out = le.AppendUint32(out, uint32(offset))
		out = append(out, file.Name...)
		offset += entryHead + len(file.Name) + len(file.Data)
	}
	size := len(out)
	out = le.AppendUint32(out, endMark)
	out = le.AppendUint32(out, 0) // the only disk
	out = le.AppendUint16(out, uint16(len(files)))
	out = le.AppendUint16(out, uint16(len(files)))
	out = le.AppendUint32(out, uint32(size))
	out = le.AppendUint32(out, uint32(offset))
	return le.AppendUint16(out, 0) // no comment
}

// pack writes the archive of files. It returns INVALID_ARGS when they are too
// many or too large for an archive of this kind, and the errors of w.
func pack(w io.Writer, files []File) error {
	end := directory(files)
	total := uint64(len(end))
	for _, file := range files {
		total += uint64(entryHead + len(file.Name) + len(file.Data))
	}
	if len(files) >= math.MaxUint16 || total >= math.MaxUint32 {
		return tidegate.Errorf(tidegate.InvalidArgs, nil, "%d files are too many, or their %d bytes too large, for one file; it has at most 65534 entries and 4 GiB", len(files), total)
	}
	for _, file := range files {
		for _, part := range [][]byte{header(file), file.Data} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
	}
	_, err := w.Write(end)
	return err
}

// unpack reads an archive, which must be, byte for byte, the one that pack
// writes for the files in it. The data of the files are parts of data.
func unpack(data []byte) (files []File, err error) {
	rest := data
	for len(rest) >= entryHead && binary.LittleEndian.Uint32(rest) == entryMark {
		at := len(data) - len(rest)
		size := uint64(binary.LittleEndian.Uint32(rest[18:]))
		names := uint64(binary.LittleEndian.Uint16(rest[26:]))
		if size+names > uint64(len(rest)-entryHead) {
			return nil, damaged(at, "the entry at byte %d is longer than what is left", at)
		}
		start := entryHead + names
		file := File{string(rest[entryHead:start]), rest[start : start+size]}
		if !validName(file.Name) {
			return nil, damaged(at, "the entry at byte %d has a name that cannot stand here: %q", at, file.Name)
		}
		if binary.LittleEndian.Uint32(rest[14:]) != crc32.ChecksumIEEE(file.Data) {
			return nil, tampered(tidegate.Pairs("file", file.Name), "the file is damaged: an entry does not have its checksum: %q", file.Name)
		}
		if n, same := differ(rest, header(file)); !same {
			return nil, tampered(tidegate.Pairs("file", file.Name, "byte", at+n), "the file is damaged: byte %d, in the header of %q", at+n, file.Name)
		}
		files = append(files, file)
		rest = rest[start+size:]
	}
	at, want := len(data)-len(rest), directory(files)
	if n, same := differ(rest, want); !same || len(rest) > len(want) {
		return nil, damaged(at+n, "what follows the last of %d entries is not their directory, byte %d", len(files), at+n)
	}
	return files, nil
}

func damaged(at int, format string, args ...any) error {
	return tampered(tidegate.Pairs("byte", at), "the file is damaged: "+format, args...)
}

// differ is where data first differs from want, and whether it begins with all
// of it.
func differ(data, want []byte) (at int, same bool) {
	if bytes.HasPrefix(data, want) {
		return len(want), true
	}
	for at < len(data) && data[at] == want[at] {
		at++
	}
	return at, false
}

// validName reports whether name stays in its folder wherever the archive is
// unpacked.
func validName(name string) bool {
	return fs.ValidPath(name) && name != "." && len(name) <= maxName &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
}

// BundleName is the name of the list with which a bundle begins.
const BundleName = "bundle.json"

const bundleSchema = "bundle.v1"

// Bundle is a folder that moves between machines in one file: the container of sealed files
// with a list of digests in the place of a signature. It shows that nothing was lost on the
// way, not who made it.
type Bundle struct {
	Kind  string // of the folder, as its home calls it
	ID    string
	Files []File
}

// bundleList is BundleName.
type bundleList struct {
	SchemaVersion string        `json:"schema_version"`
	Kind          string        `json:"kind"`
	ID            string        `json:"id"`
	Files         []bundledFile `json:"files"`
}

type bundledFile struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Write writes the bundle: the same files give the same bytes. It returns INVALID_ARGS when
// they are too many or a name leads out of its folder, and the errors of w.
func (b Bundle) Write(w io.Writer) error {
	files := slices.SortedFunc(slices.Values(b.Files), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	if name, fault := checkBundled(files); fault != "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("file", name), "%s: %q", fault, name)
	}
	list := bundleList{bundleSchema, b.Kind, b.ID, []bundledFile{}}
	for _, file := range files {
		list.Files = append(list.Files, bundledFile{file.Name, codec.DigestBytes(file.Data)})
	}
	data, err := codec.MarshalFile(list)
	if err != nil {
		return err
	}
	return pack(w, append([]File{{BundleName, data}}, files...))
}

// BeginsBundle reports whether data can be the beginning of a bundle.
func BeginsBundle(data []byte) bool {
	return len(data) >= entryHead+len(BundleName) && string(data[entryHead:entryHead+len(BundleName)]) == BundleName
}

// OpenBundle reads a bundle; the files are parts of data. It returns TAMPERED, with what
// differs, for what is not a bundle, for one that [Bundle.Write] would not write, byte for
// byte, and for a file that does not have its digest.
func OpenBundle(data []byte) (*Bundle, error) {
	files, err := unpack(data)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 || files[0].Name != BundleName {
		return nil, tampered(tidegate.Pairs("file", BundleName), "a bundle begins with %s, and this one does not", BundleName)
	}
	var list bundleList
	if err := json.Unmarshal(files[0].Data, &list); err != nil || list.SchemaVersion != bundleSchema {
		return nil, tampered(tidegate.Pairs("file", BundleName), "%s is not a list of the files of a bundle", BundleName)
	}
	listed, err := codec.MarshalFile(list)
	if err != nil || string(listed) != string(files[0].Data) {
		return nil, tampered(tidegate.Pairs("file", BundleName), "%s is not written as a bundle writes it", BundleName)
	}
	files = files[1:]
	if name, fault := checkBundled(files); fault != "" {
		return nil, tampered(tidegate.Pairs("file", name), "%s: %q", fault, name)
	}
	if len(files) != len(list.Files) {
		return nil, tampered(tidegate.Pairs("file", BundleName), "%s lists %d files, and %d are there", BundleName, len(list.Files), len(files))
	}
	for i, file := range files {
		if list.Files[i] != (bundledFile{file.Name, codec.DigestBytes(file.Data)}) {
			return nil, tampered(tidegate.Pairs("file", file.Name), "the file is not the one that %s lists: %q", BundleName, file.Name)
		}
	}
	return &Bundle{list.Kind, list.ID, files}, nil
}

// checkBundled is checkNames for the files of a bundle. They lie in one folder, on any system,
// so that no name can be that of a folder or of another file in other letters, and none is
// one that a system or another program obeys, or by which programs hold a folder.
func checkBundled(files []File) (name, fault string) {
	if name, fault = checkNames(files); fault != "" {
		return name, fault
	}
	names := map[string]string{} // as systems compare them → as they stand here, folders with a slash
	for _, file := range files {
		if strings.EqualFold(file.Name, BundleName) || isHolder(file.Name) {
			return file.Name, "a file of that name cannot be moved"
		}
		for at := file.Name; at != "."; at = path.Dir(at) {
			if name := path.Base(at); name != ".accepted" { // where a run keeps the outputs that it took
				if why := config.Obeyed(name); why != "" {
					return file.Name, "a file cannot be moved: " + why
				}
			}
			written, folded := at, config.Folded(at)
			if at != file.Name {
				written += "/"
			}
			if other, there := names[folded]; there && other != written {
				return at, "a name is that of a file and of a folder, or differs from another in the case or the form of letters alone"
			}
			names[folded] = written
		}
	}
	return "", ""
}

// isHolder holds for the files at the top of a folder by which programs hold it.
func isHolder(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, ".tidegate") || name == ".lock"
}

// Recorded are the files that a log records, by name, each with how many bytes of it: those of
// an archive end with its last record. All bytes of another file are -1.
type Recorded map[string]int64

// FilesOf are the files of a folder that its log records, each with a prefix before its name,
// and the names of those that it does not record; see [Unrecorded]. It returns READ_FAILED.
func FilesOf(folder *artifact.Folder, prefix string, recorded Recorded) (files []File, left []string, err error) {
	left, err = eachFile(folder, recorded, func(name string, end int64) error {
		data, err := folder.Read(name)
		if end >= 0 && int64(len(data)) > end {
			data = data[:end]
		}
		files = append(files, File{Name: prefix + name, Data: data})
		return err
	})
	return files, left, err
}

// Unrecorded are the names of what lies in a folder and its log does not record, in order.
// Folders are not, nor files by which programs hold it. It returns READ_FAILED.
func Unrecorded(folder *artifact.Folder, recorded Recorded) ([]string, error) {
	return eachFile(folder, recorded, func(string, int64) error { return nil })
}

// eachFile visits the files of a folder that are recorded, and names the others.
func eachFile(folder *artifact.Folder, recorded Recorded, visit func(name string, end int64) error) (others []string, err error) {
	others = []string{}
	err = fs.WalkDir(folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		end, known := recorded[name]
		switch {
		case err != nil:
			return err
		case entry.IsDir() && isHolder(name):
			return fs.SkipDir
		case entry.IsDir() || isHolder(name):
			return nil
		case known && entry.Type().IsRegular():
			return visit(name, end)
		}
		others = append(others, name)
		return nil
	})
	if err != nil && tidegate.CodeOf(err) == tidegate.Internal {
		err = tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", folder.Path()), "the folder cannot be read: %w", err)
	}
	return others, err
}

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
