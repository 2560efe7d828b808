//! Last uses, text to text: each statement with what dies behind it.

use sot_sir::parse_sir;

fn annotated(text: &str) -> String {
    let sir = parse_sir(text).expect("a SIR");
    let lines = sir.statements.iter().zip(sir.last_uses()).map(|(statement, dead)| {
        let dead: Vec<String> = dead.iter().map(ToString::to_string).collect();
        format!("{statement}  # {}\n", dead.join(" "))
    });
    lines.collect()
}

#[test]
fn a_symbol_dies_behind_its_last_use() {
    let text = "\
StatementIR: SIR_0
  inputs: [var_0, var_1]
  outputs: [var_4, var_1]
  statements:
    method || var_2 = __add__ (var_0, var_1)
    api    || (var_3, [var_5]) = split ((var_2, var_0), axis=var_2)
    method || {\"k\": var_4} = pick (var_3, slice(None, var_3, None))
    method || var_6 = unused (var_1)
";
    let wanted = "\
method || var_2 = __add__ (var_0, var_1)  # 
api    || (var_3, [var_5]) = split ((var_2, var_0), axis=var_2)  # var_2 var_0 var_5
method || {\"k\": var_4} = pick (var_3, slice(None, var_3, None))  # var_3
method || var_6 = unused (var_1)  # var_6
";
    assert_eq!(annotated(text), wanted);
}
