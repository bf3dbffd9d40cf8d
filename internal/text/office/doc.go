// Package office reads the text of documents that people write: files of Word, Excel
// and PowerPoint, their OpenDocument relatives, and EPUB books.
//
// Such a file comes from anybody. It is read as a stream, out of one budget that
// depends on the size of the file and not on a clock, so that the same bytes give the
// same text on every machine. Entities are not expanded, formulas are not calculated,
// macros are not looked at, and nothing that a file names outside itself is opened.
// What no reader of the document sees, because it is deleted, struck out or hidden, is
// no part of its text.
package office
