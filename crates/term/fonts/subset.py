"""Makes the fallback faces of this folder: `python3 subset.py twemoji.woff2` (needs fonttools and brotli).

Reads Debian's fonts-dejavu-core and fonts-droid-fallback, and the file `twemoji.woff2` of the npm package
twemoji-colr-font 15.0.3.
"""

import sys

from fontTools import subset
from fontTools.ttLib import TTFont

FONTS = "/usr/share/fonts/truetype"
DROPPED = ["GSUB", "GPOS", "GDEF", "MATH", "FFTM", "vhea", "vmtx", "gasp"]


def main(twemoji):
    mono = TTFont(f"{FONTS}/dejavu/DejaVuSansMono.ttf").getBestCmap()
    braille = range(0x2800, 0x2900)
    symbols = {c for c in range(0x2000, 0x2C00) if c not in mono and c not in braille}
    write(f"{FONTS}/dejavu/DejaVuSans.ttf", symbols, "symbols.ttf")
    write(f"{FONTS}/droid/DroidSansFallbackFull.ttf", cjk(), "cjk.ttf")
    write(twemoji, set(range(0x203C, 0xE0000)), "emoji.ttf")


def cjk():
    """Punctuation, kana, full-width forms, and the commonest Han characters: level 1 of GB 2312 and of JIS X 0208."""
    han = range(0x4E00, 0xA000)
    chinese = {c for c in han if 0xB0 <= lead(c, "gb2312") <= 0xD7}
    japanese = {c for c in han if 0xB0 <= lead(c, "euc_jp") <= 0xCF and len(chr(c).encode("euc_jp")) == 2}
    return set(range(0x3000, 0x3100)) | set(range(0xFF00, 0xFFF0)) | chinese | japanese


def lead(c, encoding):
    return (chr(c).encode(encoding, "ignore") or b"\0")[0]


def write(source, characters, target):
    options = subset.Options(hinting=False, layout_features=[], name_IDs=[0, 13, 14], glyph_names=False)
    options.drop_tables += DROPPED
    font = subset.load_font(source, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    subset.save_font(font, target, options)


main(*sys.argv[1:])
