"""The style of pictures: tints over the colours of the page around them, so that light and dark pages both suit."""

STYLE = """
.tagweave { color: inherit; font-size: 14px; line-height: 1.45; max-width: 100%; }
.tagweave .quiet { opacity: .72; font-size: .9em; }
.tagweave .sentence { margin: .3em 0 .8em; }
.tagweave .gloss { display: flex; flex-wrap: wrap; row-gap: .5em; }
.tagweave .gloss > span { display: flex; flex-direction: column; padding: 0 .45em; white-space: nowrap; }
.tagweave .gloss > span > * { min-height: 1.6em; }
.tagweave .gloss .names { opacity: .72; }
.tagweave .label { font-size: .85em; min-height: 1.88em !important; }
.tagweave .several { background: rgba(230,159,0,.25); border-radius: 3px; padding: 0 .25em; }
.tagweave .unknown { border: 1px dashed rgba(128,128,128,.8); border-radius: 3px; padding: 0 .4em; opacity: .8; }
.tagweave .running { line-height: 2.1; margin: .2em 0; }
.tagweave mark { color: inherit; border-radius: 4px; padding: .15em .3em; }
.tagweave mark small { font-weight: 600; margin-inline-start: .35em; }
.tagweave .open { border-bottom: 2px dotted rgba(128,128,128,.9); }
.tagweave .perhaps { border-bottom: 2px dotted currentColor; font-style: italic; opacity: .85; }
.tagweave .wide { overflow-x: auto; }
.tagweave pre { line-height: 1.2; overflow-x: auto; margin: .3em 0; font-size: 13px; background: transparent;
  color: inherit; font-family: ui-monospace, monospace; }
.tagweave table { border-collapse: collapse; margin: .4em 0; font-size: .95em; }
.tagweave th, .tagweave td { padding: .2em .5em; text-align: center; border: 1px solid rgba(128,128,128,.25);
  background: transparent; }
.tagweave th { font-weight: 600; white-space: nowrap; }
.tagweave th[scope=row] { text-align: end; }
.tagweave td.number { text-align: end; font-variant-numeric: tabular-nums; }
.tagweave td { font-variant-numeric: tabular-nums; }
.tagweave svg { display: block; color: inherit; }
.tagweave svg text { fill: currentColor; font: 14px system-ui, sans-serif; text-anchor: middle; }
.tagweave svg text.relation { font-size: 11px; }
.tagweave svg path { fill: none; stroke: currentColor; stroke-width: 1.1; stroke-opacity: .65; }
.tagweave svg path.tip { fill: currentColor; fill-opacity: .8; stroke: none; }
.tagweave svg .several path, .tagweave svg .unknown path { stroke-dasharray: 3 3; border: 0; }
.tagweave svg .unknown { opacity: .8; }
.tagweave svg .other path { stroke: #d55e00; stroke-width: 2.2; stroke-opacity: 1; }
.tagweave svg .other path.tip { fill: #d55e00; stroke: none; fill-opacity: 1; }
.tagweave svg .other text { font-weight: 700; }
"""
"""Every rule is bound to the class of our pictures, since a notebook shares one page among all of them."""
