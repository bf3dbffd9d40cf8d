// Package drift says whether sentences still stand on their pages after the pages have
// changed. The texts that a sentence was once held against, and the same pages fetched
// again, go in; how the sentence stands now comes out ([Judge]), with both passages and
// the difference between them ([Mark]).
//
// A passage that stands there word for word holds its sentence. In one that was edited a
// little, every word that the sentence has counts; in one that was written anew only its
// facts do: numbers, dates, quotations, names, and what turns a statement round. So a page
// that says the same in other words is no alarm. Everything here is a function of its
// arguments. It says what is on a page, not what is true.
package drift
