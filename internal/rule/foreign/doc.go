// Package foreign reads a finished report, whoever wrote it, and judges it by what it
// cites. [Read] takes Markdown, HTML, docx, PDF or plain text apart into sentences,
// citations and the entries of its list of sources, whatever style it cites in.
// [Judge] holds the sources and the sentences against archived pages by the rules that
// runs have. [Result] is what it says, in every format.
//
// Everything here is a function of its arguments. The package opens no file and no
// connection.
package foreign
