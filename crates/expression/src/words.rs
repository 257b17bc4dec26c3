//! Which names mean something without being bound: modules, functions of `math`, what is mended and what is refused.

use crate::fault::impure;

/// Every name that we add begins with it, and none of the author's may.
pub(crate) const OURS: &str = "_tc_";

/// What may be imported; each is also there without an import.
pub(crate) const MODULES: [&str; 12] = [
    "base64",
    "binascii",
    "collections",
    "dataclasses",
    "datetime",
    "functools",
    "itertools",
    "json",
    "math",
    "re",
    "typing",
    "unicodedata",
];

/// Names of `math` that are there without it, as in asteval. `pow` is not: the built-in one keeps integers.
const MATH: &str = "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf \
    erfc exp exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose \
    isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm \
    pi prod radians remainder sin sinh sqrt tan tanh tau trunc";

/// Our own function in place of one of `math` that the evaluator lacks, or has with other digits or less range.
pub(crate) fn mended_math(name: &str, careful: bool) -> Option<&'static str> {
    match name {
        "acosh" => Some("_tc_acosh"),
        "asinh" => Some("_tc_asinh"),
        "atanh" => Some("_tc_atanh"),
        "comb" => Some("_tc_comb"),
        "dist" => Some("_tc_dist"),
        "factorial" => Some("_tc_factorial"),
        "fsum" => Some("_tc_fsum"),
        "gcd" => Some("_tc_gcd"),
        "hypot" => Some("_tc_hypot"),
        "lcm" => Some("_tc_lcm"),
        "perm" => Some("_tc_perm"),
        "prod" => Some("_tc_prod"),
        "ceil" if careful => Some("_tc_ceil"),
        "floor" if careful => Some("_tc_floor"),
        "isqrt" if careful => Some("_tc_isqrt"),
        "log" if careful => Some("_tc_log"),
        "log10" if careful => Some("_tc_log10"),
        "log2" if careful => Some("_tc_log2"),
        "trunc" if careful => Some("_tc_trunc"),
        _ => None,
    }
}

/// Names of `math` whose arguments must be made floats, because the evaluator takes no integer beyond 64 bits there.
const MATH_REAL: &str = "acos asin atan atan2 cbrt copysign cos cosh degrees erf erfc exp exp2 expm1 fabs fmod \
    frexp gamma isclose isfinite isinf isnan lgamma log1p modf nextafter pow \
    radians remainder sin sinh sqrt tan tanh ulp";

/// Methods that may be taken from the class itself: `sorted(names, key=str.lower)`.
const OF_STR: &str = "capitalize casefold count encode endswith expandtabs find format index isalnum isalpha \
    isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower \
    lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines \
    startswith strip swapcase title upper zfill";

/// Whether `str` has a method of this name that we can call for it.
pub(crate) fn is_str_method(name: &str) -> bool {
    OF_STR.split(' ').any(|known| known == name)
}

/// Whether a name of `math` is there without it.
pub(crate) fn is_math(name: &str) -> bool {
    MATH.split(' ').any(|known| known == name)
}

/// Whether a function of `math` gets its arguments as floats from us.
pub(crate) fn wants_floats(name: &str) -> bool {
    MATH_REAL.split(' ').any(|known| known == name)
}

/// Classes of `datetime` that are there without it.
pub(crate) const DATES: [&str; 3] = ["date", "timedelta", "timezone"];

/// Built-in functions that the evaluator lacks or computes differently from CPython.
pub(crate) fn mended_builtin(name: &str, careful: bool) -> Option<&'static str> {
    match name {
        "round" => Some("_tc_round"),
        "pow" => Some("_tc_pow"),
        "divmod" => Some("_tc_divmod"),
        "format" => Some("_tc_format"),
        "sum" if careful => Some("_tc_sum"),
        _ => None,
    }
}

/// Whether a name is one of `mended_builtin`'s in any program.
pub(crate) fn is_mended(name: &str) -> bool {
    mended_builtin(name, true).is_some()
}

/// Methods that the evaluator lacks or computes differently from CPython.
pub(crate) fn mended_method(name: &str) -> Option<&'static str> {
    match name {
        "center" => Some("_tc_center"),
        "is_integer" => Some("_tc_is_integer"),
        "bit_length" => Some("_tc_bit_length"),
        _ => None,
    }
}

/// Why a name that other evaluators or Python know is not there.
pub(crate) fn refused(name: &str) -> Option<String> {
    match name {
        "rand" | "randint" | "randrange" | "uniform" => {
            Some(impure(&format!("{name}()"), "a random number"))
        }
        "random" | "secrets" | "uuid" => {
            Some(impure(&format!("the module '{name}'"), "a random number"))
        }
        "now" | "today" | "utcnow" => Some(impure(&format!("{name}()"), "the time")),
        "time" => Some(impure("the module 'time'", "the time")),
        "id" | "hash" => Some(format!(
            "{name}() is not available: it differs from one process to the next"
        )),
        "open" | "input" | "breakpoint" | "exit" | "quit" | "help" => Some(format!(
            "{name}() is not available: an expression reaches nothing outside itself"
        )),
        "getattr" | "hasattr" | "setattr" | "delattr" => Some(format!(
            "{name}() is not available: write the attribute itself"
        )),
        "eval" | "exec" | "compile" | "__import__" | "globals" | "locals" | "vars" | "dir" => Some(
            format!("{name}() is not available: an expression runs only what its author wrote"),
        ),
        _ => None,
    }
}

/// Why a module cannot be imported.
pub(crate) fn refused_module(name: &str) -> Option<String> {
    if MODULES.contains(&name) {
        return None;
    }
    Some(
        refused(name)
            .filter(|_| !matches!(name, "now" | "open"))
            .unwrap_or_else(|| {
                format!(
                    "ModuleNotFoundError: No module named '{name}' here; there are {}",
                    MODULES.join(", ")
                )
            }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_agree() {
        assert!(
            MATH_REAL
                .split(' ')
                .all(|name| matches!(name, "pow" | "ulp") || is_math(name))
        );
        assert!(MODULES.iter().all(|name| refused_module(name).is_none()));
        let refused = refused_module("os").unwrap();
        assert!(refused.contains("No module named 'os' here; there are base64,"));
    }
}
