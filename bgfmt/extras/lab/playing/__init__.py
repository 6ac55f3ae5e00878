"""Games played: a referee between two players, dice, series, a person at the terminal, games played back.

Players are engines (`bgfmt.extras.lab.engine.Engine`), a person being one too; games become recorded matches
(`bgfmt.matches`), so that they are written, read and annotated as any others.
"""
