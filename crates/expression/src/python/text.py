# Text and durations; see arithmetic.py.

def _tc_microseconds(delta):
    return (delta.days * 86400 + delta.seconds) * 1000000 + delta.microseconds

def _tc_center(text, width, fill=' '):
    if not _tc_b_isinstance(text, _tc_b_str):
        if _tc_b_type(text).__name__ == 'bytes':
            raise TypeError('center() of bytes is not supported here')
        return text.center(width, fill)
    room = width - _tc_b_len(text)
    if room <= 0:
        return text.center(width, fill)
    before = room // 2 + (room & width & 1)
    return text.rjust(_tc_b_len(text) + before, fill).ljust(width, fill)

def _tc_timedelta(days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
    total = 0
    rest = 0.0
    for value, unit in ((microseconds, 1), (milliseconds, 1000), (seconds, 1000000), (minutes, 60000000), (hours, 3600000000), (days, 86400000000), (weeks, 604800000000)):
        if _tc_b_isinstance(value, _tc_b_float):
            fraction, whole = _tc_m_modf(value)
            total = total + _tc_b_int(whole) * unit
            fraction, whole = _tc_m_modf(fraction * unit)
            total = total + _tc_b_int(whole)
            rest = rest + fraction
        elif _tc_b_isinstance(value, _tc_b_int):
            total = total + value * unit
        else:
            raise TypeError(f'unsupported type for timedelta component: {_tc_b_type(value).__name__}')
    if rest:
        odd = total & 1
        total = total + _tc_b_round(rest + odd) - odd
    day, rest = _tc_b_divmod(total, 86400000000)
    second, rest = _tc_b_divmod(rest, 1000000)
    return _tc_d_timedelta(days=day, seconds=second, microseconds=rest)

def _tc_format(value, format_spec=''):
    return f'{value:{format_spec}}'

def _tc_percent(text, values):
    named = _tc_b_isinstance(values, _tc_b_dict)
    items = values if _tc_b_isinstance(values, _tc_b_tuple) else (values,)
    taken = 0
    pieces = []
    at = 0
    while True:
        mark = text.find('%', at)
        if mark < 0:
            pieces.append(text[at:])
            break
        pieces.append(text[at:mark])
        at = mark + 1
        key = None
        if text[at:at + 1] == '(':
            end = text.find(')', at)
            if end < 0:
                raise ValueError('incomplete format key')
            if not named:
                raise TypeError('format requires a mapping')
            key = text[at + 1:end]
            at = end + 1
        flags = ''
        while text[at:at + 1] and text[at] in '-+ 0#':
            flags = flags + text[at]
            at = at + 1
        sizes = []
        for part in (0, 1):
            size = None
            if part == 0 or text[at:at + 1] == '.':
                at = at + part
                if text[at:at + 1] == '*':
                    if taken >= _tc_b_len(items):
                        raise TypeError('not enough arguments for format string')
                    size = items[taken]
                    if not _tc_b_isinstance(size, _tc_b_int):
                        raise TypeError('* wants int')
                    taken = taken + 1
                    at = at + 1
                else:
                    digits = '0' * part
                    while text[at:at + 1] and text[at] in '0123456789':
                        digits = digits + text[at]
                        at = at + 1
                    size = _tc_b_int(digits) if digits else None
            sizes.append(size)
        while text[at:at + 1] and text[at] in 'hlL':
            at = at + 1
        letter = text[at:at + 1]
        at = at + 1
        if letter == '':
            raise ValueError('incomplete format')
        if letter == '%':
            pieces.append('%')
            continue
        if key is not None:
            value = values[key]
        elif taken < _tc_b_len(items):
            value = items[taken]
            taken = taken + 1
        else:
            raise TypeError('not enough arguments for format string')
        pieces.append(_tc_percent_one(letter, flags, sizes[0], sizes[1], value))
    if not named and taken < _tc_b_len(items):
        raise TypeError('not all arguments converted during string formatting')
    return ''.join(pieces)

def _tc_percent_one(letter, flags, width, precision, value):
    sign = ''
    if width is not None and width < 0:
        flags = flags + '-'
        width = -width
    if letter in 'sra':
        body = _tc_b_str(value) if letter == 's' else _tc_b_repr(value)
        if precision is not None:
            body = body[:precision]
    elif letter == 'c':
        body = value if _tc_b_isinstance(value, _tc_b_str) else _tc_b_chr(value)
        if _tc_b_len(body) != 1:
            raise TypeError('%c requires int or char')
    elif letter in 'diu':
        if not _tc_number(value):
            raise TypeError(f'%{letter} format: a real number is required, not {_tc_b_type(value).__name__}')
        value = _tc_b_int(value)
        sign = '-' if value < 0 else ''
        body = _tc_b_str(-value if value < 0 else value).rjust(precision or 0, '0')
    elif letter in 'xXo':
        if not _tc_b_isinstance(value, _tc_b_int):
            raise TypeError(f'%{letter} format: an integer is required, not {_tc_b_type(value).__name__}')
        sign = '-' if value < 0 else ''
        body = f'{-value if value < 0 else +value:{letter}}'.rjust(precision or 0, '0')
        if '#' in flags:
            sign = sign + '0' + letter
    elif letter in 'eEfFgG':
        if not _tc_number(value):
            raise TypeError(f'must be real number, not {_tc_b_type(value).__name__}')
        if '#' in flags:
            raise ValueError("the flag '#' is not supported here for floats")
        body = f'{_tc_float(value):.{6 if precision is None else precision}{letter}}'
        if body[0] == '-':
            sign = '-'
            body = body[1:]
    else:
        raise ValueError(f"unsupported format character '{letter}'")
    if letter in 'diueEfFgGxXo':
        if sign[:1] != '-':
            sign = ('+' if '+' in flags else ' ' if ' ' in flags else '') + sign
        if '0' in flags and '-' not in flags:
            body = body.rjust((width or 0) - _tc_b_len(sign), '0')
    body = sign + body
    return body.ljust(width or 0) if '-' in flags else body.rjust(width or 0)
