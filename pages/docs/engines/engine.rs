use std::io::{self, BufRead, Write};

fn main() {
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut sides = line.splitn(6, ' ').nth(5).unwrap().split('/').map(|side| {
            side.split_whitespace().map(|n| n.parse().unwrap()).collect::<Vec<i32>>()
        });
        let (mut us, them) = (sides.next().unwrap(), sides.next().unwrap());
        let pips = |side: &[i32]| side.iter().zip(1..).map(|(n, p)| n * p).sum::<i32>();
        let lead = pips(&them) - pips(&us);
        let said = match words[0] {
            "play" => {
                let roll: usize = words[1].parse().unwrap();
                let (a, b) = (roll / 10, roll % 10);
                let dice = if a == b { vec![a; 4] } else { vec![a, b] };
                let mut moves = String::new();
                for die in dice {
                    let Some(from) = us.iter().rposition(|&n| n > 0).map(|k| k + 1) else { break };
                    us[from - 1] -= 1;
                    if from > die { us[from - die - 1] += 1; moves += &format!("{from}/{} ", from - die); }
                    else { moves += &format!("{from}/off "); }
                }
                moves
            }
            "equity" => "0".to_string(),
            "double" => if lead > 3 { "double" } else { "roll" }.to_string(),
            _ => if lead < 10 { "take" } else { "pass" }.to_string(),
        };
        println!("{said}");
        io::stdout().flush().unwrap();
    }
}
