"""The colours of the page: every pair of text and background that is used has enough contrast, in
the light and in the dark theme (WCAG 2.2 AA: 4.5 for text, 3 for shapes and borders)."""

import pathlib
import re
import unittest

TOKENS = pathlib.Path(__file__).resolve().parents[2] / "web/src/style/tokens.css"
TONES = ["running", "waiting", "succeeded", "failed", "unknown"]
SURFACES = ["bg", "surface", "sunken", "hover"]

TEXTS = ([("text", each) for each in SURFACES + ["accent-soft"]] +
         [("muted", each) for each in SURFACES + ["accent-soft"]] +
         [("accent", each) for each in ["bg", "surface", "hover"]] +
         [("on-accent", "accent"), ("on-accent", "accent-hover")] +
         [(tone, each) for tone in TONES for each in ["bg", "surface", "hover", f"{tone}-soft"]] +
         [("failed", "sunken"), ("succeeded", "sunken")] +
         [("text", f"{each}-soft") for each in ["succeeded", "failed"]] +
         [("muted", f"{each}-soft") for each in ["succeeded", "failed"]] +
         [("text", "added-word"), ("text", "removed-word")])
SHAPES = [("line-strong", "surface"), ("line-strong", "bg"), ("accent", "bg")]


def themes():
    text = TOKENS.read_text()
    light, dark = text.split("@media (prefers-color-scheme: dark)", 1)
    read = lambda part: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part))
    return {"light": read(light), "dark": {**read(light), **read(dark)}}


def luminance(colour):
    channels = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    bright, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


class Contrast(unittest.TestCase):
    def test_texts_and_shapes_can_be_told_from_their_background(self):
        for theme, colours in themes().items():
            for pairs, least in ((TEXTS, 4.5), (SHAPES, 3)):
                for front, back in pairs:
                    with self.subTest(theme=theme, front=front, back=back):
                        self.assertGreaterEqual(contrast(colours[front], colours[back]), least)

    def test_the_measure_itself(self):
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)
        self.assertAlmostEqual(contrast("#777777", "#ffffff"), 4.48, places=2)


if __name__ == "__main__":
    unittest.main()
