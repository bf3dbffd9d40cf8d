// Package library looks at runs and audits together, after their reports are finished. An
// [Item] is the report of either with its sentences and sources. [Update] fetches the
// sources again and says which sentences still stand, [Compare] says how two reports
// differ, [Find] finds words in everything that a home keeps, and [AskOf] puts a further
// question to them. What it makes lies in
// folders of its own, bound to the runs and audits by their ids and the heads of their
// logs; those are read, never written.
package library
