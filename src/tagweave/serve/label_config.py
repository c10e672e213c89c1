"""The labelling configuration of a project in Label Studio, as far as predictions need it."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from tagweave.serve.errors import RefusedError

_LONGEST = 1_000_000


@dataclass(frozen=True)
class LabelConfig:
    """Names of a configuration such as

        <View><Labels name="label" toName="text"><Label value="PER"/></Labels><Text name="text" value="$text"/></View>

    Attributes:
        control: of the tag `Labels`.
        text: of the tag `Text` to which it belongs.
        data: of the text in the data of a task; `None`: unknown.
        labels: that people can choose; empty: unknown.
    """

    control: str = "label"
    text: str = "text"
    data: str | None = None
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, xml: object) -> LabelConfig:
        """The configuration in XML; `None` and "" are the usual one.

        Raises:
            RefusedError: no XML, or none with `Labels` of a `Text`.
        """
        if xml in (None, ""):
            return cls()
        if not isinstance(xml, str) or len(xml) > _LONGEST or "<!" in xml.replace("<!--", ""):
            raise RefusedError("found a labelling configuration that is no plain XML, expected one of Label Studio")
        try:
            root = Xml.fromstring(xml)  # noqa: S314  # without a DTD there are no entities to expand
        except (Xml.ParseError, ValueError, RecursionError) as error:
            raise RefusedError(f"found a labelling configuration that is no XML ({error}), expected one") from None
        texts = {each.get("name", ""): each.get("value", "") for each in root.iter("Text")}
        for each in root.iter("Labels"):
            name, text = each.get("name", ""), each.get("toName", "")
            if name and text in texts:
                labels = tuple(label.get("value", "") for label in each.iter("Label"))
                return cls(name, text, texts[text].removeprefix("$") or None, labels)
        raise RefusedError("found no Labels of a Text in the labelling configuration, expected them")
