"""What people said about clips, as numbers of a board: ratings and shares of votes, by question.

A clip's number is the mean over its raters; a system's is the mean over the prompts that all rated systems share. The
scale is part of the definition: 4 of 5 and 4 of 7 never compare.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params

_BOARD = "rushes board"
_OVER = signature_params(over="shared-prompts")
_SURE = (
    "Its interval counts prompts and raters as drawn at random: two-way clustered, Student's t with min(raters, "
    "prompts) − 1 degrees of freedom, cut to the scale and no narrower than Wilson's of as many independent answers; "
    "over prompts alone where single raters are not known"
)
_NONE = (
    "No interval where there is one prompt, or where all ratings are equal and the scale, or single raters, are not "
    "known. No shared prompt: no value."
)

CLIP_RATING = Definition(
    name="clip_rating",
    unit="points",
    lowest=None,
    highest=None,
    better="higher",
    summary="How people rated one clip on one question.",
    formula="mean over raters of their ratings; a rater's ratings of several samples of one prompt are averaged first",
    edge_cases="Nobody rated the clip: no value.",
    reference=f"ITU-T P.910, absolute category rating; {_BOARD}",
    open_params=("question", "scale"),
)
RATING_MEAN = replace(
    CLIP_RATING,
    name="rating_mean",
    summary="How people rated a system on one question.",
    formula=f"mean over the prompts on which every rated system has a rating, of clip_rating. {_SURE}",
    edge_cases=_NONE,
    reference=f"Cameron, Gelbach & Miller 2011 on the interval; {_BOARD}",
    params=_OVER,
)
CLIP_WIN_SHARE = replace(
    CLIP_RATING,
    name="clip_win_share",
    unit="ratio",
    lowest=0,
    highest=1,
    summary="How often people chose one clip over the other systems' clips of the same prompt, on one question.",
    formula="mean over raters of (wins + ½ ties) / votes on the clip; where a table has counts alone, of all votes",
    edge_cases="No vote on the clip: no value. It depends on which clips it met where not all pairs were judged.",
    reference=_BOARD,
    open_params=("question",),
)
WIN_SHARE_MEAN = replace(
    CLIP_WIN_SHARE,
    name="win_share_mean",
    summary="How often people chose a system over the others, on one question.",
    formula="(wins + ½ ties) / votes, over the prompts on which every system has votes. Its interval is that of "
    "win_share: Wilson's with as many votes as the clustered ones are worth, by rater and prompt as far as they are "
    "known",
    edge_cases="One rater: no interval. No shared prompt: no value.",
    reference=f"Wilson 1927; {_BOARD}",
    params=_OVER,
    history=(
        "mean over prompts of clip_win_share; interval by Student's t over prompts",
        "share of all votes, with the interval of rushes rank; the same value where prompts have as many votes",
    ),
)
DEFINITIONS = (CLIP_RATING, RATING_MEAN, CLIP_WIN_SHARE, WIN_SHARE_MEAN)
