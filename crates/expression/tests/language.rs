//! What an author may rely on: which value a source has, where its faults are, and its limits.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use expression::{Evaluated, Evaluator, Fault, Kind, Limits, answer, check, question, read};
use serde_json::{Map, Value, json};

fn given(arguments: Value) -> Map<String, Value> {
    match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

fn evaluate(source: &str, arguments: Value) -> Result<Evaluated, Fault> {
    Evaluator::new().evaluate(source, &given(arguments), &Limits::default())
}

fn value(source: &str, arguments: Value) -> Value {
    let evaluated = evaluate(source, arguments);
    evaluated
        .unwrap_or_else(|fault| panic!("{source}: {fault:?}"))
        .value
}

fn fault(source: &str) -> (Kind, String, Option<(u32, u32)>) {
    let fault = evaluate(source, json!({"num1": 5, "num2": 3, "xs": [1, 2, 3]})).unwrap_err();
    (fault.kind, fault.message, fault.line.zip(fault.column))
}

#[test]
fn two_numbers_are_multiplied() {
    for source in [
        "num1 * num2",
        "num1 * num2\n",
        "    num1 * num2",
        "result = num1 * num2",
        "result = num1 * num2  # as asked",
        "\n\n    result = num1 * num2\n",
        "return num1 * num2",
        "def multiply(a, b):\n    return a * b\n\nmultiply(num1, num2)",
    ] {
        assert_eq!(
            value(source, json!({"num1": 5, "num2": 3})),
            json!(15),
            "{source}"
        );
        assert_eq!(
            value(source, json!({"num1": 2.5, "num2": 4})),
            json!(10.0),
            "{source}"
        );
    }
}

#[test]
fn the_value_is_the_return_or_the_result_or_the_last_line() {
    for (source, expected) in [
        ("result = 1\n2", json!(1)),
        ("2\nresult = 1", json!(1)),
        ("result = 1\nfor i in range(3):\n    result += i", json!(4)),
        ("result = 1\nif True:\n    return 7", json!(7)),
        ("result = 1\nif False:\n    return 7", json!(1)),
        (
            "if True:\n    result = 'a'\nelse:\n    result = 'b'",
            json!("a"),
        ),
        ("a, result = 1, 2", json!(2)),
        ("x = 3", json!(3)),
        ("x = y = 3", json!(null)),
        ("x: int = 3", json!(3)),
        ("x = 3\nx += 1", json!(4)),
        ("x = 3\nx", json!(3)),
        ("[1][0]", json!(1)),
        ("def f():\n    result = 1\n    return 2\nf()", json!(2)),
        ("for i in range(3):\n    i", json!(null)),
        ("'''a\n   b'''", json!("a\n   b")),
    ] {
        assert_eq!(value(source, json!({})), expected, "{source}");
    }
    let (kind, message, place) = fault("if num1 > 9:\n    result = 1");
    assert_eq!((kind, place), (Kind::Name, None));
    assert!(
        message.ends_with("without having assigned 'result'"),
        "{message}"
    );
}

#[test]
fn what_is_printed_comes_with_the_value() {
    let evaluated = evaluate("print('a', 1)\nprint('b', end='')\n5", json!({})).unwrap();
    assert_eq!(
        (evaluated.value, evaluated.printed),
        (json!(5), "a 1\nb".to_owned())
    );
    // Also once, if the careful program was run after the quick one.
    let evaluated = evaluate("print('a')\nTrue + 1", json!({})).unwrap();
    assert_eq!(
        (evaluated.value, evaluated.printed),
        (json!(2), "a\n".to_owned())
    );
}

type Place = Option<(u32, u32)>;

/// A source, and the fault in it: its kind, how its message begins, its line and column.
const FAULTS: &[(&str, Kind, &str, Place)] = &[
    (
        "num1 / 0",
        Kind::Value,
        "ZeroDivisionError: division by zero",
        Some((1, 1)),
    ),
    (
        "1 + num1 / 0",
        Kind::Value,
        "ZeroDivisionError: division by zero",
        Some((1, 5)),
    ),
    (
        "num1 / (num2 / 0)",
        Kind::Value,
        "ZeroDivisionError: division by zero",
        Some((1, 9)),
    ),
    (
        "a = 1\n\ndef f(x):\n    return x // 0\n\nf(a)",
        Kind::Value,
        "ZeroDivisionError: ",
        Some((4, 12)),
    ),
    (
        "[x / 2 for x in xs][3 / 1]",
        Kind::Type,
        "TypeError: list indices must be integers",
        Some((1, 1)),
    ),
    (
        "  é = num1 / 2 + foo",
        Kind::Name,
        "NameError: name 'foo' is not defined",
        Some((1, 18)),
    ),
    (
        "(num1 +\n   bar)",
        Kind::Name,
        "NameError: name 'bar' is not defined",
        Some((2, 4)),
    ),
    (
        "num1 +",
        Kind::Syntax,
        "SyntaxError: Expected an expression",
        Some((1, 7)),
    ),
    (
        "x = 1\nif x\n    y",
        Kind::Syntax,
        "SyntaxError: ",
        Some((2, 5)),
    ),
    (
        "    x = 1\n    y = )",
        Kind::Syntax,
        "SyntaxError: Expected an expression",
        Some((2, 9)),
    ),
    ("'a' + num1", Kind::Type, "TypeError: ", Some((1, 1))),
    (
        "True + 'a'",
        Kind::Type,
        "TypeError: unsupported operand type(s) for +: 'bool' and 'str'",
        Some((1, 1)),
    ),
    (
        "xs[7]",
        Kind::Value,
        "IndexError: list index out of range",
        Some((1, 1)),
    ),
    ("{'a': 1}['b']", Kind::Value, "KeyError: b", Some((1, 1))),
    (
        "raise ValueError('no')",
        Kind::Value,
        "ValueError: no",
        Some((1, 7)),
    ),
    (
        "assert num1 == 4, 'five'",
        Kind::Value,
        "AssertionError: five",
        Some((1, 8)),
    ),
    (
        "round(1.5, 'x') + 1",
        Kind::Type,
        "TypeError: 'str' object cannot be interpreted",
        Some((1, 1)),
    ),
    (
        "x = 10\nx **= 5000\nx ** 100000",
        Kind::Value,
        "OverflowError: the result would be",
        Some((3, 1)),
    ),
    (
        "1\ndel xs",
        Kind::Unsupported,
        "del is not supported here",
        Some((2, 1)),
    ),
    (
        "1\nimport os",
        Kind::Unsupported,
        "ModuleNotFoundError: No module named 'os' here",
        Some((2, 8)),
    ),
    (
        "1\nx = randint(1, 2)",
        Kind::Unsupported,
        "randint() is not available",
        Some((2, 5)),
    ),
    (
        "1\ndatetime.datetime.now()",
        Kind::Unsupported,
        "datetime.now() is not available",
        Some((2, 1)),
    ),
    (
        "f'{num1 / num2=}'",
        Kind::Unsupported,
        "f'{…=}' is not supported here",
        Some((1, 3)),
    ),
    (
        "x = round(1.5)\nround = 3",
        Kind::Unsupported,
        "'round' is used here as the built-in",
        Some((1, 5)),
    ),
    (
        "pow(1)",
        Kind::Type,
        "TypeError: pow() missing 1 required positional argument",
        None,
    ),
    (
        "",
        Kind::Syntax,
        "SyntaxError: there is no expression",
        None,
    ),
    ("lambda: 1", Kind::Result, "the value is <function", None),
    (
        "def f():\n    return f()\nf()",
        Kind::Limit,
        "RecursionError: maximum recursion depth exceeded",
        Some((2, 12)),
    ),
    ("'a' * 10 ** 10", Kind::Limit, "MemoryError: ", Some((1, 1))),
];

#[test]
fn faults_are_told_as_python_tells_them_and_placed_in_the_source() {
    for (source, kind, message, place) in FAULTS {
        let found = fault(source);
        assert!(found.1.starts_with(message), "{source}: {found:?}");
        assert_eq!((found.0, found.2), (*kind, *place), "{source}: {}", found.1);
    }
}

#[test]
fn what_the_evaluator_alone_gets_wrong_is_right() {
    for (source, expected) in [
        ("round(2.675, 2)", json!(2.67)),
        ("list(map(round, [2.5, 3.5], [0, 0]))", json!([2.0, 4.0])),
        ("1.01 ** 10000", json!(1.635_828_711_189_039_8e43)),
        ("pow(1.01, 10000) == 1.01 ** 10000", json!(true)),
        ("10 ** 400 / 10 ** 399", json!(10.0)),
        ("x = 10 ** 400\nx /= 10 ** 399\nx", json!(10.0)),
        ("9007199254740993 / 3", json!(3_002_399_751_580_331.0)),
        ("1.0 // 0.1", json!(9.0)),
        ("divmod(1.0, 0.1)[0]", json!(9.0)),
        ("-7 // 2.0", json!(-4.0)),
        ("2 ** -1074", json!(5e-324)),
        ("True + True", json!(2)),
        ("n = 0\nfor x in [1, 2, 3]:\n    n += x > 1\nn", json!(2)),
        ("'%d%%' % 5", json!("5%")),
        ("'ab'.center(5, '*')", json!("**ab*")),
        ("float(10 ** 30)", json!(1e30)),
        ("7.0 % 10 ** 20", json!(7.0)),
        ("math.sqrt(10 ** 30)", json!(1e15)),
        ("math.floor(10 ** 20)", json!("100000000000000000000")),
        ("sorted(['b', 'A'], key=str.lower)", json!(["A", "b"])),
        ("acosh(1.7e308)", json!(710.419_984_073_788_1)),
        (
            "a = {'x': 1, 'y': 2}\nif a:\n    del a['x']\na",
            json!({"y": 2}),
        ),
        ("a = [1, 2, 3]\ndel (a)[-1]; a", json!([1, 2])),
    ] {
        assert_eq!(value(source, json!({})), expected, "{source}");
    }
    for source in [
        "1.5 ** 10000",
        "pow(1.5, 10000)",
        "x = 1.5\nx **= 10000",
        "10 ** 400 * 1.0 > 5",
    ] {
        let found = evaluate(source, json!({})).unwrap_err();
        assert!(
            found.message.starts_with("OverflowError"),
            "{source}: {found}"
        );
    }
}

#[test]
fn an_authors_names_come_before_ours() {
    for (source, arguments, expected) in [
        ("sum * 2", json!({"sum": 4}), json!(8)),
        ("pi + e", json!({"pi": 1, "e": 2}), json!(3)),
        ("args", json!({"args": 1}), json!(1)),
        ("sqrt = 4\nsqrt / 2", json!({}), json!(2.0)),
        ("round(2.675, 2) + int", json!({"int": 1}), json!(3.67)),
        (
            "isinstance / 3 + len // 2 + float ** 2",
            json!({"isinstance": 6, "len": 5, "float": 3}),
            json!(13.0),
        ),
        ("math['pi']", json!({"math": {"pi": 3}}), json!(3)),
        (
            "def round(x):\n    return 'mine'\nround(1.5)",
            json!({}),
            json!("mine"),
        ),
        ("(lambda pow: pow + 1)(1) + pow(2, 3)", json!({}), json!(10)),
        (
            "[round for round in (1, 2)] + [round(2.5)]",
            json!({}),
            json!([1, 2, 2]),
        ),
        (
            "def f(log):\n    return log\nf(3) + log10(100)",
            json!({}),
            json!(5.0),
        ),
        ("from math import asinh as f\nf(0)", json!({}), json!(0.0)),
        (
            "import math as m\nm.factorial(3), m.pi > 3",
            json!({}),
            json!([6, true]),
        ),
        ("class", json!({"class": 1}), json!(null)),
    ] {
        if source == "class" {
            assert_eq!(value("args['class']", arguments), json!(1));
            continue;
        }
        assert_eq!(value(source, arguments), expected, "{source}");
    }
}

#[test]
fn arguments_of_every_kind_arrive_whole() {
    let arguments = json!({"v": [null, true, 1, -1, u64::MAX, i64::MIN, 0.1, 1e300, 5.0, "é\n", [], {}, {"a": [1]}], "unused": {"x": 1}});
    assert_eq!(value("v", arguments.clone()), arguments["v"]);
    assert_eq!(value("args", arguments.clone()), arguments);
    assert_eq!(value("v[4] + 1", arguments), json!("18446744073709551616"));
}

#[test]
fn sizes_are_limited() {
    for (source, message) in [
        (
            " ".repeat(70_000) + "1",
            "the source is longer than 65536 bytes",
        ),
        (
            "list(range(10 ** 6))".to_owned(),
            "the value is larger than 1048576 bytes",
        ),
        (
            "'a' * 2000000".to_owned(),
            "the value is larger than 1048576 bytes",
        ),
        (
            "a = []\nfor _ in range(100):\n    a = [a]\na".to_owned(),
            "the value is nested deeper than 64 levels",
        ),
        ("print('a' * 70000)".to_owned(), "MemoryError: "),
        (
            "1+".repeat(3000) + "1",
            "SyntaxError: Source is too deeply nested",
        ),
    ] {
        let found = evaluate(&source, json!({})).unwrap_err();
        assert!(found.message.starts_with(message), "{found}");
    }
}

#[test]
fn a_source_is_checked_without_being_run() {
    check("num1 * num2", &["num1", "num2"]).unwrap();
    check("while True: pass", &[]).unwrap();
    check("1 / 0", &[]).unwrap();
    let found = check("x = 1\ny = x +", &[]).unwrap_err();
    assert_eq!(
        (found.kind, found.line, found.column),
        (Kind::Syntax, Some(2), Some(8))
    );
    let found = check("try:\n    x = open('a')\nexcept OSError:\n    x = 1", &[]).unwrap_err();
    assert_eq!(
        (found.kind, found.line, found.column),
        (Kind::Unsupported, Some(2), Some(9))
    );
}

#[test]
fn a_question_and_its_answer_pass_as_bytes() {
    let mut evaluator = Evaluator::new();
    let mut ask = |source: &str, arguments: Value| {
        let question = question(source, &given(arguments), 1000);
        read(&answer(&mut evaluator, &question))
    };
    let asked = json!({"x": 1.635_828_711_189_039_7e43, "y": "é"});
    assert_eq!(ask("print(y)\nargs", asked.clone()).unwrap().value, asked);
    assert_eq!(ask("print(y)\n1", asked).unwrap().printed, "é\n");
    let found = ask("1\n1 / 0", json!({})).unwrap_err();
    assert_eq!(
        (found.kind, found.line, found.column),
        (Kind::Value, Some(2), Some(1))
    );
    assert_eq!(found.message, "ZeroDivisionError: division by zero");
    for source in ["[1] * 600000", "'\\n' * 600000"] {
        let found = ask(source, json!({})).unwrap_err();
        assert_eq!(
            found.message, "the value is larger than 1048576 bytes",
            "{source}"
        );
    }
    for broken in [
        &b""[..],
        b"\x00",
        b"\x01\x00\x00\x00\xff\xff\xff\xff",
        b"\x09\x00\x00\x00",
    ] {
        assert!(read(&answer(&mut evaluator, broken)).is_err());
        assert!(read(broken).is_err());
    }
}

#[test]
fn programs_are_kept_and_forgotten() {
    let mut evaluator = Evaluator::new();
    for round in 0..3 {
        for number in 0..400 {
            let source = format!("x + {number}");
            let arguments = given(json!({"x": round}));
            let evaluated = evaluator.evaluate(&source, &arguments, &Limits::default());
            assert_eq!(evaluated.unwrap().value, json!(round + number));
        }
        let long = format!("x{}", " ".repeat(60_000 + round));
        for name in ["x", "y"] {
            let arguments = given(json!({name: round}));
            let evaluated = evaluator.evaluate(&long, &arguments, &Limits::default());
            assert_eq!(evaluated.is_ok(), name == "x");
        }
    }
}
