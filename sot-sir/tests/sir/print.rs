//! The text is exact and looks like this.

use crate::builder::SirBuilder;
use crate::generate::{anything, operand, verified};
use proptest::prelude::*;
use sot_sir::{Literal, Module, ObjectRef, Operand, Statement, StatementKind, parse};

proptest! {
    #[test]
    fn parse_undoes_print(module in anything()) {
        let text = module.to_string();
        prop_assert_eq!(parse(&text), Ok(module), "{}", text);
    }

    #[test]
    fn print_undoes_parse(module in verified()) {
        let text = module.to_string();
        prop_assert_eq!(parse(&text).unwrap().to_string(), text);
    }

    #[test]
    fn one_statement_is_one_line(operand in operand()) {
        let text = operand.to_string();
        prop_assert!(!text.contains(['\n', '\r', '\u{2028}']), "{}", text);
    }
}

#[test]
fn every_form() {
    let mut b = SirBuilder::new("SIR_0");
    let x = b.input();
    let conv = b.call(Statement::new(StatementKind::Layer, "Conv2D").callee(ObjectRef(0)).arg(x));
    let cast = Statement::new(StatementKind::Method, "cast").arg(conv);
    let cast = b.call(cast.arg(Operand::object(ObjectRef(4), "paddle.float32")));
    let index = Operand::Tuple(vec![
        Operand::slice(Operand::NONE, 3.into(), Literal::Int(-1).into()),
        Literal::Ellipsis.into(),
        Operand::NONE,
    ]);
    let item = b.call(Statement::new(StatementKind::Method, "__getitem__").arg(cast).arg(index));
    let add = Statement::new(StatementKind::Api, "paddle.add").callee(ObjectRef(2)).arg(item);
    let sum = b.call(add.arg(1e-7).kwarg("name", "a \"b\"\n\u{1}é"));
    let (a, c) = (b.fresh(), b.fresh());
    let pattern = Operand::Tuple(vec![a.into(), Operand::Dict(vec![("rest".into(), Operand::List(vec![c.into()]))])]);
    let odd = Statement::new(StatementKind::Api, "<lambda>").arg(Operand::Tuple(vec![sum.into()]));
    let odd = odd.arg(Operand::Tuple(vec![])).kwarg("not a name", f64::NAN).kwarg("inf", f64::NEG_INFINITY);
    b.push(odd.kwarg("nan", f64::from_bits(0xfff8_0000_0000_0001)).result(pattern));
    b.push(Statement::new(StatementKind::Method, "stop").arg(a).arg(true));
    let label = Operand::object(ObjectRef(5), "<class 'a\\b'>");
    let call = Statement::new(StatementKind::Sir, "SIR_1").arg(label);
    let (d, e) = (b.fresh(), b.fresh());
    b.push(call.result(Operand::Tuple(vec![d.into(), e.into()])));
    let module = Module::single(b.finish(vec![d, a]));
    let text = module.to_string();
    insta::assert_snapshot!(text, @r#"
    StatementIR: SIR_0
      inputs: [var_0]
      outputs: [var_7, var_5]
      statements:
        layer  || var_1 = Conv2D (layer_0, var_0)
        method || var_2 = cast (var_1, obj_4<paddle.float32>)
        method || var_3 = __getitem__ (var_2, (slice(None, 3, -1), ..., None))
        api    || var_4 = paddle.add @obj_2 (var_3, 1e-7, name="a \"b\"\n\u{1}é")
        api    || (var_5, {"rest": [var_6]}) = "<lambda>" ((var_4,), (), "not a name"=nan, inf=-inf, nan=nan(0xfff8000000000001))
        method || None = stop (var_5, True)
        sir    || (var_7, var_8) = SIR_1 (obj_5<\<class 'a\\b'\>>)
    "#);
    assert_eq!(parse(&text).unwrap(), module);
}

#[test]
fn a_module_is_sirs_with_blank_lines_between() {
    let sir = |name: &str| SirBuilder::new(name).finish(vec![]);
    let module = Module { sirs: vec![sir("SIR_1"), sir("SIR_0")] };
    insta::assert_snapshot!(module, @r"
    StatementIR: SIR_1
      inputs: []
      outputs: []
      statements:

    StatementIR: SIR_0
      inputs: []
      outputs: []
      statements:
    ");
    assert_eq!(Module::default().to_string(), "");
}

#[test]
fn literals_differ_as_their_texts_do() {
    let literal = |v: f64| Literal::Float(v);
    assert_ne!(literal(0.0), literal(-0.0));
    assert_eq!(literal(f64::NAN), literal(f64::NAN));
    assert_ne!(Literal::Int(1), Literal::Bool(true));
    assert_eq!(Operand::from(1.0).to_string(), "1.0");
    assert_eq!(Operand::from(1e16).to_string(), "1e16");
    assert_eq!(Operand::from(i64::MIN).to_string(), "-9223372036854775808");
}
