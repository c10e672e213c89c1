"""Every occurrence of the words of a trie in a text, also inside or across another one."""

from __future__ import annotations

from tagweave.kernels import kernel
from tagweave.kernels.matching import _child


@kernel
def find(points, joined, root, label, child, word, starts, stops, words):
    """points[starts[k]:stops[k]] is the word words[k], by rising start. Returns how many there are.

    Only as many are written as there is room for, so a first call without room counts them. The trie and `joined` are
    those of `kernels.matching`: no word begins or ends inside a run of letters.
    """
    n = points.shape[0]
    found = 0
    for i in range(n):
        node = root[points[i]]
        if node < 0 or (i > 0 and joined[points[i]] and joined[points[i - 1]]):
            continue
        j = i + 1
        while node >= 0:
            if word[node] >= 0 and not (j < n and joined[points[j - 1]] and joined[points[j]]):
                if found < starts.shape[0]:
                    starts[found], stops[found], words[found] = i, j, word[node]
                found += 1
            if j == n:
                break
            node = _child(label, child, node, points[j])
            j += 1
    return found
