# Functions of math that the evaluator lacks or computes with other digits; see arithmetic.py.

def _tc_factorial(n):
    if not _tc_b_isinstance(n, _tc_b_int):
        raise TypeError(f"'{_tc_b_type(n).__name__}' object cannot be interpreted as an integer")
    n = +n
    if n < 0:
        raise ValueError('factorial() not defined for negative values')
    if n > 20000:
        raise OverflowError('factorial() takes at most 20000 here')
    number = 1
    for factor in _tc_b_range(2, n + 1):
        number = number * factor
    return number if n < 100 else _tc_grown(number)

def _tc_counts(name, n, k):
    for number in (n, k):
        if not _tc_b_isinstance(number, _tc_b_int):
            raise TypeError(f"'{_tc_b_type(number).__name__}' object cannot be interpreted as an integer")
    if n < 0:
        raise ValueError('n must be a non-negative integer')
    if k < 0:
        raise ValueError('k must be a non-negative integer')
    if k <= n and k > 20000:
        raise OverflowError(f'{name}() takes a k of at most 20000 here')

def _tc_comb(n, k):
    n = +n if _tc_b_isinstance(n, _tc_b_int) else n
    k = +k if _tc_b_isinstance(k, _tc_b_int) else k
    if _tc_b_isinstance(n, _tc_b_int) and _tc_b_isinstance(k, _tc_b_int) and 0 <= k <= n and n - k < k:
        k = n - k
    _tc_counts('comb', n, k)
    if k > n:
        return 0
    number = 1
    for i in _tc_b_range(k):
        number = number * (n - i) // (i + 1)
    return number if k < 15 and n < 1000000 else _tc_grown(number)

def _tc_perm(n, k=None):
    if k is None:
        return _tc_factorial(n)
    _tc_counts('perm', n, k)
    if k > n:
        return 0
    number = 1
    for i in _tc_b_range(+k):
        number = number * (n - i)
    return number if k < 15 and n < 1000000 else _tc_grown(number)

def _tc_gcd(*integers):
    number = 0
    for other in integers:
        if not _tc_b_isinstance(other, _tc_b_int):
            raise TypeError(f"'{_tc_b_type(other).__name__}' object cannot be interpreted as an integer")
        other = -other if other < 0 else +other
        while other:
            number, other = other, number % other
    return number

def _tc_lcm(*integers):
    number = 1
    for other in integers:
        common = _tc_gcd(number, other)
        number = number // common * (-other if other < 0 else +other) if common else 0
    return number

def _tc_prod(iterable, *, start=1):
    number = start
    for factor in iterable:
        number = _tc_mul(number, factor)
    return number

def _tc_fsum(seq):
    partials = []
    for x in seq:
        x = _tc_real(x)
        if x - x != 0.0:
            raise ValueError('fsum() takes finite numbers here')
        kept = []
        for y in partials:
            if (x if x >= 0.0 else -x) < (y if y >= 0.0 else -y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low:
                kept.append(low)
            x = high
        if x - x != 0.0:
            raise OverflowError('intermediate overflow in fsum')
        kept.append(x)
        partials = kept
    if not partials:
        return 0.0
    total = partials.pop()
    low = 0.0
    while partials:
        x = total
        y = partials.pop()
        total = x + y
        low = y - (total - x)
        if low:
            break
    if partials and ((low < 0.0 and partials[-1] < 0.0) or (low > 0.0 and partials[-1] > 0.0)):
        y = low * 2.0
        x = total + y
        if y == x - total:
            total = x
    return total

def _tc_fit(x):
    return _tc_float(x) if _tc_b_isinstance(x, _tc_b_int) else x

def _tc_floor(x):
    return +x if _tc_b_isinstance(x, _tc_b_int) else _tc_m_floor(x)

def _tc_ceil(x):
    return +x if _tc_b_isinstance(x, _tc_b_int) else _tc_m_ceil(x)

def _tc_trunc(x):
    return +x if _tc_b_isinstance(x, _tc_b_int) else _tc_m_trunc(x)

def _tc_isqrt(n):
    if not _tc_b_isinstance(n, _tc_b_int) or n < 9223372036854775807:
        return _tc_m_isqrt(n)
    root = 1 << (_tc_b_len(_tc_b_bin(n)) - 1) // 2
    while True:
        other = (root + n // root) // 2
        if other >= root:
            return root
        root = other

def _tc_real(x):
    if _tc_number(x):
        return _tc_float(x)
    raise TypeError(f'must be real number, not {_tc_b_type(x).__name__}')

def _tc_hypot(*coordinates):
    sizes = [_tc_m_fabs(_tc_real(x)) for x in coordinates]
    largest = 0.0
    odd = False
    for x in sizes:
        if x == _tc_m_inf:
            return x
        if x != x:
            odd = True
        elif x > largest:
            largest = x
    if odd:
        return _tc_m_nan
    if largest == 0.0 or _tc_b_len(sizes) < 2:
        return largest
    exponent = _tc_m_frexp(largest)[1]
    if exponent < -1023:
        unit = 2.2250738585072014e-308
        return unit * _tc_hypot(*[x / unit for x in sizes])
    scale = _tc_m_ldexp(1.0, -exponent)
    total = 1.0
    rest = 0.0
    lost = 0.0
    least = 0.0
    for x in sizes:
        x = x * scale
        high = x * 134217729.0
        high = high - (high - x)
        low = x - high
        y = high * high
        before = total
        total = total + y
        rest = rest + ((before - total) + y)
        y = 2.0 * high * low
        before = total
        total = total + y
        lost = lost + ((before - total) + y)
        least = least + low * low
    root = _tc_m_sqrt(total - 1.0 + (rest + lost + least))
    high = root * 134217729.0
    high = high - (high - root)
    low = root - high
    y = -high * high
    before = total
    total = total + y
    rest = rest + ((before - total) + y)
    y = -2.0 * high * low
    before = total
    total = total + y
    lost = lost + ((before - total) + y)
    y = -low * low
    before = total
    total = total + y
    least = least + ((before - total) + y)
    rest = total - 1.0 + (rest + lost + least)
    return (root + rest / (2.0 * root)) / scale

def _tc_dist(p, q):
    p = _tc_b_tuple(p)
    q = _tc_b_tuple(q)
    if _tc_b_len(p) != _tc_b_len(q):
        raise ValueError('both points must have the same number of dimensions')
    return _tc_hypot(*[_tc_real(a) - _tc_real(b) for a, b in _tc_b_zip(p, q)])

def _tc_asinh(x):
    x = _tc_real(x)
    size = _tc_m_fabs(x)
    if x - x != 0.0 or size < 3.7252902984619140625e-09:
        return x
    if size > 268435456.0:
        number = _tc_m_log(size) + 0.6931471805599453
    elif size > 2.0:
        number = _tc_m_log(2.0 * size + 1.0 / (_tc_m_sqrt(size * size + 1.0) + size))
    else:
        square = size * size
        number = _tc_m_log1p(size + square / (1.0 + _tc_m_sqrt(1.0 + square)))
    return _tc_m_copysign(number, x)

def _tc_acosh(x):
    x = _tc_real(x)
    if x < 1.0:
        raise ValueError('math domain error')
    if x - x != 0.0:
        return x
    if x >= 268435456.0:
        return _tc_m_log(x) + 0.6931471805599453
    if x > 2.0:
        return _tc_m_log(2.0 * x - 1.0 / (x + _tc_m_sqrt(x * x - 1.0)))
    x = x - 1.0
    return _tc_m_log1p(x + _tc_m_sqrt(2.0 * x + x * x))

def _tc_atanh(x):
    x = _tc_real(x)
    size = _tc_m_fabs(x)
    if size >= 1.0:
        raise ValueError('math domain error')
    if not size >= 3.7252902984619140625e-09:
        return x
    twice = size + size
    if size < 0.5:
        number = 0.5 * _tc_m_log1p(twice + twice * size / (1.0 - size))
    else:
        number = 0.5 * _tc_m_log1p(twice / (1.0 - size))
    return _tc_m_copysign(number, x)

def _tc_log(x, *base):
    number = _tc_any_log(_tc_m_log, x)
    return number / _tc_any_log(_tc_m_log, base[0]) if base else number

def _tc_log2(x):
    return _tc_any_log(_tc_m_log2, x)

def _tc_log10(x):
    return _tc_any_log(_tc_m_log10, x)

def _tc_any_log(log, x):
    if not _tc_b_isinstance(x, _tc_b_int) or x < 10 ** 300:
        return log(_tc_fit(x))
    bits = _tc_b_len(_tc_b_bin(x)) - 2
    part = _tc_ratio(x, 1 << bits)
    if part == 1.0:
        part = 0.5
        bits = bits + 1
    return log(part) + log(2.0) * bits
