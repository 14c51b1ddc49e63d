"""Invitation letters: a text with {link}, {rater} and {title}, one for each rater, also as a `mailto:` address.

The first line may be `Subject: …`. Without a file of your own there is a short letter in English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from rushes.core.errors import InputError
from rushes.present.terminal.console import print_json, say
from rushes.study.records import Invitation

_FIELDS = ("link", "rater", "title")
DEFAULT = """Subject: Compare video clips: {title}

Hello,

we would like your opinion on pairs of short video clips: which one is better, and why.
Your personal link is below. It works once, in the browser where you open it first; you can
stop at any moment and go on later in the same browser.

{link}

Please do not pass the link on. Your code in the study is {rater}; nobody sees your name.
Thank you.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A subject and a body with places to fill."""

    subject: str
    body: str

    def filled(self, **values: str) -> tuple[str, str]:
        """Subject and body for one rater.

        >>> Letter(subject="{title}", body="Go to {link}").filled(title="Takes", link="https://x/i/1", rater="r1")
        ('Takes', 'Go to https://x/i/1')
        """
        return _fill(self.subject, values), _fill(self.body, values)


def _fill(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(link|rater|title)\}", lambda found: values[found[1]], text)


def read_letter(path: Path | None) -> Letter:
    """The letter of a file; the built-in one for None. `InputError` where it has no {link}, or an unknown place."""
    try:
        text = DEFAULT if path is None else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a letter in UTF-8 ({error})") from None
    unknown = sorted(set(re.findall(r"\{(\w+)\}", text)) - set(_FIELDS))
    if unknown:
        raise InputError(f"{path}: a letter can hold {{link}}, {{rater}} and {{title}}; got {{{unknown[0]}}}")
    first, _, rest = text.partition("\n")
    has_subject = first.lower().startswith("subject:")
    subject = first.partition(":")[2].strip() if has_subject else "{title}"
    body = (rest if has_subject else text).strip("\r\n") + "\n"
    if "{link}" not in body:
        raise InputError(f"{path}: a letter needs {{link}} in its text; without it, nobody can take part")
    return Letter(subject=subject, body=body)


def mailto(subject: str, body: str) -> str:
    """An address that opens a mail program with the letter written.

    >>> mailto("Clips & more", "Hello\\nyou")
    'mailto:?subject=Clips%20%26%20more&body=Hello%0D%0Ayou'
    """
    crlf = "\r\n".join(body.splitlines())
    return f"mailto:?subject={quote(subject, safe='')}&body={quote(crlf, safe='')}"


def letter_data(invitation: Invitation, origin: str, title: str) -> dict[str, str]:
    """A new link with a letter ready to send, for a page."""
    link = f"{origin}/i/{invitation.token}"
    subject, body = read_letter(None).filled(link=link, rater=invitation.rater, title=title)
    return {"rater": invitation.rater, "link": link, "mailto": mailto(subject, body)}


def show_letters(
    letter: Letter, study: str, links: Mapping[str, str], *, title: str, addresses: bool, as_json: bool
) -> None:
    """Print the letters: as texts, as `mailto:` addresses, or as JSON with both."""
    made = {rater: letter.filled(link=link, rater=rater, title=title) for rater, link in links.items()}
    if as_json:
        letters = {
            rater: {"link": links[rater], "subject": subject, "text": body, "mailto": mailto(subject, body)}
            for rater, (subject, body) in made.items()
        }
        print_json({"study": study, "letters": letters})
        return
    say("Send each rater their own letter; its link works once.")
    for rater, (subject, body) in made.items():
        print(f"{rater}\t{mailto(subject, body)}" if addresses else f"--- {rater}\nSubject: {subject}\n\n{body}")
