package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"path"
	"strings"
)

// debian writes a package for each Linux platform.
func (r *release) debian() error {
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		data, err := r.deb(t)
		if err != nil {
			return err
		}
		if err := r.write("tidegate_"+r.number()+"_"+t.arch+".deb", data); err != nil {
			return err
		}
	}
	return nil
}

// installed is where Debian puts the parts of a package.
var installed = map[string]string{
	"completions/tidegate.bash": "usr/share/bash-completion/completions/tidegate",
	"completions/tidegate.zsh":  "usr/share/zsh/vendor-completions/_tidegate",
	"completions/tidegate.fish": "usr/share/fish/vendor_completions.d/tidegate.fish",
	"LICENSE":                   "usr/share/doc/tidegate/copyright",
	"LICENSES-OF-OTHERS.txt":    "usr/share/doc/tidegate/LICENSES-OF-OTHERS.txt",
}

func (r *release) deb(t target) ([]byte, error) {
	files := []entry{{"usr/bin/tidegate", r.programs[t], 0o755}}
	for _, e := range r.share {
		name, data := installed[e.name], e.data
		if page, ok := strings.CutPrefix(e.name, "man/"); ok {
			packed, err := gz(e.data)
			if err != nil {
				return nil, err
			}
			name, data = "usr/share/man/man1/"+page+".gz", packed
		}
		if name != "" {
			files = append(files, entry{name, data, 0o644})
		}
	}
	size, sums := 0, ""
	for _, f := range files {
		size += len(f.data)
		sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.name)
	}
	control := fmt.Sprintf(`Package: tidegate
Version: %s
Architecture: %s
Maintainer: the tidegate authors <tidegate@users.noreply.github.com>
Installed-Size: %d
Section: utils
Priority: optional
Recommends: ca-certificates
Homepage: https://github.com/tidegate/tidegate
Description: gate between what AI agents write and everything that trusts it
 tidegate takes a question to a report that can be trusted, and a code change to
 a review that can be trusted, with agents that cannot.
`, strings.ReplaceAll(r.number(), "-", "~"), t.arch, (size+1023)/1024)
	inside, err := tarGz(withFolders(files), r.time)
	if err != nil {
		return nil, err
	}
	about, err := tarGz([]entry{{"./control", []byte(control), 0o644}, {"./md5sums", []byte(sums), 0o644}}, r.time)
	if err != nil {
		return nil, err
	}
	return r.ar([]entry{{"debian-binary", []byte("2.0\n"), 0o644}, {"control.tar.gz", about, 0o644}, {"data.tar.gz", inside, 0o644}}), nil
}

// ar is an archive as dpkg reads it.
func (r *release) ar(entries []entry) []byte {
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, e := range entries {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", path.Base(e.name), r.time.Unix(), 0, 0, 0o100000|e.mode, len(e.data))
		out.Write(e.data)
		if len(e.data)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}
