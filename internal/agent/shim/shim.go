// Package shim is this program once more, under another name: it puts itself into a
// cell and becomes the program that is to be held there.
//
// Every agent starts with one, so it has little to do: an [Order] says what, in the
// form that the kernel takes. It imports nothing that takes time to begin: Go
// begins packages in the order of their names, each after its imports, so that this
// one, which needs only os and syscall, is done before most others begin.
package shim
