NB. Bearoff tables in J: open a component file made by bgfmt (or Peelle's own bgns.ijf), then ask.
NB.
NB.    bearoff_open 'bgns.ijf'
NB.    N 0 0 0 2 3 4             expected rolls; counts from the ace point up
NB.    EPC 0 0 0 2 3 4           effective pip count, 49r6 times as much
NB.    6 1 Best 0 2 2 2 0 4      rolls still to go after the best play ; the board then ; the play
NB.    6 1 Plays 0 2 2 2 0 4     a row of these for every play, best first
NB.
NB. Needs nothing beyond the language: the jfiles library is not used. Works with every layout bgfmt writes.

NB. open a file: component 0 has the boards' codes (counts as digits in base 16), component 1 the expected rolls
bearoff_open =: 3 : 0
 file =. < y
 'version start count length where' =. 5 {. 3!:2 (1!:11) file , < 0 512
 width =. 4 8 {~ version e. 1718235186 1718235189
 raw =. (count , 2 , width) $ (1!:11) file , < ({. where) , count * 2 * width
 if. -. version e. 1718235188 1718235189 do. raw =. |."1 raw end.
 entries =. 256 #. a. i. raw
 bearoff_codes =: 3!:2 (1!:11) file , < 0 { entries
 bearoff_means =: 3!:2 (1!:11) file , < 1 { entries
 top =. 16 #.^:_1 {: bearoff_codes
 bearoff_points =: # top
 bearoff_chequers =: {. top
 bearoff_points , bearoff_chequers
)

NB. a board at full length; refuses what the table does not hold (codes alone would be mistaken for other boards)
bearoff_board =: 3 : 0
 if. 0 < +/ bearoff_points }. y do. 'a chequer beyond the points of the table' (13!:8) 3 end.
 b =. bearoff_points {. y
 if. (+./ b < 0) +. bearoff_chequers < +/ b do. 'negative or too many chequers for the table' (13!:8) 3 end.
 b
)

N =: 3 : 'bearoff_means {~ bearoff_codes i. 16 #. bearoff_board y'
EPC =: 3 : '49 * 6 %~ N y'

NB. one die: x is the die, y a board followed by the moves so far; a table of the same with one move more
bearoff_step =: 4 : 0
 b =. bearoff_points {. y
 moves =. bearoff_points }. y
 if. 0 = +/ b do. ,: y , 0 0 return. end.
 high =. >: (0 < b) i: 1
 out =. i. 0 , 2 + # y
 for_p. >: I. 0 < b do.
  to =. p - x
  home =. (high <: 6) *. (to = 0) +. p = high
  if. (to > 0) +. home do.
   after =. (<: (<: p) { b) (<: p) } b
   if. to > 0 do. after =. (>: (<: to) { after) (<: to) } after end.
   out =. out , after , moves , p , 0 >. to
  end.
 end.
 out
)

bearoff_text =: 3 : 0
 pairs =. (_2 ]\ y) #~ 0 < {."1 ] _2 ]\ y
 text =. ''
 for_pair. pairs do.
  'from to' =. pair
  end =. > (to = 0) { (": to) ; 'off'
  text =. text , ' ' , (": from) , '/' , end
 end.
 }. text
)

NB. x is two dice, y a board: rows of rolls to go ; board ; play, fewest rolls first, each board once
Plays =: 4 : 0
 board =. bearoff_board y
 orders =. x ,: |. x
 if. =/ x do. orders =. ,: 4 $ x end.
 rows =. i. 0 , bearoff_points + 2 * {: $ orders
 for_order. orders do.
  now =. ,: board
  for_die. order do. now =. ; die&bearoff_step&.> <"1 now end.
  rows =. rows , now
 end.
 rows =. (~: bearoff_points {."1 rows) # rows
 boards =. bearoff_points {."1 rows
 rolls =. N"1 boards
 best =. /: rolls
 (<"0 best { rolls) ,. (<"1 best { boards) ,. (<@bearoff_text"1 bearoff_points }."1 best { rows)
)

Best =: 4 : '{. x Plays y'
