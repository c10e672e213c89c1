"""People annotate the tokens that teach a model most, in a browser; answers become evidence (li-2015, section 4).

`task` has the question, and says when answers agree. `store` keeps tasks and answers (`database`, `slots`,
`assignment`, `questions`, `record`, `reliability`); `intake` and `export` fill and empty it. `selection` and `kwic`
choose what to ask, `retraining` learns from the answers. `serving` puts the pages together: `task_pages`, `word_pages`,
`dashboard`, `sign_in`.
"""
