"""Makes the fallback faces of this folder: `python3 subset.py twemoji.woff2` (needs fonttools and brotli).

Reads Debian's fonts-dejavu-core and fonts-droid-fallback, and the file `twemoji.woff2` of the npm package
twemoji-colr-font 15.0.3.
"""

import sys

from fontTools import subset
from fontTools.ttLib import TTFont

DEJAVU = "/usr/share/fonts/truetype/dejavu"
DROID = "/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf"
DROPPED = ["GSUB", "GPOS", "GDEF", "MATH", "FFTM", "vhea", "vmtx", "gasp"]


def main(twemoji):
    mono = TTFont(f"{DEJAVU}/DejaVuSansMono.ttf").getBestCmap()
    hebrew, georgian, braille = range(0x0590, 0x0600), range(0x10A0, 0x1100), range(0x2800, 0x2900)
    lacking = {*hebrew, *georgian, *range(0x2000, 0x2C00)} - set(mono) - set(braille)
    write(f"{DEJAVU}/DejaVuSans.ttf", lacking, "symbols.ttf")
    write(DROID, cjk(), "cjk.ttf")
    write(twemoji, set(range(0x203C, 0xE0000)), "emoji.ttf")


def cjk():
    """Punctuation, kana, Hangul, full-width forms, and the Han characters of GB 2312, JIS X 0208 and level 1 of Big5."""
    han = {c for c in range(0x4E00, 0xA000) if is_common(chr(c))}
    hangul = {*range(0x1100, 0x1200), *range(0xAC00, 0xD7A4)}
    return {*range(0x3000, 0x3400), *range(0xFF00, 0xFFF0)} | han | hangul


def is_common(c):
    big5 = c.encode("big5", "ignore")
    return bool(c.encode("gb2312", "ignore")) or len(c.encode("euc_jp", "ignore")) == 2 or b"" < big5 < b"\xc9"


def write(source, characters, target):
    options = subset.Options(hinting=False, layout_features=[], name_IDs=[0, 13, 14], glyph_names=False)
    options.drop_tables += DROPPED
    font = subset.load_font(source, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    subset.save_font(font, target, options)


main(*sys.argv[1:])
