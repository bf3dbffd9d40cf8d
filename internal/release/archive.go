package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"path"
	"slices"
	"time"
)

// archives writes two archives per platform: the program, its documents, the
// completion scripts and the manual pages; and the worker with its documents.
func (r *release) archives() error {
	for _, t := range r.targets {
		pack := tarGz
		if t.os == "windows" {
			pack = zipped
		}
		for _, a := range []struct {
			program string
			data    []byte
			beside  []entry
		}{{tidegate, r.programs[t], r.share}, {worker, r.workers[t], r.beside}} {
			data, err := pack(append([]entry{{t.file(a.program), a.data, 0o755}}, a.beside...), r.time)
			if err != nil {
				return err
			}
			if err := r.write(r.archiveName(a.program, t), data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) archiveName(program string, t target) string {
	extension := ".tar.gz"
	if t.os == "windows" {
		extension = ".zip"
	}
	return program + "_" + r.number() + "_" + t.os + "_" + t.arch + extension
}

// owner is the owner of the files of a tar.
type owner struct{ id int }

// tarGz is a compressed tar of entries, in their order; all have the same time and
// belong to root.
func tarGz(entries []entry, at time.Time) ([]byte, error) {
	plain, err := tarOf(entries, at, owner{0})
	if err != nil {
		return nil, err
	}
	return gz(plain)
}

// tarOf is a tar of entries; one whose name ends in a slash is a folder.
func tarOf(entries []entry, at time.Time, of owner) ([]byte, error) {
	var out bytes.Buffer
	files := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: at, Uid: of.id, Gid: of.id, Format: tar.FormatUSTAR}
		if e.name[len(e.name)-1] == '/' {
			header.Typeflag = tar.TypeDir
		}
		if err := files.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := files.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := files.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// gz is data compressed, without a name or time in it.
func gz(data []byte) ([]byte, error) {
	var out bytes.Buffer
	packed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := packed.Write(data); err != nil {
		return nil, err
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func zipped(entries []entry, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	files := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		header.SetMode(0o644)
		if e.mode == 0o755 {
			header.SetMode(0o755)
		}
		w, err := files.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := files.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// withFolders puts the folders of entries before them, as packages need it.
func withFolders(entries []entry) []entry {
	var out []entry
	seen := map[string]bool{}
	for _, e := range entries {
		var missing []entry
		for dir := path.Dir(path.Clean(e.name)); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			missing = append(missing, entry{"./" + dir + "/", nil, 0o755})
		}
		slices.Reverse(missing)
		out = append(append(out, missing...), entry{"./" + path.Clean(e.name), e.data, e.mode})
	}
	return out
}
