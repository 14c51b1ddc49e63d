// What the search shows first: pages whose title has every word that was asked for; what is for maintainers comes last.
var Scorer = {
  score: ([page, title, anchor, , score]) => {
    const asked = (new URLSearchParams(location.search).get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const named = asked.length > 0 && asked.every((word) => title.toLowerCase().includes(word));
    const aside = /^(decisions\/|changelog|speed|contributing|architecture)/.test(page);
    return score + (named ? (anchor ? 30 : 60) : 0) - (aside ? 30 : 0);
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
