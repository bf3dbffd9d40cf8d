package git

import (
	"bytes"
	"context"
	"slices"
)

// batch is how many files git is asked to write at once: it has only so much time for
// an answer.
const batch = 2000

// Copy writes the files of the later version into an empty folder: those that are
// tracked or not ignored where the work tree is compared, without the folder of
// changes and without those that the caller does not want. Nothing of the repository
// is run, and nothing is written to it. It returns READ_FAILED and WRITE_FAILED.
func (d *Diff) Copy(ctx context.Context, dir string, unwanted func(name string) bool) error {
	return d.later.copy(ctx, dir, unwanted)
}

// CopyBase is Copy with all files of the version that is compared with.
func (d *Diff) CopyBase(ctx context.Context, dir string) error {
	return d.earlier.copy(ctx, dir, nil)
}

// Prefix is the folder of the project in the repository, "" where it is the whole.
func (d *Diff) Prefix() string { return d.prefix }

func (v version) copy(ctx context.Context, dir string, unwanted func(name string) bool) error {
	names := slices.DeleteFunc(v.names(), func(name string) bool {
		o := v.files[name]
		return o.kind != "" && o.kind != symlink || unwanted != nil && unwanted(name)
	})
	if err := v.write(ctx, dir, names); err != nil {
		return Unread(ctx, err)
	}
	return nil
}

// checkOut writes files of the repository, by their objects, with a repository of its
// own: no filter and no setting of the project's counts.
func (r *Checkout) checkOut(ctx context.Context, dir string, files map[string]object, names []string) error {
	if len(names) == 0 {
		return nil
	}
	o, err := r.origin(ctx)
	if err != nil {
		return err
	}
	k, err := o.Keep(ctx, dir)
	if err != nil {
		return err
	}
	defer k.Remove()
	var index bytes.Buffer
	for _, name := range names {
		index.WriteString(files[name].mode + " " + files[name].id + "\t" + name + "\x00")
	}
	if _, err := k.Ask(ctx, index.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	for some := range slices.Chunk(names, batch) {
		var list bytes.Buffer
		for _, name := range some {
			list.WriteString(name + "\x00")
		}
		if _, err := k.Ask(ctx, list.Bytes(), "checkout-index", "-z", "--stdin"); err != nil {
			return err
		}
	}
	return nil
}

// copyPresent writes files of the work tree, and those that a sparse one does not have
// from their objects.
func (r *Checkout) copyPresent(ctx context.Context, dir string, absent map[string]object, names []string) error {
	var stored, here []string
	for _, name := range names {
		if _, isAbsent := absent[name]; isAbsent {
			stored = append(stored, name)
		} else {
			here = append(here, name)
		}
	}
	if err := r.Folder.CopyTo(ctx, dir, here); err != nil {
		return err
	}
	return r.checkOut(ctx, dir, absent, stored)
}
