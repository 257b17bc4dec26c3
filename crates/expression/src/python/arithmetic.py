# Arithmetic as CPython does it, in the Python that the evaluator runs. Each block is put before an author's source if
# that source (or another block) names it. `_tc_b_x` is the built-in x, whatever the author calls his variables;
# `_tc_m_x` is math's x, imported where it is used: an import costs more than most expressions. `_tc_grown` is the only block that differs between the two ways to run a program.

def _tc_div(a, b):
    if _tc_b_isinstance(a, _tc_b_int) and _tc_b_isinstance(b, _tc_b_int):
        if b and not (a | b) >> 53:
            return a / b
        return _tc_ratio(a, b)
    if _tc_number(a) or _tc_number(b):
        return _tc_plain(a, b) / _tc_plain(b, a)
    if _tc_b_type(a).__name__ == 'timedelta' and _tc_b_type(b).__name__ == 'timedelta':
        return _tc_ratio(_tc_microseconds(a), _tc_microseconds(b))
    return a / b

def _tc_ratio(a, b):
    if not b:
        raise ZeroDivisionError('division by zero')
    sign = -1.0 if (a < 0) != (b < 0) else 1.0
    a = -a if a < 0 else +a
    b = -b if b < 0 else +b
    if not (a | b) >> 53:
        return sign * (a / b)
    apart = (_tc_b_len(_tc_b_bin(a)) if a else 0) - _tc_b_len(_tc_b_bin(b))
    if not a or apart < -1080:
        return sign * 0.0
    if apart > 1026:
        raise OverflowError('integer division result too large for a float')
    shift = (apart if apart > -1021 else -1021) - 55
    if shift <= 0:
        a = a << -shift
    else:
        b = b << shift
    quotient = a // b
    if quotient * b != a:
        quotient = quotient | 1
    bits = _tc_b_len(_tc_b_bin(quotient)) - 2
    kept = bits if bits > -1021 - shift else -1021 - shift
    half = 1 << (kept - 54)
    if quotient & half and quotient & (3 * half - 1):
        quotient = quotient + half
    quotient = quotient - quotient % (2 * half)
    if shift + _tc_b_len(_tc_b_bin(quotient)) - 2 > 1024:
        raise OverflowError('integer division result too large for a float')
    return sign * _tc_m_ldexp(_tc_b_float(quotient), shift)

def _tc_plain(a, b):
    if _tc_b_isinstance(a, _tc_b_int):
        if _tc_b_isinstance(b, _tc_b_float):
            return _tc_float(a)
        return +a
    return a

def _tc_float(a=0.0):
    if _tc_b_isinstance(a, _tc_b_int) and not -9223372036854775808 <= a <= 9223372036854775807:
        number = a * 1.0
        if number - number != 0.0:
            raise OverflowError('int too large to convert to float')
        return number
    return _tc_b_float(a)

def _tc_number(a):
    return _tc_b_isinstance(a, _tc_b_int) or _tc_b_isinstance(a, _tc_b_float)

def _tc_floordiv(a, b):
    if _tc_b_isinstance(a, _tc_b_int) and _tc_b_isinstance(b, _tc_b_int):
        return a // +b
    if _tc_number(a) and _tc_number(b):
        if b == 0:
            raise ZeroDivisionError('float floor division by zero')
        return _tc_float_divmod(_tc_float(a), _tc_float(b))[0]
    if _tc_b_type(a).__name__ == 'timedelta' and _tc_b_type(b).__name__ == 'timedelta':
        return _tc_microseconds(a) // _tc_microseconds(b)
    return a // b

def _tc_float_divmod(a, b):
    if a - a != 0.0 or b != b:
        return (a - a) * (b - b), (a - a) * (b - b)
    rest = a % b if (a < 0.0) == (b < 0.0) else _tc_fmod(a, b)
    quotient = (a - rest) / b
    if rest:
        if (b < 0.0) != (rest < 0.0):
            rest = rest + b
            quotient = quotient - 1.0
    else:
        rest = 0.0 if b > 0.0 else -0.0
    if not quotient:
        return a / b * 0.0, rest
    if -4503599627370496.0 < quotient < 4503599627370496.0:
        whole = quotient // 1.0
        if quotient - whole > 0.5:
            whole = whole + 1.0
        return whole, rest
    return quotient, rest

def _tc_fmod(a, b):
    return _tc_m_fmod(a, b)

def _tc_mod(a, b):
    if _tc_b_isinstance(a, _tc_b_str):
        return _tc_percent(a, b)
    if _tc_number(a) and _tc_number(b):
        if _tc_b_isinstance(a, _tc_b_int) and _tc_b_isinstance(b, _tc_b_int):
            return +a % +b
        return _tc_float(a) % _tc_float(b)
    return a % b

def _tc_divmod(a, b):
    if _tc_number(a) and _tc_number(b):
        if _tc_b_isinstance(a, _tc_b_int) and _tc_b_isinstance(b, _tc_b_int):
            return _tc_b_divmod(+a, +b)
        if b == 0:
            raise ZeroDivisionError('float divmod()')
        return _tc_float_divmod(_tc_float(a), _tc_float(b))
    return _tc_b_divmod(a, b)

def _tc_power(a, b):
    if _tc_b_isinstance(a, _tc_b_int) and _tc_b_isinstance(b, _tc_b_int):
        if b >= 0:
            if b > 50 or not -65536 < a < 65536:
                return _tc_large_power(+a, +b)
            return (+a) ** (+b)
    elif not (_tc_number(a) and _tc_number(b)):
        return a ** b
    a = _tc_float(a)
    b = _tc_float(b)
    number = a ** b
    if number - number != 0.0 and a - a == 0.0 and b - b == 0.0:
        if number == number:
            raise OverflowError("(34, 'Numerical result out of range')")
        raise ValueError('a negative number to a fractional power is a complex number, which is not supported here')
    return number

def _tc_large_power(a, b):
    if b > 1 and not -2 < a < 2 and (_tc_b_len(_tc_b_hex(a)) - 2) * 4 * b > 1048576:
        raise OverflowError('the result would be an integer of more than 1048576 bits, which is the limit here')
    return _tc_grown(a ** b)

def _tc_pow(base, exp, mod=None):
    if mod is None:
        return _tc_power(base, exp)
    for number in (base, exp, mod):
        if not _tc_b_isinstance(number, _tc_b_int):
            raise TypeError('pow() 3rd argument not allowed unless all arguments are integers')
        if _tc_b_len(_tc_b_hex(number)) > 1026:
            raise OverflowError('pow() with three arguments takes integers of at most 4096 bits here')
    return _tc_b_pow(+base, +exp, +mod)

def _tc_shift(a, b):
    if _tc_b_isinstance(a, _tc_b_int) and _tc_b_isinstance(b, _tc_b_int):
        if a and b > 1048576:
            raise OverflowError('the result would be an integer of more than 1048576 bits, which is the limit here')
        return _tc_grown(+a << +b)
    return a << b

def _tc_rshift(a, b):
    if _tc_b_isinstance(a, _tc_b_int) and _tc_b_isinstance(b, _tc_b_int) and b > 4611686018427387904:
        return -1 if a < 0 else 0
    return a >> b

def _tc_round(number, ndigits=None):
    if ndigits is None:
        return +number if _tc_b_isinstance(number, _tc_b_int) else _tc_b_round(number)
    if not _tc_b_isinstance(ndigits, _tc_b_int):
        return _tc_b_round(number, ndigits)
    if _tc_b_isinstance(number, _tc_b_float):
        if number - number != 0.0 or ndigits > 323:
            return number
        if ndigits >= 0:
            return _tc_b_float(f'{number:.{+ndigits}f}')
        if ndigits < -308:
            return 0.0 * number
        return _tc_round_tens(number, -ndigits)
    if _tc_b_isinstance(number, _tc_b_int):
        if ndigits >= 0:
            return +number
        size = -number if number < 0 else +number
        if -ndigits > _tc_b_len(_tc_b_hex(size)) * 2:
            return 0
        size = _tc_round_down(size, 10 ** -ndigits, False)
        return -size if number < 0 else size
    return _tc_b_round(number, ndigits)

def _tc_round_tens(number, tens):
    whole = _tc_b_int(number)
    size = -whole if whole < 0 else whole
    return _tc_m_copysign(_tc_float(_tc_round_down(size, 10 ** tens, number != whole)), number)

def _tc_round_down(size, unit, more):
    times, rest = _tc_b_divmod(size, unit)
    if 2 * rest > unit or (2 * rest == unit and (more or times & 1)):
        times = times + 1
    return times * unit

def _tc_add(a, b):
    if _tc_number(a) and _tc_number(b):
        return _tc_plain(a, b) + _tc_plain(b, a)
    return a + b

def _tc_iadd(a, b):
    if _tc_number(a) and _tc_number(b):
        return _tc_plain(a, b) + _tc_plain(b, a)
    a += b
    return a

def _tc_sub(a, b):
    if _tc_number(a) and _tc_number(b):
        return _tc_plain(a, b) - _tc_plain(b, a)
    return a - b

def _tc_isub(a, b):
    if _tc_number(a) and _tc_number(b):
        return _tc_plain(a, b) - _tc_plain(b, a)
    a -= b
    return a

def _tc_mul(a, b):
    if _tc_number(a) and _tc_number(b):
        if _tc_b_isinstance(a, _tc_b_int) and _tc_b_isinstance(b, _tc_b_int):
            if not (-4294967296 < a < 4294967296 and -4294967296 < b < 4294967296):
                if _tc_b_len(_tc_b_hex(a)) + _tc_b_len(_tc_b_hex(b)) > 262144:
                    raise OverflowError('the result would be an integer of more than 1048576 bits, which is the limit here')
        return _tc_plain(a, b) * _tc_plain(b, a)
    return a * b

def _tc_imul(a, b):
    if _tc_number(a) and _tc_number(b):
        return _tc_mul(a, b)
    a *= b
    return a

def _tc_set_item(items, key, change, value):
    items[key] = change(items[key], value)

def _tc_delete(items, key):
    items.pop(key)

def _tc_sum(iterable, start=0):
    if _tc_b_isinstance(start, _tc_b_str):
        return _tc_b_sum(iterable, start)
    total = start
    for item in iterable:
        total = _tc_add(total, item)
    return total

def _tc_is_integer(a):
    if _tc_b_isinstance(a, _tc_b_float):
        return a - a == 0.0 and a % 1.0 == 0.0
    if _tc_b_isinstance(a, _tc_b_int):
        return True
    return a.is_integer()

def _tc_bit_length(a):
    if _tc_b_isinstance(a, _tc_b_int):
        return _tc_b_len(_tc_b_bin(-a if a < 0 else +a)) - 2 if a else 0
    return a.bit_length()
