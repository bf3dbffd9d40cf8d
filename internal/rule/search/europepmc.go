package search

import (
	"net/url"
	"strconv"
)

var europePMC = Service{
	Name: "europepmc", Title: "Europe PMC", Finds: "papers in medicine and the life sciences", URL: "https://www.ebi.ac.uk", Free: true,
	request: func(a Ask) Request {
		query := a.Query
		if a.Since != "" {
			query += " AND (FIRST_PDATE:[" + a.Since + " TO 3000-12-31])"
		}
		return get(a.Address+"/europepmc/webservices/rest/search", "query", query, "format", "json", "resultType", "core", "pageSize", strconv.Itoa(a.Max))
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			ResultList *struct {
				Result []struct{ ID, Source, Title, AbstractText, JournalTitle, FirstPublicationDate, PubYear string }
			}
		}
		if err := read(answer, &said, func() bool { return said.ResultList != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range said.ResultList.Result {
			if r.ID == "" || r.Source == "" {
				continue
			}
			snippet, date := r.AbstractText, r.FirstPublicationDate
			if snippet == "" {
				snippet = r.JournalTitle
			}
			if date == "" {
				date = r.PubYear
			}
			found = append(found, Result{URL: "https://europepmc.org/article/" + url.PathEscape(r.Source) + "/" + url.PathEscape(r.ID), Title: r.Title, Snippet: snippet, Date: date})
		}
		return found, nil
	},
}
