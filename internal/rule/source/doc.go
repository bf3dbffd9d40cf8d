// Package source judges the sources that outputs name. The Sources section of an
// output goes in, and the URLs that it cites come out ([Extract], [Sources]); with
// the pages of an archive as [Page] values, [Judge] makes one record for each source
// by the table of [Rules]. The pool of records that may be cited, gate C, the
// documents of the stage and the exports follow from the records.
//
// Everything here is a function of its arguments. The package knows nothing of runs
// and opens no file and no connection: the same archive gives the same records, byte
// for byte, on every machine and every day. A record with status valid says that the
// page was there, that it shows text, and that no rule holds against it. It does not
// say that anything is true.
package source
