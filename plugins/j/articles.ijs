NB. The systems of the articles in J: Peelle's ace-point bearoffs, Ross's perfect hash, the layouts of the 2011 blog.
NB.
NB.    8 Ace 6                    chance to win of the side on roll, stacks on both ace points
NB.    1r6 BTree 3                a level of the binary tree of a chance and its complement
NB.    1r6 BTreeA 8               the same, the branch after a double cut short
NB.    DoubleOffAce 15            chance that the last pieces go off with a double
NB.    ours Pwin theirs           chance to be off first, from chances of exactly 0 1 2 ... rolls
NB.    Ross 0 0 0 2 3 4           rank of a board, counted from 0; a board may have any number of points
NB.    6 Unrank 299               the board of a rank: points, then the rank
NB.    6 Layouts 15               layouts of one side; *: of it for both
NB.
NB. Needs nothing beyond the language. `bgfmt articles` gives the same numbers.

Ace =: 4 : 0 M.
 if. x < 1 do. 1 return. end.
 1 - ((1 % 6) * y Ace x - 4) + (5 % 6) * y Ace x - 2
)

BTree =: 4 : 0
 if. y < 1 do. , 1 return. end.
 below =. x BTree y - 1
 (x * below) , (1 - x) * below
)

BTreeA =: 4 : 0
 if. y < 1 do. , 1 return. end.
 right =. , 0
 if. y > 1 do. right =. x BTreeA y - 1 end.
 (x * x BTreeA y - 2) , (1 - x) * right
)

DoubleOffAce =: 3 : 0 M.
 if. y < 1 do. 1 return. end.
 single =. 0
 if. y > 2 do. single =. DoubleOffAce y - 2 end.
 ((1 % 6) * DoubleOffAce y - 4) + (5 % 6) * single
)

NB. the side on roll wins where both need as many rolls
Pwin =: 4 : 0
 n =. x >.&# y
 +/ (n {. x) * +/\. n {. y
)

NB. a board of up to 15 pieces as the list of their points in order, 0 for those that are off; its rank; and back
RossList =: 3 : '((15 - +/ y) # 0) , y # >: i. # y'
RossRank =: 4 : 0
 i =. >: i. # y
 (<: x ! x + # y) - +/ (>: (# y) - i) ! (x - y) + (# y) - i
)
Ross =: 3 : '(# y) RossRank RossList y'
Unrank =: 4 : 0
 left =. y
 point =. 0
 list =. ''
 for_i. >: i. 15 do.
  while. left >: step =. (15 - i) ! (x - point) + 15 - i do.
   left =. left - step
   point =. >: point
  end.
  list =. list , point
 end.
 +/"1 (>: i. x) =/ list
)
Layouts =: 4 : '<: y ! x + y'
