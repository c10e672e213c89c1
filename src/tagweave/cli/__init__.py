"""The command line, thin: a file for a group of commands, which call what `import tagweave` offers.

`options` makes flags of the fields of classes of options, `console` prints messages, progress and errors, and `main`
puts the commands together. Commands import heavy modules when they run, so that help is quick.
"""
