// Package evidence reads a report into sentences, each with the form in which it may
// claim something, and holds what follows from them: calculations, the document of the
// claims that a run keeps (claims.v1), when gate E passes, what the next draft must
// change, and how drafts are made from edits. Windows and findings come from package
// claim; who reads the sentences against them is the matter of package reading.
//
// The package is pure: the same values in, the same values out.
package evidence
