package shim

import (
	"errors"
	"strconv"
)

// Order is what a shim does before it becomes the program.
type Order struct {
	Network  bool      // it is in a network of its own, which has no loopback yet
	Listen   []Address // of its loopback; the listeners go to whoever started it
	Confined bool      // it gives up its capabilities for good, and core files
	MaxFile  int64     // bytes that a file may have; 0: any number
	Ruleset  string    // for landlock_create_ruleset; "": no domain
	OfFiles  int64     // the rights in Paths that a file can have
	Paths    []Path
	Ports    []int64
	Filter   string // a program for seccomp; "": none
}

// Address is where a loopback is listened on.
type Address struct {
	Host string // four bytes or sixteen
	Port int64
}

// Path is a file or folder and what may be done with it. One that is not there is
// left out.
type Path struct {
	Name   string
	Rights int64
}

// words are the order as arguments of a program, which can hold everything but zeros.
func (o Order) words() []string {
	var w []string
	number := func(n int64) { w = append(w, strconv.FormatInt(n, 10)) }
	bytes := func(s string) { w = append(w, strconv.QuoteToASCII(s)) }
	w = append(w, strconv.FormatBool(o.Network), strconv.FormatBool(o.Confined))
	number(o.MaxFile)
	bytes(o.Ruleset)
	number(o.OfFiles)
	bytes(o.Filter)
	number(int64(len(o.Listen)))
	for _, a := range o.Listen {
		bytes(a.Host)
		number(a.Port)
	}
	number(int64(len(o.Paths)))
	for _, p := range o.Paths {
		w = append(w, p.Name)
		number(p.Rights)
	}
	number(int64(len(o.Ports)))
	for _, port := range o.Ports {
		number(port)
	}
	return w
}

// read is the order in words, with the words behind it.
func read(words []string) (o Order, behind []string, err error) {
	r := reader{words: words}
	o.Network, o.Confined = next(&r, strconv.ParseBool), next(&r, strconv.ParseBool)
	o.MaxFile, o.Ruleset, o.OfFiles, o.Filter = r.number(), r.bytes(), r.number(), r.bytes()
	for n := r.number(); n > 0 && r.err == nil; n-- {
		o.Listen = append(o.Listen, Address{r.bytes(), r.number()})
	}
	for n := r.number(); n > 0 && r.err == nil; n-- {
		o.Paths = append(o.Paths, Path{next(&r, asIs), r.number()})
	}
	for n := r.number(); n > 0 && r.err == nil; n-- {
		o.Ports = append(o.Ports, r.number())
	}
	return o, r.words, r.err
}

// reader takes word after word, until the first error.
type reader struct {
	words []string
	err   error
}

func next[T any](r *reader, parse func(string) (T, error)) (value T) {
	if len(r.words) == 0 {
		r.err = errors.New("the order of a shim is cut off")
	}
	if r.err == nil {
		value, r.err = parse(r.words[0])
		r.words = r.words[1:]
	}
	return value
}

func (r *reader) number() int64 {
	return next(r, func(word string) (int64, error) { return strconv.ParseInt(word, 10, 64) })
}

func (r *reader) bytes() string { return next(r, strconv.Unquote) }

func asIs(word string) (string, error) { return word, nil }
