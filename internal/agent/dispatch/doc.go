// Package dispatch chooses agents and has them work: it starts, continues, confirms and
// retries runs, says beforehand what that will take, and afterwards what a person may do
// next. The terminal, the page and the API use it alike.
package dispatch
