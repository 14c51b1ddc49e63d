// The link of `rushes view` carries a token. The cookie has it now: take it out of the address bar.
const address = new URL(location.href);
address.searchParams.delete("token");
history.replaceState(history.state, "", address);
