meta:
  id: positions
  title: How many sides there are on some points with some chequers
  license: MIT
doc: |
  C(points + chequers, points), factor by factor; reads nothing. Languages in which calculated integers have 32 bits
  (C++, C#, Java) overflow beyond that.
params:
  - {id: points, type: s4}
  - {id: chequers, type: s4}
instances:
  c1: {value: points + 1}
  c2: {value: "chequers < 2 ? c1 : c1 * (points + 2) / 2"}
  c3: {value: "chequers < 3 ? c2 : c2 * (points + 3) / 3"}
  c4: {value: "chequers < 4 ? c3 : c3 * (points + 4) / 4"}
  c5: {value: "chequers < 5 ? c4 : c4 * (points + 5) / 5"}
  c6: {value: "chequers < 6 ? c5 : c5 * (points + 6) / 6"}
  c7: {value: "chequers < 7 ? c6 : c6 * (points + 7) / 7"}
  c8: {value: "chequers < 8 ? c7 : c7 * (points + 8) / 8"}
  c9: {value: "chequers < 9 ? c8 : c8 * (points + 9) / 9"}
  c10: {value: "chequers < 10 ? c9 : c9 * (points + 10) / 10"}
  c11: {value: "chequers < 11 ? c10 : c10 * (points + 11) / 11"}
  c12: {value: "chequers < 12 ? c11 : c11 * (points + 12) / 12"}
  c13: {value: "chequers < 13 ? c12 : c12 * (points + 13) / 13"}
  c14: {value: "chequers < 14 ? c13 : c13 * (points + 14) / 14"}
  n: {value: "chequers < 15 ? c14 : c14 * (points + 15) / 15"}
