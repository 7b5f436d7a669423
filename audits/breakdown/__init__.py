"""Break results down as a benchmark's card asks: subsets by tag, gaps between kinds of edit, words of direction.

A card says

    breakdown:
      tags: [tier]                           # every subset at every value of these tags
      gaps: [[modify_, swap_]]               # subsets that begin with the first minus those that begin with the second
      directions:                            # single decisions by the word of direction that a caption has
        subsets: [modify_spatial]            # each apart; left out: all instances together
        words: {on: [on], under: [under, below]}
        pairs: [[on, under]]                 # left out: every pair that occurs
"""
