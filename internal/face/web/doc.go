// Package web is the page: runs and changes in a browser, made on the server.
// It shows what the other packages return and decides nothing. Where it is allowed
// to, it hands a person's decisions to the tools that take them.
//
// What agents wrote is hostile. It reaches a page only through html/template, and
// never as Markdown or HTML. The exception is the report, which package synthesis
// makes and whose own policy forbids everything but its style.
package web
